"""Strategies that enrol themselves: queueing, preemption, fair sharing.

One file each; a new file here is a new choice, and nothing else changes.
"""
