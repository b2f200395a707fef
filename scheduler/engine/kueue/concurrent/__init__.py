"""Concurrent admission: one variant of a Workload per flavor, the first that is admitted runs."""
