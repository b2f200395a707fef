"""What the controllers do between cycles: objects, conditions, evictions, status."""
