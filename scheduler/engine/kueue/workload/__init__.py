"""A Workload as the scheduler sees it: read from a document, its conditions."""
