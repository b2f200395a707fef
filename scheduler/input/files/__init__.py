"""Files as they are given, to named texts."""
