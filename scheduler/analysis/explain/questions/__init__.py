"""What could be different, so that a waiting workload gets in."""
