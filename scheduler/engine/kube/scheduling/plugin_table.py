"""The plug-in x node table of one pod: every verdict and score, on demand.

Worked out node by node with the plug-ins' plain methods, so that it also
checks the arrays; nothing in the scheduler changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from scheduler.engine.kube.cache.node_table import Ints, Mask, View
from scheduler.engine.kube.extender.extenders import PSEUDO_PLUGIN, ExtenderRecord
from scheduler.engine.kube.framework.framework import Framework, PreFilterResult
from scheduler.engine.kube.framework.plugin import MAX_SCORE, Plugin
from scheduler.engine.kube.framework.status import (
    Code,
    CycleState,
    Status,
)
from scheduler.engine.kube.scheduling.schedule_one import LOCK, LOCKED
from scheduler.engine.kube.scheduling.scheduler import Scheduler
from scheduler.model.pod import Pod


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
    record = scheduler.extenders.answer(found.pod, mask, scheduler.cluster)
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
