"""The links of a chain of decisions from a unit that comes out otherwise to the change."""

from __future__ import annotations

from scheduler.model.sentence import Words


class ChainLink(Words):
    """One decision that only one of two runs makes."""

    CHANGE = ("chain.change", "the change: {what}")
    STARTS = ("chain.starts", "{who} starts, and holds {what} at {place}")
    PREEMPTS = ("chain.preempts", "{by} preempts {who} at {place}")
    STOPPED = ("chain.stopped", "{who} loses its place at {place}: {why}")
    RESTARTS = ("chain.restarts", "{who} loses a pod and begins its work again")
    FINISHES = ("chain.finishes", "{who} ends, and gives back {what} at {place}")
    NOTHING = ("chain.nothing", "nothing")


class LinkedBy(Words):
    """How a decision leads to the one that comes after it."""

    QUOTA = ("chain.by.quota", "it needs quota that another holds in one run alone")
    NODE = (
        "chain.by.node",
        "no common quota: it needs room on a node that another holds in one run alone",
    )
    ITSELF = ("chain.by.itself", "it went another way before")
    PODS = ("chain.by.pods", "its pod got its place at another time")
    CHANGED = (
        "chain.by.changed",
        "the change is of the unit, its queue, its cohort or its node",
    )
    NODES = ("chain.by.nodes", "the change is of a node among which it is placed")
    POLICY = ("chain.by.policy", "the change is of what decides for all")
    ORDER = (
        "chain.by.order",
        "no common quota and no common node: another order within the same instant",
    )
    DRAW = (
        "chain.by.draw",
        "no common quota and no common node: from then on the order, or what is drawn at random, is another",
    )
