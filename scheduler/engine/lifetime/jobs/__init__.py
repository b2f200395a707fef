"""Jobs, pods and pod groups: the Workloads and runs that they become."""
