"""The live protocol: every message that travels between page and server.

Rows in them are of `wire_rows`. The page's types are made of these two modules
and nothing else.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from scheduler.model.sentence import Sentence

# ------------------------------------------------------------------------
# The rows of a page as they travel: one class per kind.


#: Canonical units as a decimal text.
Amount = Annotated[str, msgspec.Meta(pattern="^-?[0-9]+$", max_length=40)]
#: A weighted share, or "inf".
Share = Annotated[str, msgspec.Meta(pattern="^(inf|-?[0-9]+)$", max_length=40)]
Amounts = dict[str, Amount]  # by resource


class Wire(
    msgspec.Struct, rename="camel", frozen=True, kw_only=True, omit_defaults=False
):
    """The base of everything that travels."""


class QuotaCell(Wire, frozen=True, kw_only=True):
    """Quota and usage of one (flavor, resource) at one node of the quota tree."""

    flavor: str
    resource: str
    nominal: Amount
    used: Amount
    borrowed: Amount
    lent: Amount  # of the nominal quota, what others in the cohort use now
    available: Amount  # what one more workload could take now, borrowing included
    borrowing_limit: Amount | None = None
    lending_limit: Amount | None = None


class WorkloadCounts(Wire, frozen=True, kw_only=True):
    """Workloads by state."""

    pending: int = 0
    inadmissible: int = 0
    reserved: int = 0
    admitted: int = 0
    evicted: int = 0  # evicted and waiting again; also part of pending
    finished: int = 0


class Row(Wire, frozen=True, kw_only=True):
    """What every row carries."""

    key: str
    name: str
    namespace: str = ""


class SandboxRow(Row, tag="Sandbox", tag_field="kind", frozen=True, kw_only=True):
    """The sandbox itself: clock, transport and what may be done with it."""

    id: str
    title: str
    branch: str
    parent: str | None
    stack: Literal["kueue", "yunikorn", "kube"]
    fair_sharing: bool
    laws: str
    seed: Amount
    tick: int
    t_ms: int
    tick_ms: int
    first_tick: int  # the earliest that can be looked at
    playing: bool
    speed: float  # ticks per second of wall time; 0 = as fast as it goes
    until: str  # what a running step waits for; "" when nothing
    problem: str  # why ticking stopped by itself; "" when it did not
    problem_said: list[Sentence]  # its lines with their codes, "" for one without
    hash: str  # of the world, hexadecimal, first 16 digits
    resources: list[str]  # in the order in which bars are drawn
    not_simulated: list[str]  # what has no effect in this world, or is assumed
    not_simulated_said: list[Sentence]  # the same with codes
    #: other than "simulated": it shows a real cluster and cannot be edited
    source: Literal["simulated", "recording", "cluster"] = "simulated"
    source_name: str = ""  # of the recording, or of the cluster
    source_start: str = ""  # the wall time (RFC 3339) of virtual 0
    last_tick: int | None = None  # of a recording
    lag_ms: int = 0  # how old the oldest change of the last tick was when it was shown
    #: of nodes that come and go, so far and an hour now; None where there are none
    cost: float | None = None
    cost_per_hour: float | None = None
    #: scheduler -> the release that it decides as; absent where none is given
    release: dict[str, str] | msgspec.UnsetType = msgspec.UNSET
    proposal: str | msgspec.UnsetType = msgspec.UNSET  # that decides; absent: none


class CohortRow(Row, tag="Cohort", tag_field="kind", frozen=True, kw_only=True):
    """A cohort: an inner node of the quota tree."""

    parent: str
    implicit: bool
    weight: str
    share: Share  # "inf" when weight is 0 and it borrows
    cells: list[QuotaCell]
    lendable: Amounts


class ClusterQueueRow(
    Row, tag="ClusterQueue", tag_field="kind", frozen=True, kw_only=True
):
    """A ClusterQueue: a leaf of the quota tree."""

    cohort: str
    queueing_strategy: str
    stop_policy: str
    active: bool
    inactive_reason: str
    weight: str
    share: Share
    cells: list[QuotaCell]
    counts: WorkloadCounts
    within_cluster_queue: str
    reclaim_within_cohort: str
    borrow_within_cohort: str


class LocalQueueRow(Row, tag="LocalQueue", tag_field="kind", frozen=True, kw_only=True):
    """A LocalQueue: the queue of a namespace that leads to a ClusterQueue."""

    cluster_queue: str
    stop_policy: str
    active: bool
    counts: WorkloadCounts


class ResourceFlavorRow(
    Row, tag="ResourceFlavor", tag_field="kind", frozen=True, kw_only=True
):
    """A ResourceFlavor."""

    node_labels: dict[str, str]
    taints: list[str]


class MultiKueueClusterRow(
    Row, tag="MultiKueueCluster", tag_field="kind", frozen=True, kw_only=True
):
    """A worker cluster as the manager sees it: its condition Active."""

    active: bool  # the manager reaches it
    reason: str
    message: str
    since_ms: int | None  # since when; None where the status does not say


class PodSetCell(Wire, frozen=True, kw_only=True):
    """One pod set of a Workload."""

    name: str
    count: int
    min_count: int | None
    requests: Amounts  # of one pod
    flavors: dict[str, str]  # resource -> flavor, once quota is reserved


class ConditionCell(Wire, frozen=True, kw_only=True):
    """One condition of a Workload's status."""

    type: str
    status: bool  # "True" or "False" in the manifest
    reason: str
    message: str  # cut after 300 characters
    since_ms: int  # when the status last changed


Phase = Literal[
    "pending", "inadmissible", "reserved", "admitted", "finished", "inactive"
]


class CheckCell(Wire, frozen=True, kw_only=True):
    """What one admission check says of a Workload."""

    name: str
    state: str
    message: str  # cut after 300 characters


class WorkloadRow(Row, tag="Workload", tag_field="kind", frozen=True, kw_only=True):
    """A Workload as a card shows it."""

    uid: str
    local_queue: str
    cluster_queue: str
    phase: Phase
    priority: int
    priority_class: str
    pod_sets: list[PodSetCell]
    totals: Amounts
    reason: str  # of the condition that explains the phase
    message: str  # its sentence, cut after 300 characters
    conditions: list[ConditionCell]  # all of them, by type
    sticky: bool  # heads its queue until admitted
    order_us: Amount  # queue-order time while it waits; order: sticky, priority desc, this, uid
    created_ms: int
    reserved_ms: int | None
    admitted_ms: int | None
    ready_ms: int | None
    ends_ms: int | None  # when it will finish if left alone
    runtime_ms: int
    requeue_ms: int | None  # backoff ends
    evictions: int
    evicted: bool  # the last thing that happened to its quota was an eviction
    owner: str  # key of the Job it was made from, or ""
    checks: list[CheckCell] = []  # its admission checks, by name
    worker: str = ""  # the worker cluster that runs it
    tried: list[str] = []  # the worker clusters that it waits in
    copy: bool = False  # a manager put it into this worker
    finished_ms: int | None = None  # when it finished


class NodeRow(Row, tag="Node", tag_field="kind", frozen=True, kw_only=True):
    """A node with what is taken on it."""

    state: Literal["ready", "cordoned", "failed"]
    flavor: str  # the ResourceFlavor whose labels it has, or ""
    allocatable: Amounts
    used: Amounts  # by pods that are bound or assumed here
    pods: int
    held: Amounts  # of `used`, by pods that are assumed here and not bound
    held_pods: int
    locked_by: str  # the scheduler that keeps the node to itself, or ""
    taints: list[str]
    labels: dict[str, str]


class PodRow(Row, tag="Pod", tag_field="kind", frozen=True, kw_only=True):
    """A pod."""

    uid: str
    node: str
    nominated: str
    held_on: str  # the node that it is assumed on while it is not bound, or ""
    permit_by: str  # the plug-ins that let it wait at Permit, or ""
    permit_until_ms: int | None  # when that wait times out
    phase: Literal[
        "gated",
        "pending",
        "waiting",
        "bound",
        "running",
        "ready",
        "succeeded",
        "failed",
    ]
    workload: str  # key, or ""
    queue: str  # ClusterQueue, or YuniKorn queue path
    scheduler: str
    priority: int
    requests: Amounts
    qos: str
    reason: str
    message: str


class QueueRow(Row, tag="Queue", tag_field="kind", frozen=True, kw_only=True):
    """A YuniKorn queue; `name` is its full path."""

    parent: str
    leaf: bool
    guaranteed: Amounts
    max: Amounts
    allocated: Amounts
    pending: Amounts
    share: float
    sort_policy: str
    preemption_policy: str
    preemption_delay_ms: int
    priority_policy: str
    priority_offset: int
    applications: int


class ApplicationRow(
    Row, tag="Application", tag_field="kind", frozen=True, kw_only=True
):
    """A YuniKorn application."""

    queue: str
    state: str
    user: str
    submitted_ms: int
    allocated: Amounts
    pending: Amounts
    asks: int
    allocations: int


class PolicyRow(Row, tag="Policy", tag_field="kind", frozen=True, kw_only=True):
    """The policy document in force; `changed` are paths that differ from the start."""

    document: dict[str, Any]
    changed: list[str]


AnyRow = (
    SandboxRow
    | CohortRow
    | ClusterQueueRow
    | LocalQueueRow
    | ResourceFlavorRow
    | MultiKueueClusterRow
    | WorkloadRow
    | NodeRow
    | PodRow
    | QueueRow
    | ApplicationRow
    | PolicyRow
)


# ------------------------------------------------------------------------
# The live protocol: every message that travels between page and server.


PROTOCOL = 1

# Row key -> the fields that changed, whole values, by their names on the wire.
Patches = Annotated[
    dict[str, dict[str, Any]], msgspec.Meta(extra={"patches": "AnyRow"})
]


class QueueSample(Wire, frozen=True, kw_only=True):
    """One queue at one tick, for the curves."""

    queue: str
    share: float | None  # None = infinite
    used: Amounts
    pending: int


class Sample(Wire, frozen=True, kw_only=True):
    """The whole world at one tick, for the curves."""

    tick: int
    t_ms: int
    pending: int
    admitted: int
    finished: int
    preemptions: int  # in this tick
    evictions: int
    used: Amounts
    capacity: Amounts
    queues: list[QueueSample]
    cost: float | None = None  # of nodes that come and go, so far
    #: of Kueue's searches for victims in this tick; null where nobody counted
    searches: int | None = None
    candidates_looked_at: int | None = None
    simulations: int | None = None
    #: how much of the cluster is short of fair shares, 0 to 1; null without ClusterQueues
    share_error: float | None = None


class EventLine(Wire, frozen=True, kw_only=True):
    """One decision or edit, as the event list shows it.

    `said` is the message with its code, where it is in words of this program; a
    scheduler's own words have none.
    """

    revision: int
    seq: int
    tick: int
    t_ms: int
    type: str
    subject: str
    by: str
    reason: str
    message: str
    said: Sentence | msgspec.UnsetType = msgspec.UNSET


class Hello(Wire, tag="hello", tag_field="type", frozen=True, kw_only=True):
    """Client: what it has and wants. `since` asks for diffs above a revision."""

    since: int | None = None
    views: list[str] = msgspec.field(default_factory=list)


class PageState(Wire, tag="page_state", tag_field="type", frozen=True, kw_only=True):
    """Server: everything at one revision. The newest 600 samples and 200 events.

    Arrive and Wait are left out of the events: of a large world they would be all 200.
    """

    revision: int
    rows: list[AnyRow]
    samples: list[Sample]
    events: list[EventLine]
    protocol: int = PROTOCOL


class Diff(Wire, tag="diff", tag_field="type", frozen=True, kw_only=True):
    """Server: from one revision to a later one; may span several.

    `updated` holds the changed fields only, whole values. A client whose
    revision is not `from_revision` says hello again.
    """

    from_revision: int = msgspec.field(name="from")
    revision: int
    tick: int
    added: list[AnyRow]
    updated: Patches
    removed: list[str]
    samples: list[Sample]
    events: list[EventLine]


class Resync(Wire, tag="resync", tag_field="type", frozen=True, kw_only=True):
    """Server: the diffs you need are gone; say hello without `since`."""

    revision: int


class ServiceStatus(Wire, tag="status", tag_field="type", frozen=True, kw_only=True):
    """Server: how the service is. Errors stay until a status without one.

    `said` is the message with its code; none with an empty one.
    """

    level: Literal["live", "waiting", "error"]
    message: str
    said: Sentence | None = None


def service_status(
    level: Literal["live", "waiting", "error"], said: Sentence | None = None
) -> ServiceStatus:
    """Return how the service is, in words where there is something to say."""
    message = "" if said is None else said.text
    return ServiceStatus(level=level, message=message, said=said)


class Tally(Wire, frozen=True, kw_only=True):
    """How many followers expect one choice at one stop of a lesson."""

    stop: int
    choice: int
    count: int


class FollowerNews(Wire, frozen=True, kw_only=True):
    """One who follows: the number that their page shows, their name or "", what they answered."""

    number: int
    name: str
    answered: list[int]


class LessonNews(Wire, tag="lesson", tag_field="type", frozen=True, kw_only=True):
    """Server: a lesson begins, shows something else, is answered, or ends.

    `view` and `query` are where the presenter's page is; an older `version`
    than one that was seen is stale. `people` are the first 200 followers.
    """

    running: bool
    version: int
    view: str
    query: str
    revealed: list[int]
    followers: int
    tallies: list[Tally]
    people: list[FollowerNews]


ServerMessage = PageState | Diff | Resync | ServiceStatus | LessonNews
