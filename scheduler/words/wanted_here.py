"""What was expected in one place alone, in words: the end of "expected ..."."""

from __future__ import annotations

from scheduler.model.sentence import Words


class WantedHere(Words):
    """What the value of one field had to be, or what a request had to give."""

    NOMINAL = ("wanted.nominal", "no more than the nominal quota {most}")
    PODSET_MOST = ("wanted.podsetMost", "at most the podset's {most}")
    COUNT_MOST = ("wanted.countMost", "at most the count {most}")
    PARALLELISM = (
        "wanted.parallelism",
        "a count from 1 to the parallelism {most}",
    )
    QUEUE_MOST = ("wanted.queueMost", "at most the queue's max {most}")
    QUEUE_OWN = ("wanted.queueOwn", "at most the queue's own {most}")
    PARENT_ALLOWS = (
        "wanted.parentAllows",
        "{least} to {most}, which its parent allows",
    )
    FURTHER = (
        "wanted.further",
        "maxapplications of {least} to {most}, as further up",
    )
    QUEUES = ("wanted.queuesInIt", "queues")
    LIMITS = ("wanted.limits", "maxresources or maxapplications")
    PEOPLE = ("wanted.people", "a limit with users or groups")
    SOMEBODY = (
        "wanted.somebody",
        "the name of somebody else who signed in here",
    )
    BINDING = ("wanted.binding", "a bind plugin")
    SORTING = ("wanted.sorting", "exactly one queueSort plugin")
    ONE_BINDER = ("wanted.oneBinder", "at most one with a bindVerb")
    WEIGHT = ("wanted.weight", "a weight of {least} to {most} for {name}")
    NODE_SIZE = ("wanted.nodeSize", "what a node has")
    NODE_OFFER = ("wanted.nodeOffer", "what a node offers")
    NODE_COPIED = (
        "wanted.nodeCopied",
        "allocatable, or like: the name of a node to copy",
    )
    EVENT_TYPE = (
        "wanted.eventType",
        "type, and perhaps subject and reason",
    )
    SANDBOXES = (
        "wanted.sandboxes",
        "the ids of {least} to {most} other sandboxes",
    )
    RUN_NUMBERS = ("wanted.runNumbers", "{least} to {most} numbers of runs")
    OBJECTIVE = ("wanted.objective", "measure:low or measure:high")
    EXPORTED = ("wanted.exported", "a sandbox that was exported as a file")
    RECORDING = ("wanted.recording", "the files of a recording")
    MANIFEST_QUEUE = (
        "wanted.manifestQueue",
        "a manifest that names its queue (label {name}), or queues to try",
    )
    NOT_LATER = (
        "wanted.notLater",
        "no later than the token that asks, {moment}",
    )
    POLICY_OR_OBJECT = (
        "wanted.policyOrObject",
        "either policy, or object with field",
    )
    AXIS_TARGET = (
        "wanted.axisTarget",
        'policy, object with field, or the name "arrivals"',
    )
    CHOICES_OR_VALUES = ("wanted.choicesOrValues", "choices or values")
    LOW_TO_HIGH = (
        "wanted.lowToHigh",
        "a range from low to high, above 0 on a log scale",
    )
    TO_CHANGE = ("wanted.toChange", "what may change")
    MORE_THAN_ONE = (
        "wanted.moreThanOne",
        "something with more than one value",
    )
    AXES_OR_CHANGE = ("wanted.axesOrChange", "either axes with samples, or change")
    FILES_OR_CLUSTER = ("wanted.filesOrCluster", "files or a cluster")
    RUNS = ("wanted.runs", "{least} (seeds) to {most} runs")
    SEEDS = ("wanted.seeds", "seeds from 0 to 2^63 - 1")
    LOW_HIGH = ("wanted.lowHigh", "0 <= low <= high")
    ALONE = ("wanted.alone", "{only} alone")
    NO_BODY = ("wanted.noBody", "no body")
    CONFIGURATION = ("wanted.configuration", "a configuration")
    PATTERNS = ("wanted.patterns", "lists of patterns by number")
    FUTURE = ("wanted.future", "at least 1 future")
    POD = ("wanted.pod", "a Pod")
    WORKLOAD = ("wanted.workload", "a Workload")
    PREEMPTION = ("wanted.preemption", "a preemption by somebody")
    QUANTITIES = ("wanted.quantities", "a JSON map of quantities above zero")
    CHECK_OF = ("wanted.checkOf", "a check of this Workload ({known})")
    GATE_OF = ("wanted.gateOf", "a gate of this Workload ({known})")
    FAILURE_DOMAIN = (
        "wanted.failureDomain",
        "the label whose values are the domains of domainMeanTimeBetween",
    )
    NODE = ("wanted.node", "a Node")
    CLUSTER = (
        "wanted.cluster",
        "the name of a MultiKueueCluster (lower-case letters, digits, - and .)",
    )
    NAMED_QUEUES = ("wanted.namedQueues", "an object with name and queues")
    NAMED_QUEUE = ("wanted.namedQueue", "a queue with a name")
    RULE = ("wanted.rule", "a rule named one of {known}")
    PODSET_COUNT = (
        "wanted.podsetCount",
        "{least} to {most}, the podset's count",
    )
    UNDER = ("wanted.under", 'a text under "{name}"')
    PARTITION = ("wanted.partition", "the limits of the partition, or none")
