"""Volumes: what is known of claims and volumes, and which of them belong together."""
