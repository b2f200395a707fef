"""What repairs a finding of an import, in words."""

from __future__ import annotations

from scheduler.model.sentence import Words


class Repairing(Words):
    """A document to add, or a text to put in place of another."""

    ADD = ("repair.add", "Add {kind} {name}")
    ADD_QUEUE = (
        "repair.addQueue",
        "Add LocalQueue {name} in namespace {namespace} for ClusterQueue {queue}",
    )
    ADD_CLASS = ("repair.addClass", "Add {kind} {name} with value 0")
    REPLACE = ("repair.replace", "Write {new} instead of {old}")
