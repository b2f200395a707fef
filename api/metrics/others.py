"""Our own clock, and the names of YuniKorn and kube-scheduler.

Source: <https://yunikorn.apache.org/docs/performance/metrics>, <https://kubernetes.io/docs/reference/instrumentation/metrics/>
"""

from __future__ import annotations

import math
import re
from collections import Counter

import msgspec

from api.metrics.exposition import Exposition
from sandbox.explain.counting import PodCounts
from sandbox.forecasts.outcomes import kept_of
from sandbox.models import KeptForecast, Sandbox
from sandbox.page.diffs import Page, Row
from sandbox.page.rows.transport import KEY as SANDBOX_KEY
from scheduler.analysis.forecast.starts import Forecast


def add_own(out: Exposition, sandbox: Sandbox, common: dict[str, str]) -> None:
    """Add the sandbox's clock."""
    for name, help_, value in (
        ("quotalab_simulated_seconds", "Virtual time", sandbox.now_ms / 1000),
        ("quotalab_tick", "Ticks made", sandbox.tick),
        ("quotalab_revision", "Commits made", sandbox.revision),
        ("quotalab_playing", "1 while time runs", sandbox.playing),
    ):
        out.add(name, "gauge", help_, value, common)


def add_cost(out: Exposition, page: Page, common: dict[str, str]) -> None:
    """Add what nodes that come and go cost, where there are any."""
    row = page.get(SANDBOX_KEY) or {}
    for name, kind, help_, field in (
        ("quotalab_cluster_cost_total", "counter", "Cost of nodes so far", "cost"),
        (
            "quotalab_cluster_cost_per_hour",
            "gauge",
            "What an hour of the nodes costs",
            "costPerHour",
        ),
    ):
        if row.get(field) is not None:
            out.add(name, kind, help_, row[field], common)


def add_yunikorn(
    out: Exposition, page: Page, counts: PodCounts, common: dict[str, str]
) -> None:
    """Add queues, applications, containers and nodes as YuniKorn counts them."""
    rows = list(page.values())
    for row in rows:
        if row["kind"] == "Queue":
            _queue(out, row, counts, common)
    apps = [row for row in rows if row["kind"] == "Application"]
    by_queue = Counter((app["queue"], app["state"].lower()) for app in apps)
    for (queue, state), number in sorted(by_queue.items()):
        labels = {**common, "queue": queue, "state": state}
        out.add("yunikorn_queue_app", "gauge", "Applications", number, labels)
        if state in ("completed", "failed", "rejected"):
            name, help_ = "yunikorn_queue_app_total", "Applications that ended"
            out.add(name, "counter", help_, number, labels)
    states = Counter(app["state"].lower() for app in apps)
    for state, number in sorted(states.items()):
        labels = {**common, "state": state}
        name = "yunikorn_scheduler_application_total"
        out.add(name, "gauge", "Applications by state", number, labels)
    _attempts(out, counts, states, common)
    _nodes(out, rows, common)
    _usage(out, rows, common)
    for word in ("created", "channeled", "processed", "stored"):
        name, help_ = f"yunikorn_event_total_{word}", f"Events {word}"
        out.add(name, "gauge", help_, counts.events, common)


def _attempts(
    out: Exposition, counts: PodCounts, states: Counter[str], common: dict[str, str]
) -> None:
    placed, failed = sum(counts.allocated.values()), sum(counts.unschedulable.values())
    name = "yunikorn_scheduler_container_allocation_attempt_total"
    for state, number in (("allocated", placed), ("rejected", failed), ("error", 0)):
        labels = {**common, "state": state}
        out.add(name, "counter", "Attempts to place a container", number, labels)
    name = "yunikorn_scheduler_application_submission_total"
    rejected = states["rejected"]
    total = states.total()
    for result, number in (("accepted", total - rejected), ("rejected", rejected)):
        labels = {**common, "result": result}
        out.add(name, "counter", "Applications submitted", number, labels)


_ODD = re.compile(r"[^a-zA-Z0-9_]")


def _queue(
    out: Exposition, row: Row, counts: PodCounts, common: dict[str, str]
) -> None:
    own = {**common, "queue": row["name"]}
    for state in ("guaranteed", "max", "allocated", "pending"):
        for resource, amount in row[state].items():
            labels = {**own, "state": state, "resource": resource}
            name, help_ = "yunikorn_queue_resource", "Resources of a queue"
            out.add(name, "gauge", help_, int(amount), labels)
    if not row["leaf"]:
        return
    name = f"yunikorn_{_ODD.sub('_', row['name'])}_queue_container"
    for state, found in (
        ("allocated", counts.allocated),
        ("released", counts.released),
    ):
        labels = {**common, "state": state}
        help_ = "Containers of the queue"
        out.add(name, "counter", help_, found[row["name"]], labels)


_NODE_STATES = {"ready": "active", "cordoned": "draining", "failed": "failed"}


def _nodes(out: Exposition, rows: list[Row], common: dict[str, str]) -> None:
    states = Counter(
        _NODE_STATES[row["state"]] for row in rows if row["kind"] == "Node"
    )
    for state in _NODE_STATES.values():
        labels = {**common, "state": state}
        name = "yunikorn_scheduler_node"
        out.add(name, "gauge", "Nodes by state", states[state], labels)


_TENTHS = ("[0,10%]", *(f"({n}0%,{n + 1}0%]" for n in range(1, 10)))


def _usage(out: Exposition, rows: list[Row], common: dict[str, str]) -> None:
    """Add how many nodes are how full, by resource and tenth."""
    found: dict[str, Counter[int]] = {}
    for row in rows:
        if row["kind"] != "Node":
            continue
        for resource, amount in row["allocatable"].items():
            share = int(row["used"].get(resource, 0)) / (int(amount) or 1)
            tenth = min(9, max(0, math.ceil(share * 10) - 1))
            found.setdefault(resource, Counter())[tenth] += 1
    for resource, tenths in sorted(found.items()):
        word = "vcore" if resource == "cpu" else _ODD.sub("_", resource)
        name = f"yunikorn_scheduler_{word}_node_usage_total"
        for n, range_ in enumerate(_TENTHS):
            labels = {**common, "range": range_}
            out.add(name, "gauge", "Nodes by how full they are", tenths[n], labels)


_QUEUES = {"pending": "active", "gated": "gated", "waiting": "active"}
_POD_BUCKETS = tuple(0.01 * 2**n for n in range(20))
_VICTIM_BUCKETS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
_ATTEMPT_BUCKETS = (1.0, 2.0, 4.0, 8.0, 16.0)


def add_kube(
    out: Exposition, page: Page, counts: PodCounts, common: dict[str, str]
) -> None:
    """Add what kube-scheduler has waiting, and what it did."""
    pods = [row for row in page.values() if row["kind"] == "Pod"]
    if not pods and not counts.events:
        return
    waiting = Counter(_line(row) for row in pods if row["phase"] in _QUEUES)
    for queue in ("active", "backoff", "gated", "unschedulable"):
        labels = {**common, "queue": queue}
        name, help_ = "scheduler_pending_pods", "Pods without a node"
        out.add(name, "gauge", help_, waiting[queue], labels)
    _kube_attempts(out, counts, common)
    name, help_ = "scheduler_preemption_victims", "Victims of each preemption"
    victims = list(counts.victims.values())
    out.observe(name, help_, victims, common, buckets=_VICTIM_BUCKETS)
    nodes = sum(row["kind"] == "Node" for row in page.values())
    placed = sum(bool(row["node"]) for row in pods)
    for kind, number in (("nodes", nodes), ("pods", placed), ("assumed_pods", 0)):
        labels = {**common, "type": kind}
        name, help_ = "scheduler_scheduler_cache_size", "What the cache holds"
        out.add(name, "gauge", help_, number, labels)


def _kube_attempts(out: Exposition, counts: PodCounts, common: dict[str, str]) -> None:
    for result, found in (
        ("scheduled", counts.scheduled),
        ("unschedulable", counts.unschedulable),
    ):
        for profile, number in sorted(found.items()):
            own = {"result": result, "profile": profile or "default-scheduler"}
            name, help_ = "scheduler_schedule_attempts_total", "Attempts by result"
            out.add(name, "counter", help_, number, {**common, **own})
    name, help_ = "scheduler_preemption_attempts_total", "Preemptions so far"
    out.add(name, "counter", help_, len(counts.victims), common)
    name, help_ = "scheduler_pod_scheduling_attempts", "Attempts until a pod is placed"
    tried = [float(number) for number in counts.attempts]
    out.observe(name, help_, tried, common, buckets=_ATTEMPT_BUCKETS)
    name = "scheduler_pod_scheduling_sli_duration_seconds"
    help_ = "From arrival to a node, in seconds"
    for attempts, waits in sorted(counts.waits.items()):
        labels = {**common, "attempts": str(attempts) if attempts < 16 else "16+"}
        out.observe(name, help_, waits, labels, buckets=_POD_BUCKETS)


def _line(row: Row) -> str:
    if row["phase"] == "pending" and row["reason"]:
        return "unschedulable"
    return _QUEUES[row["phase"]]


# ------------------------------------------------------------------------
# When waiting Workloads start, as the newest kept forecast has it.


NAME = "quotalab_forecast_start_seconds"
_HELP = "Until a waiting Workload starts, by quantile, from now; +Inf is beyond"
_WAITS = ("pending", "inadmissible", "reserved")


def add_forecast(
    out: Exposition, sandbox: Sandbox, page: Page, common: dict[str, str]
) -> None:
    """Add three quantiles of each Workload that was forecast and waits still."""
    rows = kept_of(sandbox).filter(state=KeptForecast.DONE)
    answer = rows.order_by("-pk").values_list("answer", flat=True).first()
    if answer is None:
        return
    found = msgspec.convert(answer, Forecast)
    passed = sandbox.now_ms - found.now_ms
    for one in found.starts if passed >= 0 else ():
        row = page.get(one.workload)
        if row is None or row["phase"] not in _WAITS:
            continue
        labels = {**common, "namespace": row["namespace"], "workload": row["name"]}
        labels["local_queue"] = one.queue
        for level, ms in (
            ("0.1", one.p10_ms),
            ("0.5", one.p50_ms),
            ("0.9", one.p90_ms),
        ):
            left = math.inf if ms is None else max(ms - passed, 0) / 1000
            out.add(NAME, "gauge", _HELP, left, {**labels, "quantile": level})
