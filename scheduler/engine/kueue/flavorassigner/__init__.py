"""Which ResourceFlavors the pod sets of a Workload would get."""
