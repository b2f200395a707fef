"""Devices as the documents of resource.k8s.io give them: claims, classes, slices."""
