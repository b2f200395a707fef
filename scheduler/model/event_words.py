"""Messages that events carry: planned changes, node failures, work kept or lost."""

from __future__ import annotations

from scheduler.model.sentence import Sentence, Words


class Planned(Words, prefix="planned"):
    """What a Change does to an object when its time has come, and says no more of."""

    PATCH = "Patch of {object}"
    DELETE = "Delete of {object}"
    CORDON = "Cordon of {object}"
    UNCORDON = "Uncordon of {object}"
    DRAIN = "Drain of {object}"
    FAIL = "Fail of {object}"
    RECOVER = "Recover of {object}"


class Befallen(Words, prefix="befallen"):
    """What befalls a node by the policy's failures, and what a run keeps of its work."""

    FAILED = "the node failed; it is back in {long} s"
    FAILED_WITH = "the node failed with {domain}; it is back in {long} s"
    REPAIRED = "the node was repaired"
    DRAINED = "the node was changed: drain"
    TAKEN_DOWN = "the node was changed: fail"
    DELETED = "the node was deleted"
    NO_NODE = "there is no node of the name that the pod states"
    PRESSED = (
        "the node is low on {resource}: {available} are free, {threshold} are to be"
    )
    RELIEVED = "the node was not low on {resource} for five minutes"
    LOW_USING = (
        "The node was low on resource: {resource}. Threshold quantity: {threshold}, "
        "available: {available}. Container {container} was using {used}, request is "
        "{request}, has larger consumption of {resource}. "
    )
    LOW = (
        "The node was low on resource: {resource}. Threshold quantity: {threshold}, "
        "available: {available}. "
    )
    KEPT = "{long} s of work are kept by a checkpoint"
    SUCCEEDED = "{long} s of work are kept: pods that succeeded have done it"
    LOST = "{long} s of work are lost: no checkpoint keeps them"


#: What a Change does, as its event names it -> what is said of it.
PLANNED = {one.english.partition(" ")[0]: one for one in Planned}


def node_lost(change: str) -> Sentence:
    """Return why the pods of a node go that somebody drained or let fail."""
    words = Befallen.DRAINED if change == "drain" else Befallen.TAKEN_DOWN
    return words.said()
