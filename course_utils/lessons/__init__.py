"""A folder for each lesson, with all that people write for it; what lessons share is in `shared/`, and `tasks.py` finds what is here."""
