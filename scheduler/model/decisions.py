"""What the engine decides: one frozen class each, and their union.

`subject` is what the decision is about, `by` who caused it (a preemptor, a
person), `reason` the condition reason in the real system's spelling and
`message` its sentence; where that is one of ours, `said` has its code and holes.
"""

from __future__ import annotations

from typing import Any, ClassVar, get_args

import msgspec

from scheduler.model.objects import Key
from scheduler.model.sentence import Sentence
from scheduler.model.topology import TopologyAssignment


class Decision(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What all decisions share; `at_ms` is virtual time."""

    #: equal ones of one instant are one, with the number in `times`
    merges: ClassVar[bool] = False

    at_ms: int
    subject: Key
    by: Key | None = None
    reason: str = ""
    message: str = ""
    said: Sentence | msgspec.UnsetType = msgspec.UNSET


class PodSetAdmission(msgspec.Struct, frozen=True, gc=False):
    """The part of an admission that one pod set got."""

    name: str
    count: int
    flavors: dict[str, str]  # resource -> ResourceFlavor
    usage: dict[str, int]  # resource -> total, canonical units
    topology: TopologyAssignment | None = None


class Arrive(Decision, frozen=True, tag="Arrive"):
    """An object came into the world at its arrival time."""


class _Placing(Decision, frozen=True):
    queue: str = ""  # ClusterQueue
    pod_sets: tuple[PodSetAdmission, ...] = ()
    #: flavors that were looked at, as Kueue tells of them, less plain fits
    considered: str | msgspec.UnsetType = msgspec.UNSET


class Admit(_Placing, frozen=True, tag="Admit"):
    """A Workload got quota (Kueue) or an application's ask a place (YuniKorn)."""


class Replace(_Placing, frozen=True, tag="Replace"):
    """Pods of an admitted Workload got other places; its quota stays as it is."""


class ReserveQuota(_Placing, frozen=True, tag="ReserveQuota"):
    """A Workload holds quota and waits for its admission checks."""


class Wait(Decision, frozen=True, tag="Wait"):
    """Tried and not admitted; `inadmissible` until something is released."""

    inadmissible: bool = False
    #: Kueue's event goes on with a series, whose message is another
    in_series: bool | msgspec.UnsetType = msgspec.UNSET


class Preempt(Decision, frozen=True, tag="Preempt"):
    """`subject` is the victim, `by` the preemptor."""

    strategy: str = ""
    work_lost_ms: int = 0


class Evict(Decision, frozen=True, tag="Evict"):
    """A Workload loses its quota, or a Pod its node."""


class Requeue(Decision, frozen=True, tag="Requeue"):
    """Back in its queue; not before `not_before_ms` when there is a backoff."""

    queue: str = ""
    not_before_ms: int | None = None


class Deactivate(Decision, frozen=True, tag="Deactivate"):
    """A Workload was made inactive (limit of retries, execution time, a person)."""


class Nominate(Decision, frozen=True, tag="Nominate"):
    """A Pod waits for this node after preempting there."""

    node: str = ""


class Reserve(Decision, frozen=True, tag="Reserve"):
    """A place on a node is taken for a Pod that is not bound yet."""

    merges: ClassVar[bool] = True
    node: str = ""
    times: int = 1


class Unreserve(Decision, frozen=True, tag="Unreserve"):
    """A taken place was given back."""

    merges: ClassVar[bool] = True
    node: str = ""
    times: int = 1


class PermitWait(Decision, frozen=True, tag="PermitWait"):
    """A Pod waits at Permit with its node held, until `deadline_ms`."""

    merges: ClassVar[bool] = True
    node: str = ""
    deadline_ms: int = 0
    times: int = 1


class Bind(Decision, frozen=True, tag="Bind"):
    """A Pod has its node."""

    node: str = ""


class Fail(Decision, frozen=True, tag="Fail"):
    """A Pod found no place in this attempt, or failed on its node.

    `count` is how often it has failed for this reason, since `first_ms`.
    """

    merges: ClassVar[bool] = True
    node: str = ""
    times: int = 1
    count: int = 1
    first_ms: int | None = None


class Finish(Decision, frozen=True, tag="Finish"):
    """A Workload or Pod ran to its end."""


class Checkpoint(Decision, frozen=True, tag="Checkpoint"):
    """Work of a stopped run that is kept and lost; it goes on from what is kept."""

    kept_ms: int = 0
    lost_ms: int = 0  # of the time since it started, or since its pods were ready


class NodeChange(Decision, frozen=True, tag="NodeChange"):
    """A node was added, cordoned, drained, failed or recovered."""

    change: str = ""


class Edit(Decision, frozen=True, tag="Edit"):
    """A person changed an object or the policy."""

    action: str = ""
    before: Any = None
    after: Any = None


AnyDecision = (
    Arrive
    | Admit
    | Replace
    | ReserveQuota
    | Wait
    | Preempt
    | Evict
    | Requeue
    | Deactivate
    | Nominate
    | Reserve
    | Unreserve
    | PermitWait
    | Bind
    | Fail
    | Finish
    | Checkpoint
    | NodeChange
    | Edit
)

#: The names of all of them, as events and questions name them.
NAMES: tuple[str, ...] = tuple(kind.__name__ for kind in get_args(AnyDecision))
