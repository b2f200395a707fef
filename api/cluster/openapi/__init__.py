"""OpenAPI of a sandbox as a cluster, for kubectl's validation, `explain` and `diff`."""
