"""All that people write for the lessons, a folder for each. What several lessons use is in `shared/`."""
