"""Capacity in the loop: node groups that grow and shrink with what waits."""
