"""Topology in explanations: the search level by level, and what is tried instead."""
