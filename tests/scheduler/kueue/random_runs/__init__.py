"""Random clusters that are edited while they run, the same for the same seed."""
