"""The links of a chain of decisions from a unit that comes out otherwise to the change."""

from __future__ import annotations

from scheduler.model.sentence import Words


class ChainLink(Words, prefix="chain"):
    """One decision that only one of two runs makes."""

    CHANGE = "the change: {what}"
    STARTS = "{who} starts, and holds {what} at {place}"
    PREEMPTS = "{by} preempts {who} at {place}"
    STOPPED = "{who} loses its place at {place}: {why}"
    RESTARTS = "{who} loses a pod and begins its work again"
    FINISHES = "{who} ends, and gives back {what} at {place}"
    NOTHING = "nothing"


class LinkedBy(Words, prefix="chain.by"):
    """How a decision leads to the one that comes after it."""

    QUOTA = "it needs quota that another holds in one run alone"
    NODE = (
        "no common quota: it needs room on a node that another holds in one run alone"
    )
    ITSELF = "it went another way before"
    PODS = "its pod got its place at another time"
    CHANGED = "the change is of the unit, its queue, its cohort or its node"
    NODES = "the change is of a node among which it is placed"
    POLICY = "the change is of what decides for all"
    ORDER = "no common quota and no common node: another order within the same instant"
    DRAW = "no common quota and no common node: from then on the order, or what is drawn at random, is another"
