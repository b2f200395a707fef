"""What files of other programs and of running clusters are read as, in words."""

from __future__ import annotations

from scheduler.model.sentence import Words


class ReadAs(Words, prefix="readAs"):
    """What is read as something else, and what counts where two differ."""

    GPUS = (
        "GPUs of its annotations are asked for as {resource} of the node, not of one "
        "device: parts of several devices may serve a pod"
    )
    NO_INDEX = (
        "the device that {annotation} names is not kept: any of the node serves it"
    )
    OPENSHIFT = (
        "read as the Configuration of Kueue that OpenShift's operator makes of it: jobs "
        "are managed in namespaces with the label {label}"
    )
    STATE_AWARE = (
        "released cores read stateaware as fifo; `yunikorn.laws: documented` of the "
        "policy keeps it"
    )
    QUEUES = "takes the place of the queues.yaml before it"
    SETTING = "{name} takes the place of the one before it"
    TIME = (
        "read at {theirs}, but it is {ours} in this sandbox, and that is kept: ages, "
        "run times and backoffs count to it; a new sandbox goes on from the files' "
        "time"
    )
    RELEASE = (
        "{title} {release} runs there, so its decisions are taken; give another release "
        "to take those"
    )
    NO_RELEASE = (
        "{title} {release} runs there, which is not known here: decisions are taken as "
        "{title} {name} takes them; known: {known}"
    )
    GATES = (
        "{title} {name} does not start with these featureGates; decisions are taken as "
        "{title} {release} takes them; give a release to take another's"
    )
    SCENARIO = "a Scenario begins a sandbox of its own; create one with it"


class StackSign(Words, prefix="stackSign"):
    """Which scheduler files are for, and what asks when they are for several."""

    SIGN = "{what} is of {name}"
    PLACED = "{what} is of {name} ({place})"
    OPEN = (
        "the files are for more than one scheduler: {first}, and {second}; say which "
        "stack to run: {stacks}"
    )
    OTHER = (
        "{sign}, but this sandbox runs the stack {stack}, and that is kept; a new "
        "sandbox of these files runs the stack that they are for"
    )


class Instant(Words, prefix="instant"):
    """Whether the status of a ClusterQueue is of the instant of its Workloads."""

    STATUS = (
        "ClusterQueue {queue}: its status is not of the Workloads' instant: it counts "
        "{cells}; {when}"
    )
    CELL = "{theirs} {resource} of {flavor}, they hold {ours}"
    CELLS = "{first}; {rest}"
    EMPTY = "no Workload of these files holds any of it, so the queue begins empty"
    BEFORE = "it was so before {time} (changes since: {count}); the Workloads count"
    NONE = (
        "of no instant that they show (what was evicted shows none); the Workloads "
        "count"
    )


# ------------------------------------------------------------------------
# What repairs a finding of an import, in words.


class Repairing(Words, prefix="repair"):
    """A document to add, or a text to put in place of another."""

    ADD = "Add {kind} {name}"
    ADD_QUEUE = (
        "Add LocalQueue {name} in namespace {namespace} for ClusterQueue {queue}"
    )
    ADD_CLASS = "Add {kind} {name} with value 0"
    ADD_NAMESPACE = "Add Namespace {name} with {labels}"
    ADD_TOPOLOGY = "Add Topology {name} with levels {levels}"
    ADD_CHECK = "Add AdmissionCheck {name}, which is ready at once"
    ADD_NODES = (
        "Add the node, as large as what runs on it|"
        "Add the {n} nodes, each as large as what runs on it"
    )
    ADD_NODES_FOR = (
        "Add a node on which all pods have room|"
        "Add {n} equal nodes on which all pods have room"
    )
    ADD_NODES_OF = (
        "Add a node of {each} {resource}, by the quota of the flavors|"
        "Add {n} nodes of {each} {resource}, by the quota of the flavors"
    )
    REPLACE = "Write {new} instead of {old}"


# ------------------------------------------------------------------------
# Why a move cannot be done, in words.


class MoveRefused(Words, prefix="moveRefused"):
    """Why an object cannot be moved where it was dropped."""

    OWN_PARENT = "{key} cannot be its own parent"
    KINDS = "a {kind} cannot be moved to a {target}"
    CLUSTERS = "{key} and {target} are of different clusters"
    THERE = "{workload} is in LocalQueue {queue} already"
    LEADS_NOWHERE = "LocalQueue {queue} leads to no ClusterQueue"
    SELECTOR = "namespace {namespace} does not match the selector of {queue}"
    FINISHED = "{workload} is finished"
    NAMESPACE = "LocalQueue {queue} is in another namespace than {namespace}"
    NO_LOCAL_QUEUE = "LocalQueue {queue} does not exist"
    NOT_LED = "namespace {namespace} has no LocalQueue that leads to {target}"
