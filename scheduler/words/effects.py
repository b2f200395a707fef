"""What it changes for decisions that a thing is not simulated."""

from __future__ import annotations

from typing import NamedTuple, Self

from scheduler.model.sentence import Coded, Hole, Sentence, Words


class Effect(Coded, prefix=""):
    """What something without effect here changes: a code, and its sentence."""

    NONE = ("", "")
    LEFT_OUT = "it is not taken; nothing of it counts"
    NOBODY_KNOWS = "no decision here depends on it; in a cluster its controller may act"
    UNKNOWN_FIELD = (
        "nothing of it counts; an API server drops it, and a client that asks for "
        "strict writes, as kubectl does, is refused"
    )
    UNKNOWN_KEY = "nothing obeys it, here or in a cluster"
    VOLUMES_STAY = "what comes again gets the volumes that it had"
    BOUND_WITHOUT_VOLUME = "pods are bound that would wait for a volume"
    WAITS_FOR_CLAIM = (
        "pods that have no node wait for it, as in a cluster that lacks it; those "
        "that have one stay"
    )
    ANY_DEVICE = "a pod may get a device that the expression does not select"
    FIRST_ALTERNATIVE = "a pod waits where a later alternative is free"
    ADMINISTRATIVE = "a pod waits for devices that others have"
    REFUSED_DEVICE = "a pod may get devices that it refuses"
    SHARED_COUNTERS = "more of a device may be given away than there is"
    FEWER_SHARE = "fewer pods get a device than could share it"
    TAINTED_DEVICE = "a pod may get a device that nobody should use"
    NO_DEVICE_RESOURCE = "a pod waits where no node lists the resource"
    OTHER_DISK = "a pod may land on a node where its disk is not"
    SAME_SIZE = "it asks for the same from its start to its end"
    STORAGE_FULL = "a volume may be made where no storage is left"
    MORE_VOLUMES = "a node may get more volumes than it can attach"
    NOTHING_COUNTS = "nothing of it counts"
    NO_PODS = "no pods come of it, so what it runs takes no room"
    NO_DECISION = "no decision depends on it"
    NOT_OTHERWISE = "it is not simulated otherwise: no other decision depends on it"
    NO_PLUGIN = "pods are placed as a scheduler without this plugin places them"
    NO_POLICY = "no decision depends on one that holds neither"
    NO_QUEUE = "the job is in no queue because of it"
    ADMITTED_SIZE = "its size stays that with which it was admitted"
    ONE_FLAVOR = (
        "a Workload is tried in one flavor after the other, and stays where it is "
        "admitted"
    )
    NO_GATES = "it preempts as soon as it may"
    SAME_PRIORITY = "its priority stays as it is"
    FEWER_JOBS = "fewer jobs come than in the trace"
    NOT_TAKEN = "nothing of it counts, as kubectl would not take it"
    NO_KUSTOMIZE = "its names, namespaces, patches and generators change nothing"
    NOT_CARRIED = "in the new terms it does not exist, and decides nothing"
    DEADLINE = "it holds its quota and node until its run time is over"
    EARLY_STEPS = "pods of a later step take room while an earlier one runs"
    SHARED_DOMAIN = "pods land on nodes that the real one keeps for another Job"
    OTHER_SCHEDULER = "who is placed first and where is that scheduler's choice"
    NO_OVERRIDES = "node selectors, tolerations and requests of them are missing"
    LONGER_QUOTA = "it holds its quota longer than in a cluster"
    NO_DEVICE_QUOTA = "claims of devices take no quota"
    DEFAULTS = "decisions are those of the default"
    KEPT_OFF = "pods that do not tolerate it never land there"
    MORE_NODES = "more nodes stay than Karpenter would leave, and cost"
    OLDER_NODES = "nodes of an older template stay until they expire"
    STARTS_ANEW = (
        "while it runs a larger size is not given, and a smaller one starts it anew"
    )
    READY_AFTER = "a pod is ready after podStartMs, or its quotalab.dev/ready-after"
    FAILS_AFTER = "a pod fails where quotalab.dev/fails-after says so, and nowhere else"
    AT_ONCE = "pods are replaced and started at once"
    NOT_PAUSED = "its pods are made all the same"
    STAYS_LISTED = "what has finished stays listed"
    CALLED_FOR_MORE = "it counts for pods that it would not be called for in a cluster"
    TAKEN_AS_UP = "no pod is refused for its sake"
    MADE_ANYWAY = "what else its rules take is stored while it is down, too"
    SAME_RESOURCES = "pods keep the size with which they were made"


class Gap(NamedTuple):
    """What is given and not simulated: where, what is done, and what that changes."""

    field: str
    problem: Sentence
    effect: Effect = Effect.NONE


class NotSimulated(Words):
    """Sentences on what is given and not simulated, each with what that changes."""

    effect: Effect

    def __new__(cls, code: str, english: str, effect: Effect = Effect.NONE) -> Self:
        """Make one of its code, its English words and its effect."""
        made = str.__new__(cls, code)
        made._value_, made.english, made.effect = code, english, effect
        return made

    def at(self, field: str, **holes: Hole) -> Gap:
        """Return the gap that a field opens; `holes` are those of the sentence."""
        return Gap(field, self.said(**holes), self.effect)
