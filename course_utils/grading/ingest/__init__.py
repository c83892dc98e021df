"""Ingest: files and who handed them in, notebooks as text, the instructor's settings."""
