"""Gang scheduling: task groups, their placeholders, and who replaces them."""
