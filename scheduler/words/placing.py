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
    TAINTS = "Taints that it does not tolerate: {taints}."
    SELECTOR = "Its nodeSelector asks for {asked}; those nodes have {given}."
    AFFINITY = "Its node affinity asks for {asked}; those nodes have {given}."
    NO_LABEL = "no such label {key}"
    ALONE = "It may go to {names} alone."
    NO_RESOURCE = "No node has {resource}; nodes have {known}."
    NEVER = "It preempts nobody: preemptionPolicy of PriorityClass {name} is Never."
    NOBODY_LOWER = "It preempts nobody: no pod has a priority below its {priority}."
    NO_SCHEDULER = (
        "Its schedulerName is {given}, and no scheduler of this world has that name: those "
        "are {known}."
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
    PLAN = "By preemption {names} would go from {node}."
    NOBODY = ("place.plan.nobody", "Nobody would be preempted.")
    NOBODY_AS = ("place.plan.why", "Nobody would be preempted: {reason}.")
    OTHERWISE = "By the laws that are {laws}, and not in force: {plan}"


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


class Stays(Words, prefix="stays"):
    """The field that keeps an ask of YuniKorn from preempting who holds what it needs."""

    NO_GUARANTEE = (
        "Neither {queue} nor a queue above it has guaranteed resources, and only what is "
        "guaranteed preempts."
    )
    BEYOND = (
        "guaranteed of {queue} is {guaranteed}: {used} used, and {asked} more is beyond "
        "what it may preempt for."
    )
    FENCE = "preemption.policy of {queue} is fence: only pods below it may go."
    FULL = "{queue} would pass its max: only pods below it may go."
    DISABLED = "preemption.policy of {queue} is disabled: its pods stay."
    WITHIN = "{queue} uses {used} of its guaranteed {guaranteed}: its pods stay."
    PRIORITY = (
        "{n} pod of {queue} has a priority above {priority}: it stays.|"
        "{n} pods of {queue} have a priority above {priority}: they stay."
    )


class Rejected(Words, prefix="rejected"):
    """Why no queue of YuniKorn takes an application."""

    WHY = "YuniKorn rejected its application: {why}."
    RULE = "Placement rule {rule}: {why}."
    NO_PATH = "Placement rule {rule} gives no queue for it."
    NO_QUEUE = (
        "Placement rule {rule} leads to {queue}, which is not there, and does not make it "
        "(create: false)."
    )
    NO_LEAF = "Placement rule {rule} leads to {queue}, which has queues below it."
    STATE = "{queue} is {state}: it takes no new applications."
    MAY_NOT = (
        "User {user} may not submit to {queue}: no submitacl or adminacl of it and of the "
        "queues above it names the user."
    )
    LEAVES = "Queues that user {user} may submit to: {names}."


class Obstacle(Words, prefix="place.node"):
    """Why a node does not take an ask of YuniKorn now."""

    CORDONED = "cordoned"
    TOO_SMALL = "too small in {names}"
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
