"""Placement: the queue that an application goes to, by rules and ACLs."""
