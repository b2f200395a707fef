"""A proposal that decides: what it is shown of Workloads and queues, and its answers.

What a plug-in does not override decides as the release does.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any

from scheduler.engine.kueue.cache.candidates import CandidateRange, merged
from scheduler.engine.kueue.tree.quota import available_non_negative
from scheduler.engine.kueue.tree.tree import ClusterQueue, Rank, ResourceNode
from scheduler.engine.kueue.usage.decay import add
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.stage import Context
from scheduler.model import durations
from scheduler.model.objects import Key
from scheduler.model.proposals import Asking, Chosen, Queue, Work
from scheduler.model.reasons import QUOTA_RESERVED, held_by_proposal

#: Stated run time, work that checkpoints keep, and what is lost by a stop now (ms).
RunFacts = tuple[int | None, int, int]
Amounts = Mapping[ResourceNode, int]
STRICT, BEST_EFFORT = "StrictFIFO", "BestEffortFIFO"


class Spared:
    """Who counts as gone in a search: the absent, and whom a proposal spares."""

    def __init__(
        self, of: Proposing, by: Work, absent: Container[WorkloadInfo]
    ) -> None:
        self._of, self._by, self._absent = of, by, absent

    def __contains__(self, work: object) -> bool:
        """Return whether a candidate is left out."""
        assert isinstance(work, WorkloadInfo)
        return work in self._absent or self._of.spares(work, self._by)


class Proposing(Asking):
    """Asks the proposal that decides, and remembers when it wants to be asked again."""

    def __init__(
        self, chosen: Chosen, context: Context, queues: Mapping[str, ClusterQueue]
    ) -> None:
        super().__init__(chosen)
        self.context = context
        self.queues = queues
        self.again_ms: int | None = None  # when its answers change next
        self.since: dict[str, int] = {}  # queue -> up to when `ran` was told of it
        self.weights: dict[ClusterQueue, float] = {}  # as configured, in a cycle
        self.candidates: dict[WorkloadInfo, Work] = {}  # as they were seen in a cycle
        #: What the lifetime knows of a run; a driver that has runs sets it.
        self.run_of: Callable[[Key], RunFacts] = lambda _: (None, 0, 0)

    def work(
        self,
        work: WorkloadInfo,
        queue: ClusterQueue | None = None,
        amounts: Amounts | None = None,
    ) -> Work:
        """Return a Workload as the policy sees it, with what it would get."""
        home = queue or work.cluster_queue
        reserved = work.conditions.get(QUOTA_RESERVED)
        since = None
        if reserved is not None and reserved.status:
            since = self.context.ms(reserved.since_us)
        stated, kept, lost = self.run_of(work.key)
        ends = None
        if since is not None and stated is not None:
            ends = since + max(0, stated - kept)
        held = work.usage if amounts is None else amounts.items()
        return Work(
            name=work.name,
            queue="" if home is None else home.name,
            priority=work.priority,
            order_ms=self.context.ms(work.queue_order_us),
            admitted_ms=since,
            requests=add(work.totals),
            usage={node.flavor_resource: amount for node, amount in held},
            run_time_ms=stated,
            ends_ms=ends,
            lost_ms=lost,
            place=work.queue_order,
        )

    def queue(self, queue: ClusterQueue) -> Queue:
        """Return a ClusterQueue as the policy sees it."""
        nodes = [node for node in queue.resource_nodes.values() if node.has_quota]
        return Queue(
            name=queue.name,
            weight=self.weights.get(queue, queue.weight),
            nominal={node.flavor_resource: node.nominal for node in nodes},
            usage={node.flavor_resource: node.usage for node in nodes},
            free={n.flavor_resource: available_non_negative(n) for n in nodes},
            running=lambda: [self.work(one) for one in queue.admitted.workloads],
            waiting=lambda: [
                self.work(one, queue) for one in queue.pending.workloads()
            ],
        )

    # ---- in a cycle ----

    def begin(self) -> None:
        """Tell of the time until now, and have the weights of the policy in a cycle."""
        self.candidates.clear()
        for queue in self.queues.values():
            self.passed(queue)
        if "weight" not in self.overridden:
            return
        self.weights = {queue: queue.weight for queue in self.queues.values()}
        now = self.context.now_ms
        for queue in self.weights:
            queue.weight = self.number("weight", self.queue(queue), now)

    def end(self) -> None:
        """Have the configured weights again."""
        for queue, weight in self.weights.items():
            queue.weight = weight
        self.weights = {}

    def precedence(
        self, work: WorkloadInfo, queue: ClusterQueue, amounts: Amounts
    ) -> float:
        """Return where a head stands in a cycle: lower goes first."""
        seen, home = self.work(work, queue, amounts), self.queue(queue)
        return self.number("precedence", seen, home, self.context.now_ms)

    def held(self, work: WorkloadInfo, queue: ClusterQueue, amounts: Amounts) -> str:
        """Return that the policy holds a head, and until when; "" where it does not."""
        seen, home = self.work(work, queue, amounts), self.queue(queue)
        until = self.number("hold_until", seen, home, self.context.now_ms)
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
        return tuple(self.ask("flavors", self.work(work, queue), names))

    def queueing(self, queue: str, strategy: str) -> str:
        """Return the queueing strategy of a ClusterQueue, configured with `strategy`."""
        strict = bool(self.ask("strict", queue, strategy == STRICT))
        if strict == (strategy == STRICT):
            return strategy
        return STRICT if strict else BEST_EFFORT

    # ---- victims ----

    def spares(self, victim: WorkloadInfo, by: Work) -> bool:
        """Return whether the policy spares a Workload now."""
        now, seen = self.context.now_ms, self._candidate(victim)
        return self._is_later(self.number("spare_until", seen, by, now))

    def _candidate(self, work: WorkloadInfo) -> Work:
        """Return a Workload that holds quota, made once in a cycle."""
        seen = self.candidates.get(work)
        if seen is None:
            seen = self.candidates[work] = self.work(work)
        return seen

    def victims(self, by: Work) -> Callable[[list[CandidateRange]], Iterator[Rank]]:
        """Return what yields candidates for a preemptor, the best victim first."""
        if "victim_order" not in self.overridden:
            return merged
        now = self.context.now_ms

        def place(rank: Rank) -> float:
            return self.number("victim_order", self._candidate(rank[4]), by, now)

        def in_order(runs: list[CandidateRange]) -> Iterator[Rank]:
            return iter(sorted(merged(runs), key=place))

        return in_order

    def preempted(
        self, victim: WorkloadInfo, by: WorkloadInfo, queue: ClusterQueue
    ) -> None:
        """Tell that a Workload is preempted."""
        now = self.context.now_ms
        self.ask("preempted", self.work(victim), self.work(by, queue), now)

    # ---- time ----

    def passed(self, queue: ClusterQueue) -> None:
        """Tell what a queue held since the last time; before its usage changes."""
        if "ran" not in self.overridden:
            return
        now = self.context.now_ms
        since = self.since.get(queue.name, now)
        self.since[queue.name] = now
        if since < now:
            self.ask("ran", self.queue(queue), since, now)

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
        whole: dict[str, Any] = {
            "state": copy.deepcopy(self.policy.state),
            "since": dict(self.since),
            "again": self.again_ms,
        }
        kept = {name: value for name, value in whole.items() if value}
        return {"name": self.name, **kept} if kept else kept

    def load(self, kept: Mapping[str, Any]) -> None:
        """Take back what `dump` returned, unless another proposal wrote it."""
        if kept["name"] == self.name:
            self.policy.state = copy.deepcopy(kept.get("state") or {})
            self.since = dict(kept.get("since") or {})
            self.again_ms = kept.get("again")
