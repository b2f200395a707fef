"""What a dump of a running cluster says of its own time, and of what runs in it."""
