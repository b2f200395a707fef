"""Preemption: for guarantees, for required nodes, after a quota change."""
