"""The two sets of preemption laws, one file each; every file registers itself."""
