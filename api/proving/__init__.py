"""One script, two servers: a sandbox and a cluster, and what both show at each look.

Both are asked by the Kubernetes API. docs/proving.md has the format of a script.
"""
