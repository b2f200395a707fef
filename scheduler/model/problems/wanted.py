"""What was expected of a value, in words: the end of "expected ..."."""

from __future__ import annotations

from scheduler.model.sentence import Stated


class Wanted(Stated):
    """What a value had to be."""

    NOMINAL = ("wanted.nominal", "no more than the nominal quota {most}")
    PODSET_MOST = ("wanted.podsetMost", "at most the podset's {most}")
    COUNT_MOST = ("wanted.countMost", "at most the count {most}")
    PARALLELISM = ("wanted.parallelism", "a count from 1 to the parallelism {most}")
    QUEUE_MOST = ("wanted.queueMost", "at most the queue's max {most}")
    QUEUE_OWN = ("wanted.queueOwn", "at most the queue's own {most}")
    PARENT_ALLOWS = (
        "wanted.parentAllows",
        "{least} to {most}, which its parent allows",
    )
    FURTHER = ("wanted.further", "maxapplications of {least} to {most}, as further up")
    QUEUES = ("wanted.queuesInIt", "queues")
    LIMITS = ("wanted.limits", "maxresources or maxapplications")
    PEOPLE = ("wanted.people", "a limit with users or groups")
    SOMEBODY = ("wanted.somebody", "the name of somebody else who signed in here")
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
    EVENT_TYPE = ("wanted.eventType", "type, and perhaps subject and reason")
    SANDBOXES = ("wanted.sandboxes", "the ids of {least} to {most} other sandboxes")
    RUN_NUMBERS = ("wanted.runNumbers", "{least} to {most} numbers of runs")
    OBJECTIVE = ("wanted.objective", "measure:low or measure:high")
    EXPORTED = ("wanted.exported", "a sandbox that was exported as a file")
    RECORDING = ("wanted.recording", "the files of a recording")
    MANIFEST_QUEUE = (
        "wanted.manifestQueue",
        "a manifest that names its queue (label {name}), or queues to try",
    )
    NOT_LATER = ("wanted.notLater", "no later than the token that asks, {moment}")
    POLICY_OR_OBJECT = ("wanted.policyOrObject", "either policy, or object with field")
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
    PODSET_COUNT = ("wanted.podsetCount", "{least} to {most}, the podset's count")
    UNDER = ("wanted.under", 'a text under "{name}"')
    PARTITION = ("wanted.partition", "the limits of the partition, or none")
    ONE_OF = ("wanted.oneOf", "one of {known}")
    OBJECT = ("wanted.object", "an object")
    OBJECT_OF_TEXTS = ("wanted.objectOfTexts", "an object of texts")
    NAMED_OBJECT = ("wanted.namedObject", "an object with a name")
    LIST = ("wanted.list", "a list")
    LIST_OF_TEXTS = ("wanted.listOfTexts", "a list of texts")
    TEXT = ("wanted.text", "a text")
    QUOTED = ("wanted.quoted", "a text (in quotes)")
    TEXTS = ("wanted.texts", "texts, none of them empty")
    LONG_LIST = ("wanted.longList", "a text or a list of up to {most}")
    FLAG = ("wanted.flag", "true or false")
    QUOTED_FLAG = ("wanted.quotedFlag", '"true" or "false"')
    AMOUNTS = ("wanted.amounts", 'amounts of resources such as "memory=3Gi,pid=200"')
    NUMBER = ("wanted.number", "a number")
    WHOLE = ("wanted.whole", "a whole number")
    NUMBERS = ("wanted.numbers", "numbers")
    NAME = ("wanted.name", "a name")
    NAME_NO_NUMBER = ("wanted.nameNoNumber", "a name that is not a number")
    NAMES = ("wanted.names", "names that differ")
    RESOURCE = ("wanted.resource", "the name of a resource")
    LABEL = ("wanted.label", "the name of a label")
    ADDRESS = ("wanted.address", "an address")
    QUANTITY = ("wanted.quantity", "a quantity")
    QUANTITY_LIKE = ("wanted.quantityLike", 'a quantity such as "500m", "2" or "4Gi"')
    DIGITS = ("wanted.digits", "whole digits such as {example}")
    DURATION = ("wanted.duration", "a duration such as {example}")
    LIKE = ("wanted.like", "a value such as {example}")
    TIME = ("wanted.time", "a time such as {example}")
    TIME_TEXT = ("wanted.timeText", "a time as a text")
    TIME_WITHIN = ("wanted.timeWithin", "a time from {least} to {most}")
    TIME_ZONE = ("wanted.timeZone", "a time zone such as {example}")
    ZONED_TIME = ("wanted.zonedTime", "a time with its zone")
    TIME_TO_COME = ("wanted.timeToCome", "a time to come")
    TIME_POSITIVE = ("wanted.timePositive", "a time of 0 or more")
    SCHEDULE = ("wanted.schedule", 'five fields such as "*/5 * * * *" or @daily')
    SHARE = ("wanted.share", 'a number or a percentage such as "50%"')
    PERCENTAGE = ("wanted.percentage", "5 or 10%")
    LENGTH = ("wanted.length", "one length")
    LENGTH_ABOVE = ("wanted.lengthAbove", "one length above {least}")
    MEAN = ("wanted.mean", "a mean above 0s or never")
    LENGTH_OR_MORE = ("wanted.lengthOrMore", "a length of {least} or more")
    ASCENDING = ("wanted.ascending", "lengths in ascending order")
    NO_NEGATIVE_QUANTITY = ("wanted.noNegativeQuantity", "no negative quantity")
    NO_NEGATIVE_AMOUNT = ("wanted.noNegativeAmount", "no negative amount")
    AT_LEAST_ONE = ("wanted.atLeastOne", "at least one")
    AT_LEAST_ONE_OF = ("wanted.atLeastOneOf", "at least one {kind}")
    AT_LEAST = ("wanted.atLeast", "at least {least}")
    AT_MOST_TICKS = ("wanted.atMostTicks", "at most {most} ticks a second here")
    AT_MOST = ("wanted.atMost", "at most {most}")
    AT_MOST_PODS = (
        "wanted.atMostPods",
        "at most {most} pods of one object (PODS_PER_OBJECT of a server)",
    )
    AT_MOST_PODS_OF = (
        "wanted.atMostPodsOf",
        "at most {most} pods of an object of {size} bytes, which each of them repeats "
        "(PODS_PER_OBJECT of a server)",
    )
    AT_MOST_OBJECTS = (
        "wanted.atMostObjects",
        "at most {most} objects of one import (OBJECTS_PER_IMPORT of a server)",
    )
    MORE_THAN = ("wanted.moreThan", "more than {least}")
    ABOVE_ZERO = ("wanted.aboveZero", "more than zero")
    CHARACTERS = ("wanted.characters", "{least} to {most} characters")
    COUNTED = ("wanted.counted", "{least} to {most} {kind}")
    RANGE = ("wanted.range", "{least} to {most}")
    OR_MORE = ("wanted.orMore", "{least} or more")
    ZERO_OR_ABOVE = ("wanted.zeroOrAbove", "0 or more than {least}")
    NUMBER_OR_MORE = ("wanted.numberOrMore", "a number of {least} or more")
    WHOLE_OR_MORE = ("wanted.wholeOrMore", "a whole number of {least} or more")
    COUNT_OR_MORE = ("wanted.countOrMore", "a count of {least} or more")
    WHOLE_LEAST = ("wanted.wholeLeast", "a whole number >= {least}")
    WHOLE_MOST = ("wanted.wholeMost", "a whole number <= {most}")
    NUMBER_LEAST = ("wanted.numberLeast", "a number >= {least}")
    NUMBER_MOST = ("wanted.numberMost", "a number <= {most}")
    TYPED_LEAST = ("wanted.typedLeast", "`{type}` >= {least}")
    TYPED_MOST = ("wanted.typedMost", "`{type}` <= {most}")
    TYPED = ("wanted.typed", "`{type}`")
    BITS_64 = ("wanted.bits64", "a number of 64 bits, {least} to {most}")
    BITS_32 = ("wanted.bits32", "a 32 bit number")
    ABOVE = ("wanted.above", "a {kind} above {least}")
    SPEED = ("wanted.speed", "0 (as fast as it goes) or {least} to {most}")
    KEPT = ("wanted.kept", "0 (as the operator keeps) to {most}")
    LATER_TICK = ("wanted.laterTick", "a tick after {tick}")
    LAST_TICK = ("wanted.lastTick", "a tick up to {tick}")
    PATH = ("wanted.path", "namespace/name")
    KEY = ("wanted.key", '"Kind/namespace/name" or "Kind/name"')
    EVENT = ("wanted.event", "REVISION.SEQ of an event")
    JSON_OBJECT = ("wanted.jsonObject", "a JSON object")
    ONE_DOCUMENT = ("wanted.oneDocument", "one document")
    ONE_DOCUMENT_OF = ("wanted.oneDocumentOf", "one document of kind {kind}")
    UTF8 = ("wanted.utf8", "UTF-8 text")
    PRINTABLE = ("wanted.printable", "up to {most} printable ASCII characters")
    EACH_ONCE = ("wanted.eachOnce", "each level once")
    BOTH_OF = ("wanted.bothOf", "both {first} and {last}")
    TOGETHER = ("wanted.together", "{first} and {last} together")
    EITHER_OF = ("wanted.eitherOf", "either {first} or {last}")
    NOT_IN_GROUP = ("wanted.notInGroup", "no {name} in a group")
    NOT_BESIDE = ("wanted.notBeside", "no {name} beside {other}")
    CHOICE = ("wanted.choice", "{first} or {last}")
    BOUNDED_MEASURE = ("wanted.boundedMeasure", "a measure with min, max or loses")
    UNIT_OF = ("wanted.unitOf", "a unit of {known}")
    SHARE_LIKE = ("wanted.shareLike", 'a share such as 0.8 or "80%"')
    ONE_LINE = (
        "wanted.oneLine",
        "text on one line, without control characters and invisible marks",
    )
    ONE_DOCUMENT_IN = ("wanted.oneDocumentIn", "one document in {name}")
    LITERAL = ("wanted.literal", "{literal}")
