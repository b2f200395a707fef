"""Decisions of kube-scheduler, taken again: one vector, and what differs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from scheduler.engine.kube.cache.pod_group import read_budget, read_group
from scheduler.engine.kube.extender.extenders import Extenders
from scheduler.engine.kube.extender.ports import DisabledExtender
from scheduler.engine.kube.framework.plugin import Candidate, QueuedPodInfo
from scheduler.engine.kube.framework.status import OK, CycleState, Status
from scheduler.engine.kube.plugins.default_preemption import DefaultPreemption
from scheduler.engine.kube.scheduling.host import AssumedPod, SchedulerRef
from scheduler.engine.kube.scheduling.scheduler import PluginTable, Scheduler, table
from scheduler.engine.stage import Context
from scheduler.model.durations import stamp_us
from scheduler.model.kube.configuration import read_configurations
from scheduler.model.kube.profiles import NOT_SIMULATED
from scheduler.model.node import read_node
from scheduler.model.objects import Key
from scheduler.model.pod import Pod, read_pod
from tests.conformance import kube_coscheduling

_MODES = ("evaluate", "sequence", "preempt", "queue", "coscheduling")
Shown = tuple[Any, Any]


def handles(vector: Mapping[str, Any]) -> bool:
    """Return whether this is a vector of kube-scheduler."""
    given = vector.get("input")
    return isinstance(given, dict) and given.get("mode") in _MODES


def show(vector: Mapping[str, Any]) -> Shown:
    """Return what the real one decided and what we decide."""
    given, expected = vector["input"], vector["expected"]
    shows: dict[str, Callable[[Any, Any], Shown]] = {
        "evaluate": _pods,
        "sequence": _pods,
        "preempt": _pods,
        "queue": _queue,
        "coscheduling": kube_coscheduling.show,
    }
    return shows[given["mode"]](given, expected)


def run(vector: Mapping[str, Any]) -> list[str]:
    """Return the differences, one text each; none means that it passed."""
    wanted, got = show(vector)
    return list(_differences("", wanted, got))


def _differences(path: str, wanted: Any, got: Any) -> list[str]:
    if isinstance(wanted, dict) and isinstance(got, dict):
        return [
            problem
            for key in sorted({*wanted, *got})
            for problem in _differences(f"{path}.{key}", wanted.get(key), got.get(key))
        ]
    if isinstance(wanted, list) and isinstance(got, list) and len(wanted) == len(got):
        return [
            problem
            for index, (left, right) in enumerate(zip(wanted, got, strict=True))
            for problem in _differences(f"{path}[{index}]", left, right)
        ]
    if wanted == got:
        return []
    return [f"{path.lstrip('.')}: expected {wanted!r}, got {got!r}"]


class _SchedulerHost:
    """The least a scheduler needs around it to evaluate pods."""

    bind_latency_ms = 0

    def lock(self, scheduler: SchedulerRef, node: str) -> None:
        pass

    def unlock(self, scheduler: SchedulerRef, node: str) -> None:
        pass

    def locked_for(self, scheduler: SchedulerRef) -> frozenset[str]:
        return frozenset()

    def commit(self, scheduler: SchedulerRef, assumed: AssumedPod) -> Status:
        return OK

    def remove_victim(
        self, victim: Pod, node: str, preemptor: Pod, plugin: str
    ) -> None:
        raise AssertionError("an evaluation removes nobody")

    def bind_volumes(self, pod: Key) -> None:
        """Do nothing: no vector has volumes."""

    def bind_devices(self, pod: Pod) -> None:
        """Do nothing: no vector has devices."""

    def group_members(self, group: Key) -> list[Pod]:
        return []

    def version(self, scheduler: SchedulerRef, node: str) -> int:
        return 0

    def node_version(self, node: str) -> int:
        return 1


def process_of(given: Mapping[str, Any]) -> Scheduler:
    """Return a scheduler with the nodes, pods and nominations of an input."""
    configuration = read_configurations(given.get("config") or {})[0]
    scheduler = Scheduler(
        Context(seed=0, epoch_us=stamp_us("2030-01-01T00:00:00Z")),
        _SchedulerHost(),
        configuration.profiles,
        timing=configuration.timing,
        extenders=lambda _: Extenders([], DisabledExtender(), lambda key: {}),
    )
    for node in given.get("nodes") or ():
        scheduler.cluster.put_node(read_node(node, node.get("status") or {}))
    for data in given.get("pods") or ():
        pod = read_pod(data, data.get("status") or {})
        scheduler.cluster.place(pod, pod.wanted_node)
    for data in given.get("namespaces") or ():
        labels = dict(data["metadata"].get("labels") or {})
        scheduler.cluster.namespaces[data["metadata"]["name"]] = labels
    for data in given.get("services") or ():
        metadata = data["metadata"]
        key = Key("Service", metadata.get("namespace", "default"), metadata["name"])
        scheduler.cluster.selecting.put(key, data)
    _nominate(scheduler, given)
    for data in given.get("pdbs") or ():
        namespace = data["metadata"].get("namespace", "default")
        budget = read_budget(data, data.get("status") or {}, namespace)
        scheduler.cluster.budgets[budget.key] = budget
    return scheduler


def _nominate(scheduler: Scheduler, given: Mapping[str, Any]) -> None:
    """Take up nominations. One of a pod that does not exist counts for nothing.

    kube-scheduler looks the pod up before it notes a nomination. Nominated pods
    exist if they are listed elsewhere, or if `nominatedExist` says so.
    """
    known = {
        (data["metadata"].get("namespace", "default"), data["metadata"]["name"])
        for data in [*(given.get("pods") or ()), *(given.get("pending") or ())]
    }
    for data in given.get("nominated") or ():
        pod = read_pod(data, data.get("status") or {})
        if given.get("nominatedExist") or (pod.namespace, pod.name) in known:
            scheduler.nominations.put(pod, pod.nominated)


# --- evaluate, sequence, preempt


def _pods(given: Mapping[str, Any], expected: Mapping[str, Any]) -> Shown:
    scheduler = process_of(given)
    wanted, got = [], []
    for data, entry in zip(given["pending"], expected["pods"], strict=True):
        pod = read_pod(data, data.get("status") or {})
        found = table(scheduler, pod)
        wanted.append(_wanted(entry, found))
        got.append(_got(scheduler, pod, found, entry))
        if entry.get("assumed"):
            scheduler.cluster.place(pod, entry["assumed"])
    return wanted, got


def _wanted(entry: Mapping[str, Any], found: PluginTable) -> dict[str, Any]:
    """Return the expectation, less what is said of plug-ins that are not here."""
    wanted = {key: value for key, value in entry.items() if key != "assumed"}
    wanted["skippedFilterPlugins"] = [
        name
        for name in entry.get("skippedFilterPlugins") or []
        if name not in NOT_SIMULATED
    ]
    wanted["scores"] = {
        name: scores
        for name, scores in (entry.get("scores") or {}).items()
        if name in found.scores
    }
    wanted["total"] = entry.get("total") or {}
    wanted["arrays"] = {
        "feasible": entry["feasible"],
        "total": entry.get("total") or {},
        "filter": entry["filter"],
        "best": entry["best"],
    }
    return wanted


def _got(
    scheduler: Scheduler, pod: Pod, found: PluginTable, entry: Mapping[str, Any]
) -> dict[str, Any]:
    got = {
        "pod": pod.key.path,
        "preFilter": _status(found.pre_filter),
        "skippedFilterPlugins": found.skipped,
        "filter": {name: _status(status) for name, status in found.filter.items()},
        "feasible": found.feasible,
        "scores": {name: _scores(column) for name, column in found.scores.items()},
        "total": found.total,
        "best": found.best,
        "arrays": _by_arrays(scheduler, pod),
    }
    if found.narrowed is not None:
        got["preFilterNodes"] = sorted(found.narrowed)
    if "preemption" in entry:
        got["preemption"] = _preemption(scheduler, pod)
    return got


def _status(status: Status) -> dict[str, Any]:
    shown: dict[str, Any] = {"code": status.code.text}
    if status.plugin:
        shown["plugin"] = status.plugin
    if status.reasons:
        shown["reasons"] = list(status.reasons)
    return shown


def _scores(column: Any) -> dict[str, Any]:
    if column.skipped:
        return {"weight": column.weight, "skipped": True}
    return {
        "weight": column.weight,
        "raw": column.raw,
        "normalized": column.normalized,
    }


def _by_arrays(scheduler: Scheduler, pod: Pod) -> dict[str, Any]:
    """Decide the way the scheduler does it, to hold it to the same answers."""
    evaluator = scheduler.searches[pod.scheduler_name].evaluator
    state = CycleState()
    before = evaluator.framework.pre_filter(state, pod)
    mask = evaluator.mask(state, pod, before.names)
    verdicts = evaluator.verdicts(state, pod, before)
    names = scheduler.cluster.node_table.names
    total: dict[str, int] = {}
    best: list[str] = []
    if mask.any():
        totals = evaluator.totals(CycleState(dict(state.data)), pod, mask)
        total = {names[row]: value for row, value in totals.items()}
        rows, _ = evaluator.best(state, pod, mask)
        best = [names[row] for row in rows]
    return {
        "feasible": [names[row] for row in np.flatnonzero(mask)],
        "total": total,
        "filter": {
            name: _status(verdicts.status(row)) for row, name in enumerate(names)
        },
        "best": best,
    }


def _preemption(scheduler: Scheduler, pod: Pod) -> dict[str, Any]:
    framework = scheduler.frameworks[pod.scheduler_name]
    plugin = framework.plugins["DefaultPreemption"]
    assert isinstance(plugin, DefaultPreemption)
    state = CycleState()
    before = framework.pre_filter(state, pod)
    evaluator = scheduler.searches[pod.scheduler_name].evaluator
    verdicts = evaluator.verdicts(state, pod, before)
    refusal = plugin.refusal(pod, verdicts)
    if refusal:
        return {"eligible": False, "reason": refusal, "nominatedTieSet": []}
    search = plugin.preemption()
    run = plugin.dry_run(search, state, pod, verdicts)
    shown: dict[str, Any] = {"eligible": True}
    if run.candidates:
        shown["candidates"] = {c.node: _candidate(c) for c in run.candidates}
    if run.failed:
        shown["nodesNotHelped"] = {n: _status(s) for n, s in run.failed.items()}
    tied = search.least_harm(run.candidates)
    shown["nominatedTieSet"] = sorted(candidate.node for candidate in tied)
    return shown


def _candidate(candidate: Candidate) -> dict[str, Any]:
    return {
        "victims": [pod.key.path for pod in candidate.victims],
        "numPDBViolations": candidate.violations,
    }


# --- queue


def _queue(given: Mapping[str, Any], expected: Mapping[str, Any]) -> Shown:
    scheduler = process_of({"config": _queue_configuration(given["queueSort"])})
    for data in given.get("podGroups") or ():
        group = read_group(data, data["metadata"].get("namespace", "default"))
        scheduler.cluster.groups[group.key] = group
    entries = []
    for item in given["queue"]:
        pod = read_pod(item["pod"], item["pod"].get("status") or {})
        entries.append(QueuedPodInfo(pod=pod, timestamp_us=stamp_us(item["timestamp"])))
    keyed = sorted((scheduler.sort.sort_key(q), q.pod.key.path) for q in entries)
    order: list[list[str]] = []
    last: Any = None
    for key, path in keyed:
        if key != last:
            order.append([])
        order[-1].append(path)
        last = key
    shown: dict[str, Any] = {"order": order}
    if "qosClass" in expected:
        shown["qosClass"] = {q.pod.key.path: q.pod.qos for q in entries}
    wanted = {**expected, "order": [sorted(group) for group in expected["order"]]}
    return wanted, shown


def _queue_configuration(sort: str) -> dict[str, Any]:
    sorts = {"enabled": [{"name": sort}], "disabled": [{"name": "*"}]}
    return {"profiles": [{"plugins": {"queueSort": sorts}}]}
