"""Texts to objects: manifests, files, traces, arrivals."""
