"""Where a pod could go, why it is not tried, and why no node comes for it, in words."""

from __future__ import annotations

from scheduler.model.sentence import Words


class Placing(Words, prefix="place"):
    """Where a pod is or could go, under either scheduler of pods."""

    PROBLEM = "No node is looked at: {problem}."
    NONE = "None of {n} node takes it.|None of {n} nodes takes it."
    REFUSED = ("place.reason", "{n} node: {reason}.|{n} nodes: {reason}.")
    BEST = (
        "{feasible} of {n} node would take it; the best is {best} with {total}.|"
        "{feasible} of {n} nodes would take it; the best is {best} with {total}."
    )
    UNSCHEDULABLE = (
        "It is not tried: it waits for a change of what its last attempt failed at."
    )
    BACKOFF = "It is not tried yet: it backs off after its last attempt."
    GATED = "Its scheduling gates hold it back: {gates}."
    ON = "It is on {node}."
    USED = "It is on {node}, which is {used} used: {parts}."
    USED_PART = ("place.used.part", "{share} of its {resource} with weight {weight}")
    CAME = "It came with its node: no scheduler bound it."
    OPTED_OUT = "It asks not to be preempted (allow-preemption: false): it goes after all others."
    RESERVED = "Node {node} is reserved for it."
    TAKES = "{feasible} of {n} node would take it now.|{feasible} of {n} nodes would take it now."
    MAX = "The max of {queue} is {max}: {used} used."
    LIMIT = "The limit of {whose} in {queue} is {most}."
    NODES_HAVE = "The nodes together have {max}: {used} used."
    PLAN = "Laws {laws}: {names} would go from {node}."
    NOBODY = ("place.plan.nobody", "Laws {laws}: nobody would be preempted.")
    NOBODY_AS = (
        "place.plan.why",
        "Laws {laws}: nobody would be preempted: {reason}.",
    )
    IN_FORCE = ("place.plan.inForce", "{laws} (in force)")
    DIFFER = "The two sets of laws differ here."


class Failed(Words, prefix="place.failed"):
    """A condition of an ask that does not hold; the names are those of the conditions."""

    APPLICATION = "Its application may not run: {detail}."
    QUEUE = ("place.failed.queueQuota", "Not enough queue quota: {detail}.")
    USER = ("place.failed.userQuota", "Not enough user quota: {detail}.")
    PREEMPTION = "Preemption is off: {detail}."
    MAY_PREEMPT = "It may not preempt: {detail}."
    DELAY = "It may not preempt yet: {detail}."
    FIRST = "It waits for its victims to go: {detail}."


class Looked(Words, prefix="place.check"):
    """What a condition of an ask looked at, with its numbers."""

    STATE = ("place.check.application", "it is {state}")
    FULL_FOR_USER = (
        "it is {state}, and {whose} has as many in {queue} as maxapplications ({most}) of "
        "its limit lets run"
    )
    FULL = "it is {state}, and {queue} has as many as its maxapplications ({most}) lets run"
    QUEUE = ("place.check.queueQuota", "{asked} asked, {left} headroom")
    USER = ("place.check.userQuota", "{asked} asked, {left} left to its user")
    AND = "{first}; {second}"
    NO_LIMIT = "no limit"
    UNLIMITED = "no limit on what it asks"
    PREEMPTION = "preemption of the partition"
    MAY_PREEMPT = "its class lets it preempt others"
    DELAY = "not before {ready} s, now it is {now} s"
    FIRST = "it has preempted nothing yet"


class Obstacle(Words, prefix="place.node"):
    """Why a node does not take an ask of YuniKorn now."""

    CORDONED = "cordoned"
    TOO_SMALL = "too small"
    RESERVED = "reserved for {names}"
    SHORT = "short of {names}"


class Growth(Words, prefix="place"):
    """Whether nodes come for a pod, and why not."""

    MAY = ("place.mayGrow", "{names} may grow for it at the autoscaler's next look.")
    NOT = ("place.noGrowth", "{kind} {name} does not grow for it: {reason}.")


class NotGrown(Words, prefix="place.growth"):
    """Why a NodeGroup or NodePool does not grow for a pod, in the autoscaler's words."""

    BACKOFF = "backoff after failed scale-up"
    FULL = "max node group size reached"
    NO_MATCH = "its nodes do not match the pod's selector, affinity or tolerations"
    TOO_SMALL = "the pod does not fit on an empty node"
    NO_TYPES = "no InstanceType here meets its requirements"
    NONE_HOLDS = "the pod fits on none of its instance types"
    LIMITS = "its limits are reached"
    MIN_VALUES = "what takes the pod has fewer values than minValues asks for"
    CLAIMS = "the pod waits for its claims, not for a node"
