"""Real decisions held against what the engine decides from the state before them."""
