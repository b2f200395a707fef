"""Every fault of an input at once, not the first of each document or file."""
