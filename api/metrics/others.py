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
from scheduler.model.amounts import CPU


def add_own(out: Exposition, sandbox: Sandbox, page: Page) -> None:
    """Add the sandbox's clock, and what nodes that come and go cost."""
    for name, help_, value in (
        ("quotalab_simulated_seconds", "Virtual time", sandbox.now_ms / 1000),
        ("quotalab_tick", "Ticks made", sandbox.tick),
        ("quotalab_revision", "Commits made", sandbox.revision),
        ("quotalab_playing", "1 while time runs", sandbox.playing),
    ):
        out.gauge(name, help_, value)
    row = page.get(SANDBOX_KEY) or {}
    if (cost := row.get("cost")) is not None:
        out.counter("quotalab_cluster_cost_total", "Cost of nodes so far", cost)
    if (cost := row.get("costPerHour")) is not None:
        name, help_ = (
            "quotalab_cluster_cost_per_hour",
            "What an hour of the nodes costs",
        )
        out.gauge(name, help_, cost)


def add_yunikorn(out: Exposition, page: Page, counts: PodCounts) -> None:
    """Add queues, applications, containers and nodes as YuniKorn counts them."""
    rows = list(page.values())
    for row in rows:
        if row["kind"] == "Queue":
            _queue(out, row, counts)
    apps = [row for row in rows if row["kind"] == "Application"]
    by_queue = Counter((app["queue"], app["state"].lower()) for app in apps)
    for (queue, state), number in sorted(by_queue.items()):
        own = out.under(queue=queue, state=state)
        own.gauge("yunikorn_queue_app", "Applications", number)
        if state in ("completed", "failed", "rejected"):
            own.counter("yunikorn_queue_app_total", "Applications that ended", number)
    states = Counter(app["state"].lower() for app in apps)
    for state, number in sorted(states.items()):
        name = "yunikorn_scheduler_application_total"
        out.gauge(name, "Applications by state", number, state=state)
    _attempts(out, counts, states)
    _nodes(out, rows)
    _usage(out, rows)
    for word in ("created", "channeled", "processed", "stored"):
        out.gauge(f"yunikorn_event_total_{word}", f"Events {word}", counts.events)


def _attempts(out: Exposition, counts: PodCounts, states: Counter[str]) -> None:
    placed, failed = sum(counts.allocated.values()), sum(counts.unschedulable.values())
    name = "yunikorn_scheduler_container_allocation_attempt_total"
    for state, number in (("allocated", placed), ("rejected", failed), ("error", 0)):
        out.counter(name, "Attempts to place a container", number, state=state)
    name = "yunikorn_scheduler_application_submission_total"
    rejected = states["rejected"]
    accepted = states.total() - rejected
    for result, number in (("accepted", accepted), ("rejected", rejected)):
        out.counter(name, "Applications submitted", number, result=result)


_ODD = re.compile(r"[^a-zA-Z0-9_]")


def _queue(out: Exposition, row: Row, counts: PodCounts) -> None:
    own = out.under(queue=row["name"])
    for state in ("guaranteed", "max", "allocated", "pending"):
        for resource, amount in row[state].items():
            name, help_ = "yunikorn_queue_resource", "Resources of a queue"
            own.gauge(name, help_, int(amount), state=state, resource=resource)
    if not row["leaf"]:
        return
    name = f"yunikorn_{_ODD.sub('_', row['name'])}_queue_container"
    for state, found in (
        ("allocated", counts.allocated),
        ("released", counts.released),
    ):
        out.counter(name, "Containers of the queue", found[row["name"]], state=state)


_NODE_STATES = {"ready": "active", "cordoned": "draining", "failed": "failed"}


def _nodes(out: Exposition, rows: list[Row]) -> None:
    states = Counter(
        _NODE_STATES[row["state"]] for row in rows if row["kind"] == "Node"
    )
    for state in _NODE_STATES.values():
        name, help_ = "yunikorn_scheduler_node", "Nodes by state"
        out.gauge(name, help_, states[state], state=state)


_TENTHS = ("[0,10%]", *(f"({n}0%,{n + 1}0%]" for n in range(1, 10)))


def _usage(out: Exposition, rows: list[Row]) -> None:
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
        word = "vcore" if resource == CPU else _ODD.sub("_", resource)
        name = f"yunikorn_scheduler_{word}_node_usage_total"
        for n, range_ in enumerate(_TENTHS):
            out.gauge(name, "Nodes by how full they are", tenths[n], range=range_)


_QUEUES = {"pending": "active", "gated": "gated", "waiting": "active"}
_POD_BUCKETS = tuple(0.01 * 2**n for n in range(20))
_VICTIM_BUCKETS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
_ATTEMPT_BUCKETS = (1.0, 2.0, 4.0, 8.0, 16.0)


def add_kube(out: Exposition, page: Page, counts: PodCounts) -> None:
    """Add what kube-scheduler has waiting, and what it did."""
    pods = [row for row in page.values() if row["kind"] == "Pod"]
    if not pods and not counts.events:
        return
    waiting = Counter(_line(row) for row in pods if row["phase"] in _QUEUES)
    for queue in ("active", "backoff", "gated", "unschedulable"):
        name, help_ = "scheduler_pending_pods", "Pods without a node"
        out.gauge(name, help_, waiting[queue], queue=queue)
    _kube_attempts(out, counts)
    name, help_ = "scheduler_preemption_victims", "Victims of each preemption"
    out.observe(name, help_, counts.victims.values(), _VICTIM_BUCKETS)
    nodes = sum(row["kind"] == "Node" for row in page.values())
    placed = sum(bool(row["node"]) for row in pods)
    for kind, number in (("nodes", nodes), ("pods", placed), ("assumed_pods", 0)):
        name, help_ = "scheduler_scheduler_cache_size", "What the cache holds"
        out.gauge(name, help_, number, type=kind)


def _kube_attempts(out: Exposition, counts: PodCounts) -> None:
    for result, found in (
        ("scheduled", counts.scheduled),
        ("unschedulable", counts.unschedulable),
    ):
        for profile, number in sorted(found.items()):
            own = out.under(result=result, profile=profile or "default-scheduler")
            name, help_ = "scheduler_schedule_attempts_total", "Attempts by result"
            own.counter(name, help_, number)
    name, help_ = "scheduler_preemption_attempts_total", "Preemptions so far"
    out.counter(name, help_, len(counts.victims))
    name, help_ = "scheduler_pod_scheduling_attempts", "Attempts until a pod is placed"
    out.observe(name, help_, counts.attempts, _ATTEMPT_BUCKETS)
    name = "scheduler_pod_scheduling_sli_duration_seconds"
    help_ = "From arrival to a node, in seconds"
    for attempts, waits in sorted(counts.waits.items()):
        own = out.under(attempts=str(attempts) if attempts < 16 else "16+")
        own.observe(name, help_, waits, _POD_BUCKETS)


def _line(row: Row) -> str:
    if row["phase"] == "pending" and row["reason"]:
        return "unschedulable"
    return _QUEUES[row["phase"]]


# ------------------------------------------------------------------------
# When waiting Workloads start, as the newest kept forecast has it.


NAME = "quotalab_forecast_start_seconds"
_HELP = "Until a waiting Workload starts, by quantile, from now; +Inf is beyond"
_WAITS = ("pending", "inadmissible", "reserved")


def add_forecast(out: Exposition, sandbox: Sandbox, page: Page) -> None:
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
        own = out.under(
            namespace=row["namespace"], workload=row["name"], local_queue=one.queue
        )
        levels = {"0.1": one.p10_ms, "0.5": one.p50_ms, "0.9": one.p90_ms}
        for level, ms in levels.items():
            left = math.inf if ms is None else max(ms - passed, 0) / 1000
            own.gauge(NAME, _HELP, left, quantile=level)
