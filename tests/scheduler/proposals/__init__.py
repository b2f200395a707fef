"""Policies that no release has: the interface, and the examples of the documents."""
