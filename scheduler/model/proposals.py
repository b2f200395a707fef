"""A policy that no release has: what a plug-in may decide, and what it is shown.

A plug-in imports this module as `quotalab.policies` and nothing else of ours. Times are
virtual milliseconds since the begin of the run; amounts are whole numbers, of CPU in
thousandths and of memory in bytes. docs/policies.md has a first plug-in.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from scheduler.model import registry
from scheduler.model.durations import span_ms
from scheduler.model.errors import PolicyError, SchedulerError, UnknownNameError
from scheduler.model.problems import Problem
from scheduler.model.problems.validation import said_of_value

__all__ = ["FittingNode", "FlavorResource", "Policy", "Queue", "WaitingPod", "Work",
           "YunikornQueue", "proposal", "span_ms"]  # fmt: skip

FlavorResource = tuple[str, str]
P = TypeVar("P", bound="type[Policy]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A Workload, as a policy sees it."""

    name: str  # "namespace/name"
    queue: str  # the ClusterQueue that it waits for, or holds quota of
    priority: int
    order_ms: int  # by which it queues: its creation, or its eviction
    admitted_ms: int | None  # since when it holds quota; None for one that waits
    requests: Mapping[str, int]  # of all of its pods, by resource
    usage: Mapping[FlavorResource, int]  # what it holds, or would get now
    run_time_ms: int | None  # as it was stated; None where nothing was
    ends_ms: int | None  # by that, less what checkpoints kept; None: unknown
    lost_ms: int  # of work, if it is stopped now: since its last checkpoint
    place: tuple[Any, ...] = field(repr=False)  # in line: lower goes first


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """A ClusterQueue, as a policy sees it."""

    name: str
    weight: float  # in fair sharing, as configured
    nominal: Mapping[FlavorResource, int]  # quota
    usage: Mapping[FlavorResource, int]  # what its Workloads hold
    free: Mapping[FlavorResource, int]  # what it could take now, also by borrowing
    running: Callable[[], Sequence[Work]]  # who holds quota of it
    waiting: Callable[[], Sequence[Work]]  # who waits, but the one that is tried

    def ahead_of(self, work: Work) -> list[Work]:
        """Return who waits in front of a Workload, first in line first."""
        ahead = [one for one in self.waiting() if one.place < work.place]
        return sorted(ahead, key=lambda one: one.place)


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingPod:
    """A pod that waits for kube-scheduler."""

    name: str  # "namespace/name"
    labels: Mapping[str, str]
    priority: int
    created_ms: int
    requests: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class FittingNode:
    """A node on which a pod fits."""

    name: str
    labels: Mapping[str, str]
    allocatable: Mapping[str, int]
    requested: Mapping[str, int]  # by the pods on it
    pods: int  # on it


@dataclass(frozen=True, slots=True, kw_only=True)
class YunikornQueue:
    """A queue of YuniKorn in which something waits; CPU is `vcore`."""

    name: str  # its path: "root.research.nlp"
    guaranteed: Mapping[str, int] | None
    max: Mapping[str, int] | None
    allocated: Mapping[str, int]
    pending: Mapping[str, int]


class NoSettings(msgspec.Struct, forbid_unknown_fields=True):
    """The settings of a policy without any."""


class Policy:
    """What a plug-in overrides; each default decides as the release does.

    `settings` is what the world's policy sets, of the type that was enrolled. `state`
    is kept with the world: plain values under text keys, of what no argument tells.
    Answers follow from arguments, settings and state alone. An instant that a method
    returns wakes the queues then.
    """

    name = ""
    args_type: type[msgspec.Struct] = NoSettings

    def __init__(self, settings: Any) -> None:
        self.settings = settings
        self.state: dict[str, Any] = {}

    def precedence(self, work: Work, queue: Queue, now_ms: int) -> float:
        """Return where a head stands among the heads of a cycle: lower goes first.

        Those with equal values go in the order of the release.
        """
        return 0

    def weight(self, queue: Queue, now_ms: int) -> float:
        """Return the weight of a queue in fair sharing: its share is divided by it."""
        return queue.weight

    def flavors(self, work: Work, names: Sequence[str]) -> Sequence[str]:
        """Return the flavors of a resource group in the order in which they are tried.

        The same ones each time: a search goes on where it stopped.
        """
        return names

    def strict(self, queue: str, strict: bool) -> bool:
        """Return whether a head that does not fit blocks those behind it."""
        return strict

    def hold_until(self, work: Work, queue: Queue, now_ms: int) -> float:
        """Return until when a head that fits is not admitted; by now: it may be.

        `math.inf` holds it until something else changes.
        """
        return 0

    def spare_until(self, victim: Work, by: Work, now_ms: int) -> float:
        """Return until when a Workload is no candidate for a preemptor; by now: it is."""
        return 0

    def victim_order(self, victim: Work, by: Work, now_ms: int) -> float:
        """Return where a candidate stands among those of its sort: lower goes first."""
        return 0

    def pod_order(self, pod: WaitingPod) -> float:
        """Return where a pod stands in kube-scheduler's queue: lower is tried first."""
        return 0

    def node_order(self, pod: WaitingPod, node: FittingNode, now_ms: int) -> float:
        """Return where a node stands for a pod that fits on it: the lowest is taken."""
        return 0

    def queue_order(self, queue: YunikornQueue, now_ms: int) -> float:
        """Return where a queue of YuniKorn stands among its siblings: lower first."""
        return 0

    def ran(self, queue: Queue, since_ms: int, now_ms: int) -> None:
        """Note that a queue held what its `usage` says all the time between the two."""

    def preempted(self, victim: Work, by: Work, now_ms: int) -> None:
        """Note that a Workload is preempted."""


def proposal(
    name: str, *, label: str, help: str, settings: type[msgspec.Struct] | None = None
) -> Callable[[P], P]:
    """Enrol the decorated Policy under a name; `settings` is the type of its settings.

    The page makes a form of the fields of `settings`, by their titles and defaults.
    """
    return registry.register(
        "proposal", name, label=label, help=help, parameters=settings
    )


class Chosen(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Which proposal decides in a world, and its settings."""

    name: str
    settings: dict[str, Any] = {}

    def made(self) -> Policy:
        """Return a new policy; PolicyError for an unknown name and for bad settings."""
        place = "policy: simulation.proposal"
        if not registry.entries("proposal"):
            said = Problem.NO_PROPOSALS.said(name=self.name, variable=registry.FILES)
            raise PolicyError(said, f"{place}.name")
        try:
            kind: type[Policy] = registry.lookup("proposal", self.name)
        except UnknownNameError as error:
            raise PolicyError(error.said, f"{place}.name") from error
        try:
            return kind(msgspec.convert(self.settings, kind.args_type))
        except SchedulerError as error:
            raise PolicyError(error.said, f"{place}.settings") from error
        except ValueError as error:  # what msgspec raises is one, too
            raise PolicyError(said_of_value(str(error)), f"{place}.settings") from error

    def decides_under(self, stack: str) -> bool:
        """Return whether something is asked of it in a world of this stack."""
        own = _overridden(registry.lookup("proposal", self.name))
        if stack == "kueue":
            return bool(own - _OF_QUEUES)
        return bool(own & (_OF_QUEUES if stack == "yunikorn" else _OF_PODS))


#: What kube-scheduler and YuniKorn ask; Kueue asks the rest.
_OF_PODS, _OF_QUEUES = {"pod_order", "node_order"}, {"queue_order"}


def _overridden(kind: type[Policy]) -> set[str]:
    """Return the methods by which a policy decides otherwise than the release."""
    asked = {n for n in vars(Policy) if n[0] != "_"} - {"name", "args_type"}
    return {n for n in asked if getattr(kind, n) is not getattr(Policy, n)}


class Asking:
    """A policy at work: asks it what it overrides, and says what fails."""

    def __init__(self, chosen: Chosen) -> None:
        self.policy, self.name = chosen.made(), chosen.name
        self.overridden = _overridden(type(self.policy))

    def ask(self, method: str, *given: Any) -> Any:
        """Return what the policy answers. Raises SchedulerError that names what failed."""
        try:
            return getattr(self.policy, method)(*given)
        except Exception as error:
            raise self._failed(method, error) from error

    def number(self, method: str, *given: Any) -> float:
        """Return the number that the policy answers; raises as `ask`."""
        found = self.ask(method, *given)
        try:
            return float(found)
        except (TypeError, ValueError) as error:
            raise self._failed(method, error) from error

    def _failed(self, method: str, error: Exception) -> SchedulerError:
        said = f"{type(error).__name__}: {error}"
        return SchedulerError(
            Problem.PROPOSAL_FAILED.said(name=self.name, method=method, error=said)
        )


#: The name by which plug-ins import this module, installed or not.
sys.modules.setdefault("quotalab.policies", sys.modules[__name__])
