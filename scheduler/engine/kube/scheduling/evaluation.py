"""Finding the best node with arrays: equal pods share work, one bind, one row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from scheduler.engine.kube.cache.cluster import ClusterCache
from scheduler.engine.kube.cache.node_info import (
    Codes,
    Ints,
    Mask,
    NodeInfo,
    NodeTable,
    Nominations,
    Rows,
    View,
)
from scheduler.engine.kube.framework.framework import Framework, PreFilterResult
from scheduler.engine.kube.framework.plugin import MAX_SCORE, Plugin
from scheduler.engine.kube.framework.status import (
    OK,
    Code,
    CycleState,
    Status,
    Verdicts,
    error,
)
from scheduler.model.pod import Pod

_LOWEST = np.iinfo(np.int64).min
_MEMO_BYTES = 128 * 2**20  # what all memos of one evaluator may hold, roughly
_BYTES_PER_ROW = 64


class Failure(NamedTuple):
    """What an attempt came to that found no node and no victims, and what it saw."""

    nodes_version: int
    position: int
    priority: int
    skipped: frozenset[str]  # filters that did not concern the pod
    message: str
    rejectors: tuple[str, ...]
    alike: bool  # PreFilter says what it said of this pod of each one of its shape


@dataclass(slots=True)
class Memo:
    """What is known of one shape of pod on every row, and up to which change.

    Rows are scored where a pod may go to one: most that fail are not.
    """

    state: CycleState
    refused: Status  # an error of PreScore, else success
    nodes_version: int = -1  # of the mask
    position: int = -1
    scored_nodes: int = -1
    scored_position: int = -1
    fixed: Mask = field(default_factory=lambda: np.empty(0, dtype=np.bool_))
    mask: Mask = field(default_factory=lambda: np.empty(0, dtype=np.bool_))
    fixed_sum: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    flat: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    raw: dict[str, Ints] = field(default_factory=dict)  # scorers that normalize
    level: dict[str, int] = field(default_factory=dict)  # raws that are all equal
    peaks: dict[str, int] = field(default_factory=dict)
    normal: dict[str, Ints] = field(default_factory=dict)  # weighted, for `peaks`
    ranked: Ints | None = None  # the total where feasible, else lowest
    failure: Failure | None = None  # the last attempt that found nothing


class ScoreError(Exception):
    """A score outside 0..100: the cycle fails."""


class Evaluator:
    """The array way through Filter and Score, for one profile and one view.

    Verdicts of plug-ins whose scope is "node" or "row" are kept per shape of
    pod and brought up to date for the rows that changed since; those of scope
    "cluster" are asked every time.
    """

    def __init__(
        self, framework: Framework, cluster: ClusterCache, nominations: Nominations
    ) -> None:
        self.framework = framework
        self.cluster = cluster
        self.nominations = nominations
        self._memos: dict[tuple[int, str], Memo] = {}
        self._span = (-1, -1)  # between two positions these rows changed
        self._rows: Rows | None = None
        kept = [p for p in framework.filters if p.scope != "cluster"]
        self._node_filters = [p for p in kept if p.scope == "node"]
        self._row_filters = [p for p in kept if p.scope == "row"]
        self._live_filters = [p for p in framework.filters if p.scope == "cluster"]
        self._live_scorers = [p for p in framework.scorers if not _kept(p)]
        scorers = [p for p in framework.scorers if _kept(p)]
        self._peak_scorers = [p for p in scorers if "normalize" in p.points]
        flat = [p for p in scorers if "normalize" not in p.points]
        self._node_scorers = [p for p in flat if p.scope == "node"]
        self._row_scorers = [p for p in flat if p.scope == "row"]

    # --- failures of equal pods

    def repeated(self, pod: Pod) -> Failure | None:
        """Return what the pod's attempt comes to, where PreFilter need not be asked.

        Else as `failure`.
        """
        memo = self._memos.get((pod.shape.ordinal, pod.wanted_node))
        failure = None if memo is None else memo.failure
        if failure is None or not (
            failure.alike
            and failure.position == self.cluster.position
            and failure.nodes_version == self.cluster.nodes_version
            and failure.priority == pod.priority
            and self.framework.prepares_alike(pod)
        ):
            return None
        return failure

    def failure(self, state: CycleState, pod: Pod) -> Failure | None:
        """Return what the pod's attempt comes to, where an equal one just failed.

        Nothing changed on the nodes since. The caller knows that no pod is nominated and
        that nobody outside is asked.
        """
        memo = self._memos.get((pod.shape.ordinal, pod.wanted_node))
        failure = None if memo is None else memo.failure
        if failure is None or failure[:4] != self._seen(state, pod):
            return None
        return failure

    def note_failure(
        self, state: CycleState, pod: Pod, message: str, rejectors: tuple[str, ...]
    ) -> None:
        """Keep what an attempt came to, where each filter that was asked is kept too."""
        if all(plugin.name in state.skip_filter for plugin in self._live_filters):
            seen = self._seen(state, pod)
            alike = self.framework.prepares_alike(pod)
            self.memo(pod).failure = Failure(*seen, message, rejectors, alike)

    def _seen(
        self, state: CycleState, pod: Pod
    ) -> tuple[int, int, int, frozenset[str]]:
        return (
            self.cluster.nodes_version,
            self.cluster.position,
            pod.priority,
            frozenset(state.skip_filter),
        )

    # --- filter

    def mask(self, state: CycleState, pod: Pod, names: frozenset[str] | None) -> Mask:
        """Return which rows pass every filter, nominated pods counted.

        The array may be the kept one: do not change it.
        """
        memo = self.memo(pod)
        mask = memo.mask
        view = self.cluster.node_table.all()
        for plugin in self._live_filters:
            if plugin.name not in state.skip_filter:
                mask = mask & (plugin.filter_rows(state, pod, view) == 0)
        if names is not None:
            mask = mask & self._named(names)
        return self._crowded(state, pod, mask)

    def _named(self, names: frozenset[str]) -> Mask:
        mask = np.zeros(self.cluster.node_table.size, dtype=np.bool_)
        for name in names:
            if name in self.cluster.node_infos:
                mask[self.cluster.node_infos[name].row] = True
        return mask

    def _crowded(self, state: CycleState, pod: Pod, mask: Mask) -> Mask:
        """Take out the rows that nominated pods leave no place on."""
        rivals = self.nominations.rivals(pod)
        if rivals:
            mask = mask.copy()
            for node, others in rivals.items():
                node_info = self.cluster.node_infos.get(node)
                if node_info is not None and mask[node_info.row]:
                    status = self.framework.filter_with(state, pod, node_info, others)
                    mask[node_info.row] = status.ok
        return mask

    def verdicts(
        self, state: CycleState, pod: Pod, before: PreFilterResult
    ) -> Verdicts:
        """Return every row's code and rejector: from which a failure is explained."""
        node_table = self.cluster.node_table
        codes: Codes = np.zeros(node_table.size, dtype=np.int8)
        rejector: Codes = np.full(node_table.size, -1, dtype=np.int8)
        found = Verdicts(
            self.framework.filters, state, pod, node_table, codes, rejector
        )
        if not before.status.ok:
            found.rejected = before.status
            return found
        view, fixed = node_table.all(), self.memo(pod).fixed
        passed = self._node_filters if fixed.all() else []
        for index, plugin in enumerate(self.framework.filters):
            if plugin.name not in state.skip_filter and plugin not in passed:
                given = plugin.filter_rows(state, pod, view)
                first = (codes == 0) & (given != 0)
                codes[first] = given[first]
                rejector[first] = index
        self._exclude(found, before)
        for node, others in self.nominations.rivals(pod).items():
            node_info = self.cluster.node_infos.get(node)
            if node_info is not None and node_info.row not in found.special:
                status = self.framework.filter_with(state, pod, node_info, others)
                found.override(node_info.row, status)
        return found

    def _exclude(self, found: Verdicts, before: PreFilterResult) -> None:
        if before.names is None:
            return
        reason = f"node(s) didn't satisfy plugin(s) [{' '.join(before.narrowed_by)}]"
        status = Status(Code.UNRESOLVABLE, (reason,))
        for row in np.flatnonzero(~self._named(before.names)):
            found.override(int(row), status)

    # --- score

    def best(
        self,
        state: CycleState,
        pod: Pod,
        mask: Mask,
        extra: Ints | None = None,
        *,
        bare: bool = False,
    ) -> tuple[Rows, Status]:
        """Return the rows that share the highest total among those in `mask`.

        `extra` is added to the totals (extenders); `bare` scores the nodes as
        if no pod stood on them. The second value is an error when a plug-in
        failed.
        """
        memo = self.scored(pod)
        if not memo.refused.ok:
            return np.empty(0, dtype=np.intp), memo.refused
        try:
            ranked = self._ranked(memo, state, pod, mask)
        except ScoreError as problem:
            return np.empty(0, dtype=np.intp), error(str(problem))
        if bare:
            ranked = ranked + self._without_pods(memo, pod, mask)
        if extra is not None:
            ranked = np.where(mask, ranked + extra, _LOWEST)
        return (ranked == ranked.max()).nonzero()[0], OK

    def _ranked(self, memo: Memo, state: CycleState, pod: Pod, mask: Mask) -> Ints:
        live = self._pre_scored(state, pod, mask)
        same = self._level_peaks(memo, pod, mask)
        if not live and mask is memo.mask:
            if memo.ranked is None or not same:
                memo.ranked = np.where(mask, self._kept_total(memo), _LOWEST)
            return memo.ranked
        total = self._kept_total(memo)
        ranked = np.where(mask, total, _LOWEST)
        memo.ranked = memo.ranked if same else None
        rows = np.flatnonzero(mask)
        for plugin in live:
            ranked[rows] += self.weighted(plugin, state, pod, rows)
        return ranked

    def _pre_scored(self, state: CycleState, pod: Pod, mask: Mask) -> list[Plugin]:
        """Return the live scorers that do not skip this pod."""
        found = []
        view: View | None = None
        for plugin in self._live_scorers:
            if view is None:
                view = self.cluster.node_table.where(mask)
            status = plugin.pre_score(state, pod, view)
            if status.code is Code.SKIP:
                state.skip_score.add(plugin.name)
            elif not status.ok:
                raise ScoreError(status.message)
            else:
                found.append(plugin)
        return found

    def _without_pods(self, memo: Memo, pod: Pod, mask: Mask) -> Ints:
        """Return by how much each total changes when the nodes look empty.

        What an extender hands back as Node documents comes without its pods.
        Source: docs/semantics/kube-scheduler.md#extenders.
        """
        rows = np.flatnonzero(mask)
        node_infos = [
            NodeInfo(self.cluster.node_table.node_infos[row].node) for row in rows
        ]
        empty = self._flat_sum(
            self._row_scorers, memo, pod, NodeTable(node_infos).all()
        )
        change: Ints = np.zeros(len(mask), dtype=np.int64)
        change[rows] = empty - (memo.flat[rows] - memo.fixed_sum[rows])
        return change

    def totals(self, state: CycleState, pod: Pod, mask: Mask) -> dict[int, int]:
        """Return the total of every row in `mask`."""
        ranked = self._ranked(self.scored(pod), state, pod, mask)
        return {int(row): int(ranked[row]) for row in np.flatnonzero(mask)}

    def weighted(self, plugin: Plugin, state: CycleState, pod: Pod, rows: Rows) -> Ints:
        """Return a scorer's normalized and weighted scores of some rows."""
        view = self.cluster.node_table.only(rows)
        raw = plugin.score_rows(state, pod, view)
        scores = _checked(plugin, plugin.normalize(state, pod, view, raw))
        return scores * self.framework.weights[plugin.name]

    def _level_peaks(self, memo: Memo, pod: Pod, mask: Mask) -> bool:
        """Normalize again where the highest raw score moved; return whether none did."""
        same = True
        for plugin in self._peak_scorers:
            name = plugin.name
            raw = memo.raw.get(name)
            if raw is None:
                continue
            if name in memo.level:
                peak = memo.level[name]
            else:
                peak = int(raw.max(where=mask, initial=0))
            if memo.peaks.get(name) != peak:
                same = False
                memo.peaks[name] = peak
                memo.normal[name] = self._normalized(plugin, memo, pod, raw, peak)
        return same

    def _normalized(
        self, plugin: Plugin, memo: Memo, pod: Pod, raw: Ints, peak: int
    ) -> Ints:
        """Normalize a whole column as if `peak` were its highest value."""
        view = self.cluster.node_table.all()
        assumed = np.append(np.minimum(raw, peak), peak)
        scores = plugin.normalize(memo.state, pod, view, assumed)[:-1]
        return _checked(plugin, scores) * self.framework.weights[plugin.name]

    def _kept_total(self, memo: Memo) -> Ints:
        total = memo.flat
        for scores in memo.normal.values():
            total = total + scores
        return total

    # --- what is kept

    def memo(self, pod: Pod) -> Memo:
        """Return which rows pods of this shape may go to; no score is brought up to date."""
        key = (pod.shape.ordinal, pod.wanted_node)
        memo = self._memos.get(key)
        if memo is None:
            self._preempt()
            memo = self._memos[key] = self._new(pod)
        if memo.nodes_version != self.cluster.nodes_version:
            self._renew(memo, pod)
        elif memo.position != self.cluster.position:
            self._renew_rows(memo, pod, self._changed(memo.position))
        memo.position = self.cluster.position
        return memo

    def scored(self, pod: Pod) -> Memo:
        """Return what is known of pods of this shape, scores too."""
        memo = self.memo(pod)
        if memo.scored_nodes != self.cluster.nodes_version:
            self._score(memo, pod)
        elif memo.scored_position != self.cluster.position:
            self._score_rows(memo, pod, self._changed(memo.scored_position))
        memo.scored_position = self.cluster.position
        return memo

    def _changed(self, position: int) -> Rows | None:
        """Return the rows that changed since; None where all are asked sooner."""
        span = position, self.cluster.position
        if self._span != span:
            self._span, self._rows = span, None
            rows = self.cluster.changed_since(position)
            if rows is not None and len(rows) * 4 <= self.cluster.node_table.size + 64:
                self._rows = np.array(sorted(set(rows)), dtype=np.intp)
        return self._rows

    def _preempt(self) -> None:
        """Drop the oldest memos; what they held is worked out again when asked."""
        rows = max(1, self.cluster.node_table.size)
        while len(self._memos) >= max(16, _MEMO_BYTES // (rows * _BYTES_PER_ROW)):
            del self._memos[next(iter(self._memos))]

    def _new(self, pod: Pod) -> Memo:
        """Ask PreFilter and PreScore of the kept plug-ins what they skip."""
        state, refused = CycleState(), OK
        for plugin in self._node_filters + self._row_filters:
            if plugin.pre_filter(state, pod)[0].code is Code.SKIP:
                state.skip_filter.add(plugin.name)
        view = self.cluster.node_table.all()
        for plugin in self._node_scorers + self._row_scorers + self._peak_scorers:
            status = plugin.pre_score(state, pod, view)
            if status.code is Code.SKIP:
                state.skip_score.add(plugin.name)
            elif not status.ok and refused.ok:
                refused = status.by(plugin.name)
        return Memo(state, refused)

    def _renew(self, memo: Memo, pod: Pod) -> None:
        """Ask the filters again all that depends on Node objects."""
        view = self.cluster.node_table.all()
        memo.fixed = np.ones(view.size, dtype=np.bool_)
        for plugin in self._node_filters:
            if plugin.name not in memo.state.skip_filter:
                memo.fixed &= plugin.filter_rows(memo.state, pod, view) == 0
        memo.nodes_version = self.cluster.nodes_version
        self._renew_rows(memo, pod, None)

    def _renew_rows(self, memo: Memo, pod: Pod, rows: Rows | None) -> None:
        """Ask the filters again what depends on the pods of these rows (None: all)."""
        node_table = self.cluster.node_table
        view = node_table.all() if rows is None else node_table.only(rows)
        mask = memo.fixed.copy() if rows is None else memo.fixed[rows]
        for plugin in self._row_filters:
            if plugin.name not in memo.state.skip_filter:
                mask &= plugin.filter_rows(memo.state, pod, view) == 0
        if rows is None:
            memo.mask, memo.ranked = mask, None
        else:
            memo.mask[rows] = mask

    def _score(self, memo: Memo, pod: Pod) -> None:
        """Ask the scorers again all that depends on Node objects."""
        view = self.cluster.node_table.all()
        memo.fixed_sum = self._flat_sum(self._node_scorers, memo, pod, view)
        memo.raw.clear()
        memo.level.clear()
        memo.peaks.clear()
        memo.normal.clear()
        for plugin in self._peak_scorers:
            if plugin.name not in memo.state.skip_score:
                raw = plugin.score_rows(memo.state, pod, view)
                memo.raw[plugin.name] = raw
                if view.size and raw.min() == raw.max():
                    memo.level[plugin.name] = int(raw[0])
        memo.scored_nodes = self.cluster.nodes_version
        self._score_rows(memo, pod, None)

    def _score_rows(self, memo: Memo, pod: Pod, rows: Rows | None) -> None:
        """Ask the scorers again what depends on the pods of these rows (None: all)."""
        node_table = self.cluster.node_table
        view = node_table.all() if rows is None else node_table.only(rows)
        flat = self._flat_sum(self._row_scorers, memo, pod, view)
        if rows is None:
            memo.flat, memo.ranked = flat + memo.fixed_sum, None
            return
        flat += memo.fixed_sum[rows]
        memo.flat[rows] = flat
        if memo.ranked is not None:
            for scores in memo.normal.values():
                flat = flat + scores[rows]
            memo.ranked[rows] = np.where(memo.mask[rows], flat, _LOWEST)

    def _flat_sum(
        self, plugins: list[Plugin], memo: Memo, pod: Pod, view: View
    ) -> Ints:
        total: Ints = np.zeros(view.size, dtype=np.int64)
        for plugin in plugins:
            if plugin.name not in memo.state.skip_score:
                scores = _checked(plugin, plugin.score_rows(memo.state, pod, view))
                total += scores * self.framework.weights[plugin.name]
        return total


def _kept(plugin: Plugin) -> bool:
    """Return whether a scorer's raw scores can be kept per shape.

    One that normalizes must do so by the peak, and over Node objects alone.
    """
    if "normalize" in plugin.points:
        return plugin.normalizes_by_peak and plugin.scope == "node"
    return plugin.scope != "cluster"


def _checked(plugin: Plugin, scores: Ints) -> Ints:
    # Read as unsigned, what is below 0 is above all else: one look instead of two.
    # A plug-in from outside may give other integers than these.
    unsigned = scores.astype(np.int64, copy=False).view(np.uint64)
    if scores.size and unsigned.max() > MAX_SCORE:
        at = int(scores.max() if scores.max() > MAX_SCORE else scores.min())
        problem = f"plugin {plugin.name} returns an invalid score {at}, it should be"
        raise ScoreError(f"{problem} in the range of [0, {MAX_SCORE}]")
    return scores
