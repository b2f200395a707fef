"""What files of other programs and of running clusters are read as, in words."""

from __future__ import annotations

from scheduler.model.sentence import Words


class ReadAs(Words):
    """What is read as something else, and what counts where two differ."""

    GPUS = (
        "readAs.gpus",
        "GPUs of its annotations are asked for as {resource} of the node, not of one "
        "device: parts of several devices may serve a pod",
    )
    NO_INDEX = (
        "readAs.noIndex",
        "the device that {annotation} names is not kept: any of the node serves it",
    )
    QUEUES = ("readAs.queues", "takes the place of the queues.yaml before it")
    SETTING = ("readAs.setting", "{name} takes the place of the one before it")
    TIME = (
        "readAs.time",
        "read at {theirs}, but it is {ours} in this sandbox, and that is kept: ages, "
        "run times and backoffs count to it; a new sandbox goes on from the files' "
        "time",
    )
    RELEASE = (
        "readAs.release",
        "{title} {release} runs there, so its decisions are taken; give another release "
        "to take those",
    )
    NO_RELEASE = (
        "readAs.noRelease",
        "{title} {release} runs there, which is not known here: decisions are taken as "
        "{title} {name} takes them; known: {known}",
    )
    GATES = (
        "readAs.gates",
        "{title} {name} does not start with these featureGates; decisions are taken as "
        "{title} {release} takes them; give a release to take another's",
    )
    SCENARIO = (
        "readAs.scenario",
        "a Scenario begins a sandbox of its own; create one with it",
    )


class StackSign(Words):
    """Which scheduler files are for, and what asks when they are for several."""

    SIGN = ("stackSign.sign", "{what} is of {name}")
    PLACED = ("stackSign.placed", "{what} is of {name} ({place})")
    OPEN = (
        "stackSign.open",
        "the files are for more than one scheduler: {first}, and {second}; say which "
        "stack to run: {stacks}",
    )
    OTHER = (
        "stackSign.other",
        "{sign}, but this sandbox runs the stack {stack}, and that is kept; a new "
        "sandbox of these files runs the stack that they are for",
    )


class Instant(Words):
    """Whether the status of a ClusterQueue is of the instant of its Workloads."""

    STATUS = (
        "instant.status",
        "ClusterQueue {queue}: its status is not of the Workloads' instant: it counts "
        "{cells}; {when}",
    )
    CELL = (
        "instant.cell",
        "{theirs} {resource} of {flavor}, they hold {ours}",
    )
    CELLS = ("instant.cells", "{first}; {rest}")
    EMPTY = (
        "instant.empty",
        "no Workload of these files holds any of it, so the queue begins empty",
    )
    BEFORE = (
        "instant.before",
        "it was so before {time} (changes since: {count}); the Workloads count",
    )
    NONE = (
        "instant.none",
        "of no instant that they show (what was evicted shows none); the Workloads "
        "count",
    )
