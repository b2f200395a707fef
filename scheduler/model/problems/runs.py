"""Why a run or a search came to nothing, and what the engine gave up on, in words."""

from __future__ import annotations

from scheduler.model.sentence import Stated


class RunProblem(Stated, prefix="run"):
    """What is wrong with a run or a search as a whole."""

    LOST = "given up: its worker was lost {count} times"
    NO_BASE = (
        "what is set now could not be run with seed {seed}, so nothing can be compared "
        "with it: {what}"
    )
    PROPOSAL = (
        "the proposal {name} decides, and no release decides so: nothing recorded is "
        "held against it, and it is not recorded; take simulation.proposal out of the "
        "policy"
    )


class GivenUp(Stated, prefix="givenUp"):
    """What the engine could not do while time went on."""

    IN_TURN = (
        "Kueue was not quiet: workloads take quota from each other in turn at one "
        "instant; virtual time went on"
    )
    NO_SCHEDULER = "no scheduler is named {name}: pod {pod} waits for it"
    NO_SCHEDULER_MANY = (
        "no scheduler is named {name}: {count} pods wait for it, the first is {pod}"
    )
    STANDS = (
        "virtual time stands still at {at} s: {count} attempts at this instant changed "
        "nothing ({waiting})"
    )
    STALLED = (
        "kube-scheduler tried {count} times at {at} ms without binding a pod; it goes "
        "on a second later"
    )
    NOT_MADE = "{kind} {name} cannot be made: {what}"
    UPDATES = (
        "{key}: podSetUpdates of {name}: {problem}, which stands; Kueue would not "
        "start the job"
    )
    NOT_THERE = "{key} changes {other}, which is not in this world; nothing was done"
    NOT_DONE = "{key} was not carried out: {what}"
    PRIORITIES = "{key}: {problem}; the priorities stay as they were"
    QUOTA = "{key}: its scopes or what it allows cannot be read; it holds no pod"
    HINT = "preferred node affinity: not looked at under YuniKorn"
    IGNORED = "Namespace {name}: {key}: expected {wanted}, got {given}: ignored"
    TICK_FAILED = "the tick failed: {problem}"
    SETTING = "queues.yaml: {path} is not simulated"
    PARTITION = (
        "queues.yaml: partition {name} is checked and stays empty: on Kubernetes every "
        "node and application belongs to 'default'"
    )
    REJECTED = "queues.yaml: {problem}: every application is rejected"
    NO_LIST = (
        "queues.yaml: no queue has a submitacl or adminacl; YuniKorn would reject "
        "every application, here everyone may submit: give root submitacl: '*'"
    )
    STATE_AWARE = (
        "{queue}: Sort policy 'stateaware' is deprecated; using 'fifo' instead"
    )
    NOT_FOLLOWED = "not followed: {problem}"
    UNREACHED = "the cluster is not reached since {since}: {problem}"
    UNSEEN = "{kind} not seen since {since}: {problem}"
