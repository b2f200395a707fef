"""A real cluster shown in a world: what is seen is put there as it is, and decides nothing."""
