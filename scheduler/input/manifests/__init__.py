"""Text to records and back; errors name file, line and field."""
