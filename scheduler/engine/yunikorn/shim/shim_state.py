"""What the shim knows of the cluster beside the core's partition."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import msgspec

from scheduler.engine.stage import Context
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.objects.release_rules import rules_of
from scheduler.engine.yunikorn.placement import access
from scheduler.engine.yunikorn.shim.recorder import DecisionRecorder
from scheduler.model.hierarchy import PartitionSpec
from scheduler.model.objects import Key, Object
from scheduler.model.pod import Pod
from scheduler.model.policy import Policy, YuniKorn
from scheduler.model.problems import GivenUp, in_field
from scheduler.model.registry import lookup
from scheduler.model.sentence import Sentence
from scheduler.model.yunikorn import properties
from scheduler.model.yunikorn.resources import Amounts

STAGE = "yunikorn"


class ShimState:
    """One partition, and what was read from the objects of the cluster."""

    name = STAGE

    def __init__(self, context: Context, policy: Policy, spec: PartitionSpec) -> None:
        self.context = context
        section = policy.spec.yunikorn
        self.recorder = DecisionRecorder(context)
        laws = lookup("laws", section.laws)()
        rules = rules_of(policy.spec.decides_as())
        self.partition = Partition(access.opened(spec), laws, self.recorder, rules)
        self.partition.now_ms = context.now_ms
        self.policy_ends = False  # the next state is read under another policy
        self.policy_hash = hash_of(section)
        self.opted_out: dict[str, bool] = {}  # PriorityClass -> says "false"
        self.foreign: dict[Key, tuple[str, Amounts]] = {}  # pod -> node, use
        #: Node name -> pods that run on it, while the node is not known.
        self.waiting_for_node: dict[str, dict[Key, Object]] = {}
        self.rejected: dict[Key, str] = {}  # pod -> why
        self.timed_out: set[Key] = set()  # pods of gangs that failed
        #: Applications that their pods alone do not describe: stored by name.
        self.stored_apps: dict[str, None] = {}
        self.records: dict[str, Pod] = {}  # by ask key, foreign pods by path
        #: Namespace -> labels, and -> annotations.
        self.namespaces: dict[str, dict[str, str]] = {}
        self.annotations: dict[str, dict[str, str]] = {}
        self.last_cycle_ms: int | None = None
        # While a stored state is being restored:
        self.same_policy = False  # it was stored under the present policy
        self.stored_gangs: list[Any] = []  # restored after all pods
        self.stored_scores: dict[str, float] = {}  # node -> place in the order
        self.stored_quota: list[Any] = []
        self.stored_counts: dict[str, list[Any]] = {}
        self.stored_clock: tuple[bool, int | None] | None = None
        for problem in _notices(spec):
            context.journal.complain(problem)
        self._warn_properties()

    def _warn_properties(self) -> None:
        for queue in self.partition.root.walk():
            for problem in properties.problems(queue.own_texts):
                self.context.journal.complain(in_field(queue.path, problem))
            named = queue.own_texts.get("application.sort.policy", "").lower()
            if named == "stateaware" and not self.partition.laws.starting:
                self.context.journal.complain(
                    GivenUp.STATE_AWARE.said(queue=queue.path)
                )


def _notices(spec: PartitionSpec) -> Iterator[Sentence]:
    """Yield what people should know of a configuration."""
    for path in spec.unsimulated:
        yield GivenUp.SETTING.said(path=path)
    for other in spec.others:
        yield GivenUp.PARTITION.said(name=repr(other.name))
    if spec.placement_error:
        yield GivenUp.REJECTED.said(problem=spec.placement_error)
    if access.names_no_list(spec):
        yield GivenUp.NO_LIST.said()


def hash_of(section: YuniKorn) -> str:
    """Return a short text that changes with the policy's section."""
    data = msgspec.msgpack.encode(section, order="sorted")
    return hashlib.blake2b(data, digest_size=8).hexdigest()
