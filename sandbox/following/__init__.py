"""A running cluster, read: its lists and watches, and the file they are kept in."""
