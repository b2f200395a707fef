"""Messages that events carry: planned changes, node failures, work kept or lost."""

from __future__ import annotations

from scheduler.model.sentence import Sentence, Words


class Planned(Words):
    """What a Change does to an object when its time has come, and says no more of."""

    PATCH = ("planned.patch", "Patch of {object}")
    DELETE = ("planned.delete", "Delete of {object}")
    CORDON = ("planned.cordon", "Cordon of {object}")
    UNCORDON = ("planned.uncordon", "Uncordon of {object}")
    DRAIN = ("planned.drain", "Drain of {object}")
    FAIL = ("planned.fail", "Fail of {object}")
    RECOVER = ("planned.recover", "Recover of {object}")


class Befallen(Words):
    """What befalls a node by the policy's failures, and what a run keeps of its work."""

    FAILED = ("befallen.failed", "the node failed; it is back in {long} s")
    FAILED_WITH = (
        "befallen.failedWith",
        "the node failed with {domain}; it is back in {long} s",
    )
    REPAIRED = ("befallen.repaired", "the node was repaired")
    DRAINED = ("befallen.drained", "the node was changed: drain")
    TAKEN_DOWN = ("befallen.takenDown", "the node was changed: fail")
    DELETED = ("befallen.deleted", "the node was deleted")
    PRESSED = (
        "befallen.pressed",
        "the node is low on {resource}: {available} are free, {threshold} are to be",
    )
    RELIEVED = (
        "befallen.relieved",
        "the node was not low on {resource} for five minutes",
    )
    LOW_USING = (
        "befallen.lowUsing",
        "The node was low on resource: {resource}. Threshold quantity: {threshold}, "
        "available: {available}. Container {container} was using {used}, request is "
        "{request}, has larger consumption of {resource}. ",
    )
    LOW = (
        "befallen.low",
        "The node was low on resource: {resource}. Threshold quantity: {threshold}, "
        "available: {available}. ",
    )
    KEPT = ("befallen.kept", "{long} s of work are kept by a checkpoint")
    LOST = ("befallen.lost", "{long} s of work are lost: no checkpoint keeps them")


#: What a Change does, as its event names it -> what is said of it.
PLANNED = {one.english.partition(" ")[0]: one for one in Planned}


def node_lost(change: str) -> Sentence:
    """Return why the pods of a node go that somebody drained or let fail."""
    words = Befallen.DRAINED if change == "drain" else Befallen.TAKEN_DOWN
    return words.said()
