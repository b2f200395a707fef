"""What is admitted: the cluster, candidates for preemption, quota in use."""
