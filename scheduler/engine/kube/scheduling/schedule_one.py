"""One pod's search: from PreFilter to the node, or to why there is none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scheduler.engine.kube.cache.node_info import Mask, Rows
from scheduler.engine.kube.extender.extenders import Extenders
from scheduler.engine.kube.framework.framework import PreFilterResult
from scheduler.engine.kube.framework.status import (
    OK,
    REJECTED,
    Code,
    CycleState,
    Status,
    Verdicts,
    error,
    unresolvable,
)
from scheduler.engine.kube.scheduling.evaluation import Evaluator, Failure, ScoreError
from scheduler.engine.stage import Context
from scheduler.model import streams
from scheduler.model.pod import Pod

#: the pseudo plug-in that rejects what another scheduler has locked
LOCK = "NodeLock"
LOCKED = "node(s) were locked by another scheduler"


@dataclass(slots=True)
class SearchResult:
    """The node, or the status and verdicts of a search without one."""

    node: str = ""
    status: Status = OK
    verdicts: Verdicts | None = None
    tied: int = 0  # how many nodes shared the highest score
    failure: Failure | None = None  # of an equal pod, in place of verdicts


class NodeSearch:
    """Finds nodes for the pods of one profile; remembers where the scan stopped."""

    def __init__(
        self, evaluator: Evaluator, extenders: Extenders, context: Context
    ) -> None:
        self.evaluator = evaluator
        self.framework = evaluator.framework
        self.cluster = evaluator.cluster
        self.extenders = extenders
        self.context = context
        self.looked = 0  # rows the last search looked at

    def find(
        self,
        state: CycleState,
        pod: Pod,
        attempt: int,
        *,
        start: int = 0,
        locked: frozenset[str] = frozenset(),
    ) -> SearchResult:
        """Return the node for the pod.

        `start` is where the node scan begins; `locked` nodes are another
        scheduler's for now.
        """
        self.looked = 0
        if not self.cluster.node_infos:
            return SearchResult(
                status=unresolvable("no nodes available to schedule pods")
            )
        before = self.framework.pre_filter(state, pod)
        if before.status.code is Code.ERROR:
            return SearchResult(status=before.status)
        if not before.status.ok:
            return self._failed(state, pod, before, {})
        if before.names is None and self.fails_alike(pod, locked):
            failure = self.evaluator.failure(state, pod)
            if failure is not None:
                return SearchResult(status=REJECTED, failure=failure)
        try:
            return self._among(state, pod, before, attempt, start, locked)
        except ScoreError as problem:
            return SearchResult(status=error(str(problem)))

    def fails_alike(self, pod: Pod, locked: frozenset[str]) -> bool:
        """Return whether an attempt that finds nothing hangs on the nodes alone.

        No node is locked, no pod nominated, no extender asked, and no call is traced.
        """
        return not (
            locked
            or pod.nominated
            or self.evaluator.nominations
            or self.extenders.extenders
            or self.framework.trace is not None
        )

    def _among(
        self,
        state: CycleState,
        pod: Pod,
        before: PreFilterResult,
        attempt: int,
        start: int,
        locked: frozenset[str],
    ) -> SearchResult:
        mask, refused = self._passing(state, pod, before, locked)
        nominated = self._nominated_node(pod, mask)
        if nominated is not None:
            found = self._on_nominated(pod, nominated)
            if found is not None:
                return found
        mask, rows = self._sampled(mask, start)
        if self.extenders.filtering(pod):
            mask, turned, status = self.extenders.filter(pod, mask, self.cluster)
            if not status.ok:
                return SearchResult(status=status)
            refused |= turned
            rows = None
        count = int(np.count_nonzero(mask)) if rows is None else len(rows)
        if count == 0:
            return self._failed(state, pod, before, refused)
        if count == 1:
            row = int(np.argmax(mask))
            return SearchResult(node=self.cluster.node_table.names[row], tied=1)
        return self._best(state, pod, mask, attempt)

    def _passing(
        self,
        state: CycleState,
        pod: Pod,
        before: PreFilterResult,
        locked: frozenset[str],
    ) -> tuple[Mask, dict[int, Status]]:
        """Return the rows that pass the built-in filters and are not locked."""
        mask = self.evaluator.mask(state, pod, before.names)
        return self._unlocked(mask, locked) if locked else (mask, {})

    def _on_nominated(self, pod: Pod, row: int) -> SearchResult | None:
        """Return the nominated node where the extenders let it pass, asked about it alone."""
        only = self._one(row)
        if self.extenders.filtering(pod):
            only, _, status = self.extenders.filter(pod, only, self.cluster)
            if not status.ok or not only.any():
                return None
        return SearchResult(node=self.cluster.node_table.names[row], tied=1)

    def _one(self, row: int) -> Mask:
        mask: Mask = np.zeros(self.cluster.node_table.size, dtype=np.bool_)
        mask[row] = True
        return mask

    def extender_ms(
        self, pod: Pod, *, start: int = 0, locked: frozenset[str] = frozenset()
    ) -> int:
        """Return how long the calls of the pod's cycle take, in virtual time.

        Nobody is asked when no node passes the built-in filters, and no
        prioritizer when one node is left. Nothing changes.
        Source: docs/semantics/kube-scheduler.md#extenders.
        """
        if not self.extenders.take_time(pod) or not self.cluster.node_infos:
            return 0
        state, kept = CycleState(), self.framework.dump_state()
        try:
            before = self.framework.pre_filter(state, pod)
        finally:
            self.framework.load_state(kept)
        if not before.status.ok:
            return 0
        mask, _ = self._passing(state, pod, before, locked)
        took = 0
        nominated = self._nominated_node(pod, mask)
        if nominated is not None:
            only = self._one(nominated)
            took, only = self.extenders.filter_ms(pod, only, self.cluster)
            if only.any():
                return took
        looked = self.looked
        mask, _ = self._sampled(mask, start)
        self.looked = looked
        more, left = self.extenders.filter_ms(pod, mask, self.cluster)
        several = np.count_nonzero(left) > 1
        return took + more + (self.extenders.prioritize_ms(pod) if several else 0)

    def _unlocked(
        self, mask: Mask, locked: frozenset[str]
    ) -> tuple[Mask, dict[int, Status]]:
        """Take out the nodes that another scheduler keeps."""
        left, refused = mask.copy(), {}
        for name in locked:
            node_info = self.cluster.node_infos.get(name)
            if node_info is not None and mask[node_info.row]:
                left[node_info.row] = False
                refused[node_info.row] = Status(Code.UNRESOLVABLE, (LOCKED,), LOCK)
        return left, refused

    def _nominated_node(self, pod: Pod, mask: Mask) -> int | None:
        """Return the row of the nominated node when the pod fits there."""
        node = self.evaluator.nominations.node(pod.key)
        node_info = self.cluster.node_infos.get(node)
        fits = node_info is not None and mask[node_info.row]
        return node_info.row if node_info is not None and fits else None

    def _sampled(self, mask: Mask, start: int) -> tuple[Mask, Rows | None]:
        nodes = self.cluster.node_table.size
        wanted = enough(nodes, self.framework.percentage)
        if not self.framework.scorers and not self.extenders.any_filter:
            wanted = 1
        if wanted >= nodes:
            self.looked = nodes
            return mask, None
        rows, self.looked = sample(mask, self.cluster.scan, start % nodes, wanted)
        only: Mask = np.zeros(nodes, dtype=np.bool_)
        only[rows] = True
        return only, rows

    def _best(
        self, state: CycleState, pod: Pod, mask: Mask, attempt: int
    ) -> SearchResult:
        extra = self.extenders.prioritize(pod, mask, self.cluster)
        bare = self.extenders.strips(pod)
        rows, status = self.evaluator.best(state, pod, mask, extra, bare=bare)
        if not status.ok:
            return SearchResult(status=status)
        pick = 0
        if len(rows) > 1:
            pick = streams.choose(
                self.context.seed,
                "kube/tie",
                pod.uid or str(pod.key),
                attempt,
                among=len(rows),
            )
        name = self.cluster.node_table.names[int(rows[pick])]
        return SearchResult(node=name, tied=len(rows))

    def _failed(
        self,
        state: CycleState,
        pod: Pod,
        before: PreFilterResult,
        refused: dict[int, Status],
    ) -> SearchResult:
        verdicts = self.evaluator.verdicts(state, pod, before)
        for row, status in refused.items():
            verdicts.override(row, status)
        return SearchResult(status=REJECTED, verdicts=verdicts)


# ------------------------------------------------------------------------
# How many feasible nodes are enough, and where the search for them starts.


_ALWAYS = 100  # fewer nodes than this are all looked at
_LEAST_PERCENT = 5


def enough(nodes: int, percentage: int) -> int:
    """Return how many feasible nodes end the search (0: adaptive percentage).

    Source: docs/semantics/kube-scheduler.md#node-sampling.
    """
    if nodes < _ALWAYS or percentage >= 100:
        return nodes
    if percentage == 0:
        percentage = max(50 - nodes // 125, _LEAST_PERCENT)
    return max(nodes * percentage // 100, _ALWAYS)


def sample(mask: Mask, scan: Rows, start: int, wanted: int) -> tuple[Rows, int]:
    """Return the first feasible rows from `start` on, and how many were looked at."""
    order = np.concatenate((scan[start:], scan[:start]))
    passed = np.flatnonzero(mask[order])
    if len(passed) > wanted:
        passed = passed[:wanted]
        return order[passed], int(passed[-1]) + 1
    return order[passed], len(order)
