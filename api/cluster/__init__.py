"""The paths of a Kubernetes cluster below every sandbox, for kubectl and its like.

A sandbox answers at `/api/v1/sandboxes/{id}` as an API server answers at its root:
discovery, objects, tables, watches, Kueue's visibility API and YuniKorn's REST.
"""
