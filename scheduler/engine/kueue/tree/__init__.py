"""The quota tree: ClusterQueues and Cohorts as nodes, quota, usage and shares."""
