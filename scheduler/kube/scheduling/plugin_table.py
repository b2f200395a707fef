"""The plug-in x node table of one pod: every verdict and score, on demand.

Worked out node by node with the plug-ins' plain methods, so that it also
checks the arrays; nothing in the scheduler changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from scheduler.kube.cache.node_table import Ints, View
from scheduler.kube.framework.framework import Framework, PreFiltered
from scheduler.kube.framework.plugin import MAX_SCORE, Plugin
from scheduler.kube.framework.status import (
    Code,
    CycleState,
    Status,
)
from scheduler.kube.scheduling.scheduler import Process
from scheduler.records.pod import Pod


@dataclass(slots=True)
class ScoreColumn:
    """One scorer's numbers by node: raw, normalized; the total has the weight in."""

    weight: int
    skipped: bool = False
    raw: dict[str, int] = field(default_factory=dict)
    normalized: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Table:
    """What the filters and scorers say of every node for one pod."""

    pod: Pod
    pre_filter: Status
    narrowed: frozenset[str] | None
    skipped: list[str]
    filter: dict[str, Status] = field(default_factory=dict)
    scores: dict[str, ScoreColumn] = field(default_factory=dict)
    total: dict[str, int] = field(default_factory=dict)
    problem: str = ""  # an error that ends the cycle

    @property
    def feasible(self) -> list[str]:
        """Return the nodes that passed, in name order."""
        return [name for name, status in self.filter.items() if status.ok]

    @property
    def best(self) -> list[str]:
        """Return the nodes that share the highest total."""
        most = max(self.total.values(), default=0)
        return [name for name, total in self.total.items() if total == most]


def table(process: Process, pod: Pod) -> Table:
    """Return the table for a pod in the present state of a scheduler.

    O(nodes x plug-ins) in plain Python. Extenders are not asked.
    """
    framework = process.frameworks[pod.scheduler_name]
    memory = framework.remember()
    state = CycleState()
    try:
        before = framework.pre_filter(state, pod)
    finally:
        framework.recall(memory)
    found = Table(pod, before.status, before.names, sorted(state.skip_filter))
    if not before.status.ok:
        return found
    _filter(process, framework, state, found, before)
    _score(process, framework, state, found)
    return found


def _filter(
    process: Process,
    framework: Framework,
    state: CycleState,
    found: Table,
    before: PreFiltered,
) -> None:
    rivals = process.nominations.rivals(found.pod)
    by = " ".join(before.narrowed_by)
    excluded = Status(Code.UNRESOLVABLE, (f"node(s) didn't satisfy plugin(s) [{by}]",))
    for host in process.cluster.columns.hosts:
        name = host.node.name
        if before.names is not None and name not in before.names:
            found.filter[name] = excluded
            continue
        others = rivals.get(name, [])
        found.filter[name] = framework.filter_with(state, found.pod, host, others)


def _score(
    process: Process, framework: Framework, state: CycleState, found: Table
) -> None:
    names = found.feasible
    if not names:
        return
    hosts = process.cluster.hosts
    rows = np.array([hosts[name].row for name in names], dtype=np.intp)
    view = process.cluster.columns.only(rows)
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
    plugin: Plugin, state: CycleState, found: Table, view: View, column: ScoreColumn
) -> None:
    raw: Ints = np.array(
        [plugin.score(state, found.pod, host) for host in view.hosts], dtype=np.int64
    )
    normal = plugin.normalize(state, found.pod, view, raw)
    for host, score, level in zip(view.hosts, raw, normal, strict=True):
        name = host.node.name
        column.raw[name], column.normalized[name] = int(score), int(level)
        found.total[name] += int(level) * column.weight
        if not 0 <= level <= MAX_SCORE:
            found.problem = f"plugin {plugin.name} returns an invalid score {level}"
