"""Preemption: dry runs on copies of nodes."""
