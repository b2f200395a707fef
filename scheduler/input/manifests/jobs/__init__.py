"""Job kinds: how each becomes a Workload; one file each, enrolling itself."""
