"""One cycle of a pod as a strip: every extension point, and what each plug-in said.

Asked now and without a change: what is behind the node's choice is told of the cycle
that the pod is in, or has behind it. Source: docs/semantics/kube-scheduler.md#extension-points.
"""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.analysis.explain.shapes import ExtensionPoint, PluginVerdict
from scheduler.engine.kube.extender.extenders import PSEUDO_PLUGIN
from scheduler.engine.kube.framework.framework import Framework
from scheduler.engine.kube.framework.plugin import Plugin
from scheduler.engine.kube.framework.status import Code, Status
from scheduler.engine.kube.scheduling.host import AssumedPod
from scheduler.engine.kube.scheduling.scheduler import PluginTable, Scheduler
from scheduler.engine.yunikorn.shim.recorder import scheduled_condition
from scheduler.model.kube.profiles import POINTS
from scheduler.model.objects import Object
from scheduler.model.sentence import counted

_NONE_LEFT = "not asked: no node is left"


def points_of(
    scheduler: Scheduler, obj: Object, table: PluginTable
) -> list[ExtensionPoint]:
    """Return the points in order, each with its plug-ins in theirs."""
    framework = scheduler.frameworks[table.pod.scheduler_name]
    said = _Said(scheduler, framework, obj, table)
    return [
        ExtensionPoint(
            point=name[0].upper() + name[1:],
            plugins=[
                *(said.of(name, plugin) for plugin in framework.points[ours]),
                *said.extenders(name),
            ],
        )
        for name, (ours, _) in POINTS.items()
    ]


def not_run(points: list[ExtensionPoint]) -> list[ExtensionPoint]:
    """Return the points of a pod that came with its node: no plug-in was asked."""
    return [
        ExtensionPoint(
            point=point.point,
            plugins=[
                PluginVerdict(plugin=one.plugin, verdict="notRun")
                for one in point.plugins
            ],
        )
        for point in points
    ]


class _Said:
    def __init__(
        self,
        scheduler: Scheduler,
        framework: Framework,
        obj: Object,
        table: PluginTable,
    ) -> None:
        self.framework = framework
        self.filtering = scheduler.extenders.filtering(table.pod)
        self.table = table
        self.node: str = obj.spec.get("nodeName") or ""
        self.assumed: AssumedPod | None = scheduler.assumed.get(obj.key)
        self.message = next(_unscheduled(obj), "")
        self.pre_enqueued = framework.pre_enqueue(table.pod)
        self.requests = {
            verb: [one for one in table.requests if one.verb in verbs]
            for verb, verbs in (
                ("filter", {e.filter_verb for e in scheduler.extenders.extenders}),
                ("score", {e.prioritize_verb for e in scheduler.extenders.extenders}),
            )
        }
        order = [p.name for p in framework.filters if p.name not in table.skipped]
        #: Filter -> on how many nodes it is asked: where none before it refused.
        self.asked = dict.fromkeys(order, 0)
        for status in table.filter.values():
            last = order.index(status.plugin) + 1 if status.plugin in order else None
            passed = status.ok or status.plugin == PSEUDO_PLUGIN
            for name in order if passed else order[: last or 0]:
                self.asked[name] += 1

    def of(self, point: str, plugin: Plugin) -> PluginVerdict:
        """Return the verdict of a plug-in at an extension point."""
        verdict, detail = self._at(point, plugin)
        return PluginVerdict(plugin=plugin.name, verdict=verdict, detail=detail)

    def extenders(self, point: str) -> Iterator[PluginVerdict]:
        """Yield the verdicts of extenders; a filter that left no node ends before them."""
        if point == "filter" and self.filtering and self.table.filter:
            refused = [
                s for s in self.table.filter.values() if s.plugin == PSEUDO_PLUGIN
            ]
            if not refused and not self.table.feasible:
                found = "idle", _NONE_LEFT
            elif refused:
                found = "refused", _reasons(refused, len(self.table.filter))
            else:
                found = "ok", ""
            yield self._of_requests(point, *found)
        if point == "score" and PSEUDO_PLUGIN in self.table.scores:
            yield self._of_requests(point, *self._scored(PSEUDO_PLUGIN))

    def _of_requests(self, point: str, verdict: str, detail: str) -> PluginVerdict:
        """Return the verdict of the extenders with what the requests hold."""
        sent = [
            f"{counted(one.nodes, 'node')} in {one.size} bytes"
            for one in self.requests[point]
        ]
        said = "; ".join([*filter(None, [detail]), *sent])
        return PluginVerdict(PSEUDO_PLUGIN, verdict, said)

    def _at(self, point: str, plugin: Plugin) -> tuple[str, str]:
        if point == "preEnqueue":
            status = plugin.pre_enqueue(self.table.pod)
            return ("ok", "") if status.ok else ("refused", status.message)
        if not self.pre_enqueued.ok:
            return "idle", ""
        if point == "queueSort":
            return "ok", f"priority {self.table.pod.priority}"
        if point == "preFilter":
            return self._pre_filter(plugin)
        if point == "filter":
            return self._filter(plugin)
        if point == "postFilter":
            idle = bool(self.table.feasible or self.node or self.assumed)
            return ("idle", "") if idle else ("ok", self.message)
        if point in ("preScore", "score"):
            return self._score(point, plugin)
        return self._after(point, plugin)

    def _pre_filter(self, plugin: Plugin) -> tuple[str, str]:
        status = self.table.pre_filters.get(plugin.name)
        if status is None:
            return "idle", ""
        if status.code is Code.SKIP:
            return "skip", ""
        return ("ok", "") if status.ok else ("refused", status.message)

    def _filter(self, plugin: Plugin) -> tuple[str, str]:
        if not self.table.pre_filter.ok:
            return "idle", ""
        if plugin.name in self.table.skipped:
            return "skip", ""
        refused = [s for s in self.table.filter.values() if s.plugin == plugin.name]
        asked, nodes = self.asked[plugin.name], len(self.table.filter)
        if not asked and nodes:
            return "idle", _NONE_LEFT
        if refused:
            return "refused", _reasons(refused, asked)
        return "ok", "" if asked == nodes else f"asked about {asked} of {nodes} nodes"

    def _score(self, point: str, plugin: Plugin) -> tuple[str, str]:
        column = self.table.scores.get(plugin.name)
        if column is None:
            return "idle", ""
        if column.skipped:
            return "skip", ""
        return ("ok", "") if point == "preScore" else self._scored(plugin.name)

    def _scored(self, name: str) -> tuple[str, str]:
        column = self.table.scores[name]
        most = max(column.normalized.values(), default=0)
        best = [name for name, score in column.normalized.items() if score == most]
        return "ok", f"{most} x {column.weight}: {', '.join(best)}"

    def _after(self, point: str, plugin: Plugin) -> tuple[str, str]:
        """Return what was said once a node was chosen: of the pod as it stands."""
        if self.node:
            return "ok", self.node
        if self.assumed is None:
            return "idle", ""
        if point == "reserve":
            return "ok", self.assumed.node
        if point == "permit":
            until = self.assumed.waits.get(plugin.name)
            if until is not None:
                return "wait", f"{self.assumed.node}, until {until / 1000:g} s"
            return "ok", self.assumed.node
        return "idle", ""


def _reasons(refused: list[Status], of: int) -> str:
    reasons = dict.fromkeys(r for status in refused for r in status.reasons)
    return f"{len(refused)} of {of}: {', '.join(reasons)}"


def _unscheduled(obj: Object) -> Iterator[str]:
    found = scheduled_condition(obj)
    if found is not None and found["status"] != "True":
        yield found.get("message", "")
