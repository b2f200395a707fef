"""Our own clock, and the names of YuniKorn and kube-scheduler.

Source: YuniKorn, pkg/metrics; Kubernetes, scheduler metrics reference.
"""

from __future__ import annotations

from collections import Counter

from api.metrics.exposition import Exposition
from sandbox.diffs import Page, Row
from sandbox.models import Sandbox


def add_own(out: Exposition, sandbox: Sandbox, common: dict[str, str]) -> None:
    """Add the sandbox's clock."""
    for name, help_, value in (
        ("quotalab_simulated_seconds", "Virtual time", sandbox.now_ms / 1000),
        ("quotalab_tick", "Ticks made", sandbox.tick),
        ("quotalab_revision", "Commits made", sandbox.revision),
        ("quotalab_playing", "1 while time runs", sandbox.playing),
    ):
        out.add(name, "gauge", help_, value, common)


def add_yunikorn(out: Exposition, page: Page, common: dict[str, str]) -> None:
    """Add queues, applications and nodes as YuniKorn counts them."""
    rows = list(page.values())
    for row in rows:
        if row["kind"] == "Queue":
            _queue(out, row, common)
    apps = [row for row in rows if row["kind"] == "Application"]
    by_queue = Counter((app["queue"], app["state"].lower()) for app in apps)
    for (queue, state), number in sorted(by_queue.items()):
        labels = {**common, "queue": queue, "state": state}
        out.add("yunikorn_queue_app", "gauge", "Applications", number, labels)
    for state, number in sorted(Counter(app["state"].lower() for app in apps).items()):
        labels = {**common, "state": state}
        name = "yunikorn_scheduler_application_total"
        out.add(name, "gauge", "Applications by state", number, labels)
    _nodes(out, rows, common)


def _queue(out: Exposition, row: Row, common: dict[str, str]) -> None:
    own = {**common, "queue": row["name"]}
    for state in ("guaranteed", "max", "allocated", "pending"):
        for resource, amount in row[state].items():
            labels = {**own, "state": state, "resource": resource}
            name, help_ = "yunikorn_queue_resource", "Resources of a queue"
            out.add(name, "gauge", help_, int(amount), labels)


_NODE_STATES = {"ready": "active", "cordoned": "draining", "failed": "failed"}


def _nodes(out: Exposition, rows: list[Row], common: dict[str, str]) -> None:
    states = Counter(
        _NODE_STATES[row["state"]] for row in rows if row["kind"] == "Node"
    )
    for state in _NODE_STATES.values():
        labels = {**common, "state": state}
        name = "yunikorn_scheduler_node"
        out.add(name, "gauge", "Nodes by state", states[state], labels)


_QUEUES = {"pending": "active", "gated": "gated", "waiting": "active"}


def add_kube(out: Exposition, page: Page, common: dict[str, str]) -> None:
    """Add what kube-scheduler has waiting."""
    pods = [row for row in page.values() if row["kind"] == "Pod"]
    if not pods:
        return
    waiting = Counter(_line(row) for row in pods if row["phase"] in _QUEUES)
    for queue in ("active", "gated", "unschedulable"):
        labels = {**common, "queue": queue}
        name, help_ = "scheduler_pending_pods", "Pods without a node"
        out.add(name, "gauge", help_, waiting[queue], labels)


def _line(row: Row) -> str:
    if row["phase"] == "pending" and row["reason"]:
        return "unschedulable"
    return _QUEUES[row["phase"]]
