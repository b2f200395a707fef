"""A proposal that decides: what it is shown of Workloads and queues, and its answers.

Only what a plug-in overrides is asked, so that the rest decides as the release does.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from scheduler.engine.kueue.cache.candidates import CandidateRange, merged
from scheduler.engine.kueue.tree.quota import available_non_negative
from scheduler.engine.kueue.tree.tree import (
    ClusterQueue,
    FlavorResource,
    Rank,
    ResourceNode,
)
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.stage import Context
from scheduler.model import durations
from scheduler.model.objects import Key
from scheduler.model.proposals import Chosen, Policy
from scheduler.model.proposals import Work as Seen
from scheduler.model.reasons import QUOTA_RESERVED, held_by_proposal

#: Stated run time, work that checkpoints keep, and what is lost by a stop now (ms).
RunFacts = tuple[int | None, int, int]
Asked = tuple[WorkloadInfo, ClusterQueue, dict[ResourceNode, int]]
STRICT, BEST_EFFORT = "StrictFIFO", "BestEffortFIFO"


class WorkView:
    """A Workload as a policy sees it: `scheduler.model.proposals.Work`."""

    __slots__ = ("_amounts", "_of", "info", "queue")

    def __init__(
        self,
        of: Proposing,
        info: WorkloadInfo,
        queue: str,
        amounts: Mapping[ResourceNode, int] | None,
    ) -> None:
        self._of = of
        self.info = info
        self.queue = queue
        self._amounts = amounts

    @property
    def name(self) -> str:
        """Namespace and name."""
        return self.info.name

    @property
    def priority(self) -> int:
        """The priority by which it queues."""
        return self.info.priority

    @property
    def order_ms(self) -> int:
        """The time by which it queues."""
        return self._of.context.ms(self.info.queue_order_us)

    @property
    def admitted_ms(self) -> int | None:
        """Since when it holds quota."""
        reserved = self.info.conditions.get(QUOTA_RESERVED)
        if reserved is None or not reserved.status:
            return None
        return self._of.context.ms(reserved.since_us)

    @property
    def requests(self) -> dict[str, int]:
        """What all of its pods ask for."""
        total: dict[str, int] = {}
        for amounts in self.info.totals:
            for resource, amount in amounts.items():
                total[resource] = total.get(resource, 0) + amount
        return total

    @property
    def usage(self) -> dict[FlavorResource, int]:
        """What it holds, or would get now."""
        held = self.info.usage if self._amounts is None else self._amounts.items()
        return {node.flavor_resource: amount for node, amount in held}

    @property
    def run_time_ms(self) -> int | None:
        """How long its work takes as it was stated."""
        return self._of.run_of(self.info.key)[0]

    @property
    def ends_ms(self) -> int | None:
        """When it ends by that."""
        stated, kept, _ = self._of.run_of(self.info.key)
        since = self.admitted_ms
        if stated is None or since is None:
            return None
        return since + max(0, stated - kept)

    @property
    def lost_ms(self) -> int:
        """How much work is lost if it is stopped now."""
        return self._of.run_of(self.info.key)[2]


class QueueView:
    """A ClusterQueue as a policy sees it: `scheduler.model.proposals.Queue`."""

    __slots__ = ("_of", "_queue", "name", "weight")

    def __init__(self, of: Proposing, queue: ClusterQueue) -> None:
        self._of = of
        self._queue = queue
        self.name = queue.name
        self.weight = of.weights.get(queue, queue.weight)

    def _amounts(self, of: Callable[[ResourceNode], int]) -> dict[FlavorResource, int]:
        nodes = self._queue.resource_nodes
        return {name: of(node) for name, node in nodes.items() if node.has_quota}

    @property
    def nominal(self) -> dict[FlavorResource, int]:
        """Its nominal quota."""
        return self._amounts(lambda node: node.nominal)

    @property
    def usage(self) -> dict[FlavorResource, int]:
        """What its Workloads hold."""
        return self._amounts(lambda node: node.usage)

    @property
    def free(self) -> dict[FlavorResource, int]:
        """What it could take now."""
        return self._amounts(available_non_negative)

    def running(self) -> list[WorkView]:
        """Return the Workloads that hold quota of it."""
        works = self._queue.admitted.workloads
        return [WorkView(self._of, work, self.name, None) for work in works]

    def ahead_of(self, work: Seen) -> list[WorkView]:
        """Return who waits for it in front of a Workload, first in line first."""
        assert isinstance(work, WorkView)
        ahead = [
            one
            for one in self._queue.pending.workloads()
            if one.queue_order < work.info.queue_order
        ]
        ahead.sort(key=lambda one: one.queue_order)
        return [WorkView(self._of, one, self.name, None) for one in ahead]


class Spared:
    """Who counts as gone in a search: the absent, and whom a proposal spares."""

    def __init__(
        self, of: Proposing, by: WorkView, absent: Collection[WorkloadInfo]
    ) -> None:
        self._of, self._by, self._absent = of, by, absent
        self._known: dict[WorkloadInfo, bool] = {}

    def __contains__(self, work: object) -> bool:
        """Return whether a candidate is left out."""
        if work in self._absent:
            return True
        assert isinstance(work, WorkloadInfo)
        if work not in self._known:
            self._known[work] = self._of.spares(work, self._by)
        return self._known[work]

    def __iter__(self) -> Iterator[WorkloadInfo]:
        """Yield those that are known to be left out."""
        yield from self._absent
        yield from (work for work, spared in self._known.items() if spared)

    def __len__(self) -> int:
        """Return how many those are."""
        return sum(1 for _ in self)


class Proposing:
    """Asks the proposal that decides, and remembers when it wants to be asked again."""

    def __init__(
        self, chosen: Chosen, context: Context, queues: Mapping[str, ClusterQueue]
    ) -> None:
        self.policy = chosen.made()
        self.name = chosen.name
        self.context = context
        self.queues = queues
        self.again_ms: int | None = None  # when its answers change next
        self.since: dict[str, int] = {}  # queue -> up to when `ran` was told of it
        self.weights: dict[ClusterQueue, float] = {}  # as configured, in a cycle
        #: What the lifetime knows of a run; a driver that has runs sets it.
        self.run_of: Callable[[Key], RunFacts] = lambda _: (None, 0, 0)
        own = type(self.policy)
        self._overridden = {
            name
            for name in vars(Policy)
            if getattr(own, name) is not getattr(Policy, name)
        }

    def work(
        self,
        work: WorkloadInfo,
        queue: ClusterQueue | None = None,
        amounts: Mapping[ResourceNode, int] | None = None,
    ) -> WorkView:
        """Return a Workload as the policy sees it, with what it would get."""
        home = queue or work.cluster_queue
        return WorkView(self, work, "" if home is None else home.name, amounts)

    # ---- in a cycle ----

    def begin(self) -> None:
        """Tell of the time until now, and have the weights of the policy in a cycle."""
        for queue in self.queues.values():
            self.passed(queue)
        if "weight" not in self._overridden:
            return
        self.weights = {queue: queue.weight for queue in self.queues.values()}
        now = self.context.now_ms
        for queue in self.weights:
            queue.weight = float(self.policy.weight(QueueView(self, queue), now))

    def end(self) -> None:
        """Have the configured weights again."""
        for queue, weight in self.weights.items():
            queue.weight = weight
        self.weights = {}

    def precedences(self, asked: Sequence[Asked]) -> list[list[int]]:
        """Return the places of those that go together, first to go first."""
        if "precedence" not in self._overridden:
            return [list(range(len(asked)))]
        places: dict[float, list[int]] = {}
        for place, (work, queue, amounts) in enumerate(asked):
            seen, home = self.work(work, queue, amounts), QueueView(self, queue)
            value = self.policy.precedence(seen, home, self.context.now_ms)
            places.setdefault(float(value), []).append(place)
        return [places[value] for value in sorted(places)]

    def held(
        self, work: WorkloadInfo, queue: ClusterQueue, amounts: dict[ResourceNode, int]
    ) -> str:
        """Return that the policy holds a head, and until when; "" where it does not."""
        if "hold_until" not in self._overridden:
            return ""
        seen, home = self.work(work, queue, amounts), QueueView(self, queue)
        until = self.policy.hold_until(seen, home, self.context.now_ms)
        if not self._is_later(until):
            return ""
        stamp = ""
        if not math.isinf(until):
            stamp = durations.stamp_text(self.context.us(math.ceil(until)))
        return held_by_proposal(self.name, stamp)

    def flavors(
        self, work: WorkloadInfo, queue: ClusterQueue, names: Sequence[str]
    ) -> Sequence[str]:
        """Return the flavors of a group in the order in which they are tried."""
        if "flavors" not in self._overridden:
            return names
        return tuple(self.policy.flavors(self.work(work, queue), names))

    def queueing(self, queue: str, strategy: str) -> str:
        """Return the queueing strategy of a ClusterQueue, configured with `strategy`."""
        if "strict" not in self._overridden:
            return strategy
        strict = self.policy.strict(queue, strategy == STRICT)
        return STRICT if strict else BEST_EFFORT

    # ---- victims ----

    def absent_for(
        self, by: WorkView, absent: Collection[WorkloadInfo]
    ) -> Collection[WorkloadInfo]:
        """Return who is no candidate for a preemptor."""
        if "spare_until" not in self._overridden:
            return absent
        return Spared(self, by, absent)

    def spares(self, victim: WorkloadInfo, by: Seen) -> bool:
        """Return whether the policy spares a Workload now."""
        now = self.context.now_ms
        return self._is_later(self.policy.spare_until(self.work(victim), by, now))

    def victims(self, by: WorkView) -> Callable[[list[CandidateRange]], Iterator[Rank]]:
        """Return what yields candidates for a preemptor, the best victim first."""
        if "victim_order" not in self._overridden:
            return merged
        now, order = self.context.now_ms, self.policy.victim_order

        def place(rank: Rank) -> float:
            return float(order(self.work(rank[4]), by, now))

        def in_order(runs: list[CandidateRange]) -> Iterator[Rank]:
            return iter(sorted(merged(runs), key=place))

        return in_order

    def preempted(
        self, victim: WorkloadInfo, by: WorkloadInfo, queue: ClusterQueue
    ) -> None:
        """Tell that a Workload is preempted."""
        now = self.context.now_ms
        self.policy.preempted(self.work(victim), self.work(by, queue), now)

    # ---- time ----

    def passed(self, queue: ClusterQueue) -> None:
        """Tell what a queue held since the last time; before its usage changes."""
        if "ran" not in self._overridden:
            return
        now = self.context.now_ms
        since = self.since.get(queue.name, now)
        self.since[queue.name] = now
        if since < now:
            self.policy.ran(QueueView(self, queue), since, now)

    def _is_later(self, until: float) -> bool:
        """Return whether an instant is yet to come; then it wakes the queues."""
        now = self.context.now_ms
        if until <= now:
            return False
        if not math.isinf(until):
            at = math.ceil(until)
            self.again_ms = at if self.again_ms is None else min(at, self.again_ms)
        return True

    def wakes(self) -> bool:
        """Return whether an answer of the policy changes by now; once."""
        if self.again_ms is None or self.again_ms > self.context.now_ms:
            return False
        self.again_ms = None
        return True

    def dump(self) -> dict[str, Any]:
        """Return plain values; nothing for a policy that remembers nothing."""
        kept: dict[str, Any] = {}
        if self.policy.state:
            kept["state"] = copy.deepcopy(self.policy.state)
        if self.since:
            kept["since"] = dict(self.since)
        if self.again_ms is not None:
            kept["again"] = self.again_ms
        return {"name": self.name, **kept} if kept else kept

    def load(self, kept: Mapping[str, Any]) -> None:
        """Take back what `dump` returned, unless another proposal wrote it."""
        if kept["name"] == self.name:
            self.policy.state = copy.deepcopy(kept.get("state") or {})
            self.since = dict(kept.get("since") or {})
            self.again_ms = kept.get("again")
