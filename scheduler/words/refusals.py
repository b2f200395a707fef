"""Why a move cannot be done, in words."""

from __future__ import annotations

from scheduler.model.sentence import Words


class MoveRefused(Words):
    """Why an object cannot be moved where it was dropped."""

    OWN_PARENT = ("moveRefused.ownParent", "{key} cannot be its own parent")
    KINDS = ("moveRefused.kinds", "a {kind} cannot be moved to a {target}")
    CLUSTERS = ("moveRefused.clusters", "{key} and {target} are of different clusters")
    THERE = ("moveRefused.there", "{workload} is in LocalQueue {queue} already")
    LEADS_NOWHERE = (
        "moveRefused.leadsNowhere",
        "LocalQueue {queue} leads to no ClusterQueue",
    )
    SELECTOR = (
        "moveRefused.selector",
        "namespace {namespace} does not match the selector of {queue}",
    )
    FINISHED = ("moveRefused.finished", "{workload} is finished")
    NAMESPACE = (
        "moveRefused.namespace",
        "LocalQueue {queue} is in another namespace than {namespace}",
    )
    NO_LOCAL_QUEUE = ("moveRefused.noLocalQueue", "LocalQueue {queue} does not exist")
    NOT_LED = (
        "moveRefused.notLed",
        "namespace {namespace} has no LocalQueue that leads to {target}",
    )
