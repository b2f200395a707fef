"""One scheduler: its view, its queue, its profiles, its assumed pods."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from scheduler.engine.kube.cache.node_info import Ints, Mask, View
from scheduler.engine.kube.extender.extenders import (
    PSEUDO_PLUGIN,
    ExtenderRecord,
    Request,
)
from scheduler.engine.kube.framework.framework import Framework, PreFilterResult
from scheduler.engine.kube.framework.plugin import (
    MAX_PERMIT_MS,
    MAX_SCORE,
    Plugin,
    QueuedPodInfo,
)
from scheduler.engine.kube.framework.status import REJECTED, Code, CycleState, Status
from scheduler.engine.kube.scheduling.binding_cycles import BindingCycles
from scheduler.engine.kube.scheduling.event_handlers import one_node
from scheduler.engine.kube.scheduling.host import AssumedPod
from scheduler.engine.kube.scheduling.schedule_one import LOCK, LOCKED, SearchResult
from scheduler.model.decisions import PermitWait, Reserve
from scheduler.model.pod import Pod


class Scheduler(BindingCycles):
    """A kube-scheduler: one loop over one queue, for every profile it has.

    Source: docs/semantics/kube-scheduler.md#scheduling-cycle-and-binding-cycle.
    """

    def schedule_one(self) -> QueuedPodInfo | None:
        """Try the next pod; return it, None when there is none to try now."""
        queued = self._next_pod()
        if queued is None:
            return None
        if queued.pod.terminating:
            self._skip(queued)
        elif not self._repeats(queued):
            self._scheduling_cycle(queued)
        if self.deleted:
            self._end_deleted()
        if self.to_activate:
            self._activate()
        return queued

    def _skip(self, queued: QueuedPodInfo) -> None:
        """Set a pod that is being deleted aside for good.

        Source: docs/semantics/kube-scheduler.md#scheduling-queue.
        """
        self.queue.done(queued)
        said = f"skip schedule deleting pod: {queued.pod.key.path}"
        self._tell_failure(queued, "FailedScheduling", said)

    def _repeats(self, queued: QueuedPodInfo) -> bool:
        """Count an attempt whose end is known instead of making it; return whether it is.

        An equal pod failed and no node has changed since.
        """
        search = self.searches[queued.pod.scheduler_name]
        failure = search.evaluator.repeated(queued.pod)
        if failure is None or not search.fails_alike(
            queued.pod, self.host.locked_for(self)
        ):
            return False
        queued.rejectors.update(failure.rejectors)
        self._handle_failure(queued, REJECTED, failure.message)
        return True

    def _next_pod(self) -> QueuedPodInfo | None:
        """Return the pod to decide on now: answers of extenders take their time."""
        now = self.context.now_ms
        if self.asking is None:
            queued = self.queue.pop()
            if queued is None or not self.extenders.extenders:
                return queued
            search = self.searches[queued.pod.scheduler_name]
            locked = self.host.locked_for(self)
            delay = search.extender_ms(queued.pod, start=self.scan_start, locked=locked)
            if not delay:
                return queued
            self.asking = queued.pod.key, now + delay
        key, ends = self.asking
        if ends > now:
            return None
        self.asking = None
        queued = self.queue.entries.get(key)
        return queued if queued is not None else self._next_pod()

    def _scheduling_cycle(self, queued: QueuedPodInfo) -> None:
        pod, state = queued.pod, CycleState()
        framework = self.frameworks[pod.scheduler_name]
        search = self.searches[pod.scheduler_name]
        locked = self.host.locked_for(self)
        found = search.find(
            state, pod, queued.attempts, start=self.scan_start, locked=locked
        )
        size = self.cluster.node_table.size
        if size:
            self.scan_start = (self.scan_start + search.looked) % size
        if found.node:
            self._assume(queued, framework, state, found.node)
        elif found.failure is not None:
            queued.rejectors.update(found.failure.rejectors)
            self._handle_failure(queued, found.status, found.failure.message)
        elif found.verdicts is not None:
            self._no_node(queued, framework, state, found)
        else:
            self._handle_failure(queued, found.status, found.status.message)

    def _assume(
        self, queued: QueuedPodInfo, framework: Framework, state: CycleState, node: str
    ) -> None:
        """Assume the pod on the node, reserve, ask Permit, start the binding."""
        pod = queued.pod
        assumed = AssumedPod(queued=queued, node=node, framework=framework, state=state)
        assumed.seen = self.host.version(self, node)
        assumed.read = self.host.node_version(node)
        assumed.order, self.next_order = self.next_order, self.next_order + 1
        self.cluster.place(pod, node)
        status = framework.reserve(state, pod, node)
        waits: dict[str, int] = {}
        if status.ok:
            status, waits = framework.permit(state, pod, node)
            if status.code not in (Code.SUCCESS, Code.WAIT):
                framework.unreserve(state, pod, node)
        if status.code not in (Code.SUCCESS, Code.WAIT):
            self.cluster.unplace(pod.key)
            self._handle_failure(queued, status, one_node(status))
            return
        self.assumed[pod.key] = assumed
        self.host.lock(self, node)
        self.nominations.remove(pod.key)
        self.context.journal.touch(pod.key)
        self._emit(Reserve(at_ms=self.context.now_ms, subject=pod.key, node=node))
        if waits:
            self._wait(assumed, waits)
        else:
            self._start_binding(assumed)

    def _wait(self, assumed: AssumedPod, waits: dict[str, int]) -> None:
        now = self.context.now_ms
        for plugin, wait_ms in waits.items():
            assumed.waited_ms[plugin] = min(wait_ms, MAX_PERMIT_MS)
            assumed.waits[plugin] = now + assumed.waited_ms[plugin]
        self._emit(
            PermitWait(
                at_ms=now,
                subject=assumed.pod.key,
                node=assumed.node,
                deadline_ms=min(assumed.waits.values()),
                reason=", ".join(sorted(waits)),
            )
        )

    def _no_node(
        self,
        queued: QueuedPodInfo,
        framework: Framework,
        state: CycleState,
        found: SearchResult,
    ) -> None:
        """Run PostFilter; put the pod back with all that was said."""
        verdicts = found.verdicts
        assert verdicts is not None
        reasons: list[str] = []
        nominated: str | None = None
        for plugin in framework.points["post_filter"]:
            status, node = plugin.post_filter(state, queued.pod, verdicts)
            framework.note("PostFilter", plugin, queued.pod, status)
            nominated = node if node is not None else nominated
            if status.ok and node:
                reasons = []
                break
            reasons += status.reasons
            if status.code in (Code.UNRESOLVABLE, Code.ERROR):
                break
        rejectors = verdicts.plugins()
        queued.rejectors.update(rejectors)
        message = verdicts.message(", ".join(reasons))
        if nominated is not None:
            self.nominate(queued.pod, nominated)
        if not (nominated or verdicts.special or verdicts.rejected):
            self._note_failure(queued.pod, framework, state, message, rejectors)
        self._handle_failure(queued, found.status, message)

    def _note_failure(
        self,
        pod: Pod,
        framework: Framework,
        state: CycleState,
        message: str,
        rejectors: list[str],
    ) -> None:
        """Keep what an attempt came to for equal pods, where it is the same for them."""
        search = self.searches[pod.scheduler_name]
        alike = search.fails_alike(pod, self.host.locked_for(self)) and all(
            plugin.fails_alike() for plugin in framework.points["post_filter"]
        )
        if alike:
            search.evaluator.note_failure(state, pod, message, tuple(rejectors))


# ------------------------------------------------------------------------
# The plug-in x node table of one pod: every verdict and score, on demand.


@dataclass(slots=True)
class ScoreColumn:
    """One scorer's numbers by node: raw, normalized; the total has the weight in."""

    weight: int
    skipped: bool = False
    raw: dict[str, int] = field(default_factory=dict)
    normalized: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class PluginTable:
    """What the filters and scorers say of every node for one pod."""

    pod: Pod
    pre_filter: Status
    narrowed: frozenset[str] | None
    skipped: list[str]
    filter: dict[str, Status] = field(default_factory=dict)
    scores: dict[str, ScoreColumn] = field(default_factory=dict)
    total: dict[str, int] = field(default_factory=dict)
    problem: str = ""  # an error that ends the cycle
    pre_filters: dict[str, Status] = field(default_factory=dict)  # by plug-in
    requests: list[Request] = field(default_factory=list)  # to extenders

    @property
    def feasible(self) -> list[str]:
        """Return the nodes that passed, in name order."""
        return [name for name, status in self.filter.items() if status.ok]

    @property
    def best(self) -> list[str]:
        """Return the nodes that share the highest total."""
        most = max(self.total.values(), default=0)
        return [name for name, total in self.total.items() if total == most]


def table(scheduler: Scheduler, pod: Pod) -> PluginTable:
    """Return the table for a pod in the present state of a scheduler.

    O(nodes x plug-ins) in plain Python. Of extenders the recorded answers count.
    """
    framework = scheduler.frameworks[pod.scheduler_name]
    kept = framework.dump_state()
    state = CycleState()
    heard: dict[str, Status] = {}
    listening = framework.trace
    framework.trace = lambda call: heard.update({call.plugin: call.status})
    try:
        before = framework.pre_filter(state, pod)
    finally:
        framework.trace = listening
        framework.load_state(kept)
    found = PluginTable(pod, before.status, before.names, sorted(state.skip_filter))
    found.pre_filters = heard
    if not before.status.ok:
        return found
    _filter(scheduler, framework, state, found, before)
    for name in scheduler.host.locked_for(scheduler):
        if name in found.filter and found.filter[name].ok:
            found.filter[name] = Status(Code.UNRESOLVABLE, (LOCKED,), LOCK)
    record = _refuse(scheduler, found)
    if found.problem:
        return found
    _score(scheduler, framework, state, found)
    _add_scores(found, record.scores)
    return found


def _refuse(scheduler: Scheduler, found: PluginTable) -> ExtenderRecord:
    """Take out the nodes that extenders refuse."""
    mask: Mask = np.zeros(scheduler.cluster.node_table.size, dtype=np.bool_)
    for name in found.feasible:
        mask[scheduler.cluster.node_infos[name].row] = True
    record, found.requests = scheduler.extenders.answer(
        found.pod, mask, scheduler.cluster
    )
    found.problem = record.problem
    for name in found.feasible:
        if name in record.refused:
            code, message = record.refused[name]
            found.filter[name] = Status(Code(code), (message,), PSEUDO_PLUGIN)
    return record


def _add_scores(found: PluginTable, scores: dict[str, int]) -> None:
    """Add what extenders give; it has no weight of its own any longer."""
    if not scores or not found.total:
        return
    column = found.scores[PSEUDO_PLUGIN] = ScoreColumn(weight=1)
    for name in found.total:
        column.raw[name] = column.normalized[name] = scores.get(name, 0)
        found.total[name] += scores.get(name, 0)


def _filter(
    scheduler: Scheduler,
    framework: Framework,
    state: CycleState,
    found: PluginTable,
    before: PreFilterResult,
) -> None:
    rivals = scheduler.nominations.rivals(found.pod)
    by = " ".join(before.narrowed_by)
    excluded = Status(Code.UNRESOLVABLE, (f"node(s) didn't satisfy plugin(s) [{by}]",))
    for node_info in scheduler.cluster.node_table.node_infos:
        name = node_info.node.name
        if before.names is not None and name not in before.names:
            found.filter[name] = excluded
            continue
        others = rivals.get(name, [])
        found.filter[name] = framework.filter_with(state, found.pod, node_info, others)


def _score(
    scheduler: Scheduler, framework: Framework, state: CycleState, found: PluginTable
) -> None:
    names = found.feasible
    if not names:
        return
    node_infos = scheduler.cluster.node_infos
    rows = np.array([node_infos[name].row for name in names], dtype=np.intp)
    view = scheduler.cluster.node_table.only(rows)
    found.total = dict.fromkeys(names, 0)
    for plugin in framework.scorers:
        column = ScoreColumn(framework.weights[plugin.name])
        found.scores[plugin.name] = column
        status = plugin.pre_score(state, found.pod, view)
        if status.code is Code.SKIP:
            column.skipped = True
        elif not status.ok:
            found.problem = status.message
            return
        else:
            _fill(plugin, state, found, view, column)


def _fill(
    plugin: Plugin,
    state: CycleState,
    found: PluginTable,
    view: View,
    column: ScoreColumn,
) -> None:
    raw: Ints = np.array(
        [plugin.score(state, found.pod, node_info) for node_info in view.node_infos],
        dtype=np.int64,
    )
    normal = plugin.normalize(state, found.pod, view, raw)
    for node_info, score, level in zip(view.node_infos, raw, normal, strict=True):
        name = node_info.node.name
        column.raw[name], column.normalized[name] = int(score), int(level)
        found.total[name] += int(level) * column.weight
        if not 0 <= level <= MAX_SCORE:
            found.problem = f"plugin {plugin.name} returns an invalid score {level}"
