"""Decision vectors of yunikorn-core: read, run on our partition, compared."""

from __future__ import annotations

from typing import Any

from scheduler.engine.yunikorn.objects.model import Ask
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.preemption.attempts import candidates
from scheduler.engine.yunikorn.preemption.victims import Snapshot
from scheduler.engine.yunikorn.sorting.queues import children_in_order, share_of
from scheduler.input.manifests import queues_yaml as manifests
from scheduler.model.errors import ManifestError
from tests.conformance.yunikorn_state import TraceListener, build, run_cycles
from tests.conformance.yunikorn_steps import Steps

Vector = dict[str, Any]

_STEPS = ("quota-change", "limits", "gang", "placement")


def handles(vector: Vector) -> bool:
    """Return whether this is a vector of yunikorn-core."""
    return "queuesYaml" in vector


def run(vector: Vector) -> list[str]:
    """Return the differences between what is expected and what we decide."""
    expected, actual = vector["expect"], _actual(vector)
    if vector["suite"] == "sort":
        return _compare_sort(expected, actual)
    if vector["suite"] == "config":
        return _compare_config(expected, actual)
    differences = []
    if vector["suite"] == "nodes":
        differences += _compare_scores(expected["scores"], actual["scores"])
    if "candidates" in expected and expected["candidates"] != actual["candidates"]:
        differences.append(
            f"candidates: expected {expected['candidates']}, got {actual['candidates']}"
        )
    outcomes = [_plain(outcome) for outcome in expected["outcomes"]]
    got = _plain(actual["outcome"])
    if got not in outcomes:
        differences += _nearest(outcomes, got)
    return differences


def show(vector: Vector) -> tuple[object, object]:
    """Return what is expected and what we decide."""
    return vector["expect"], _actual(vector)


def _actual(vector: Vector) -> Any:
    if vector["suite"] == "config":
        return _read_config(vector)
    if vector["suite"] in _STEPS:
        return _stepped(vector)
    trace = TraceListener()
    partition = build(vector, trace)
    partition.refresh()
    match vector["suite"]:
        case "sort":
            return _sorted(partition)
        case "nodes":
            return _ordered_nodes(partition)
        case "preemption":
            return _preempted(partition, trace, vector)
        case _:
            return _cycled(partition, trace, vector)


# -- configurations and steps


def _read_config(vector: Vector) -> Vector:
    try:
        manifests.read_text(vector["queuesYaml"])
    except ManifestError as error:
        return {"accepted": False, "message": str(error)}
    return {"accepted": True}


def _compare_config(expected: Vector, actual: Vector) -> list[str]:
    if expected["accepted"] == actual["accepted"]:
        return []
    reasons = f"{expected.get('message', '')} | {actual.get('message', '')}"
    return [
        f"accepted: expected {expected['accepted']}, got {actual['accepted']}: "
        f"{reasons}"
    ]


def _stepped(vector: Vector) -> Vector:
    replayed = Steps(vector)
    for step in vector["steps"]:
        replayed.run(step)
    if vector["suite"] == "placement":
        outcome = {"placed": replayed.placed, "dynamic": replayed.dynamic()}
    else:
        outcome = replayed.outcome()
    return {"outcome": outcome}


# -- sort and nodes


def _sorted(partition: Partition) -> Vector:
    found: Vector = {"queues": {}, "apps": {}, "requests": {}}
    for queue in partition.root.walk():
        if not queue.leaf:
            order = children_in_order(partition, queue)
            found["queues"][queue.path] = {
                "order": [child.path for child in order],
                "share": {child.path: share_of(child) for child in order},
                "priority": {child.path: child.published for child in order},
            }
            continue
        apps = list(queue.in_order())
        found["apps"][queue.path] = {
            "order": [app.id for app in apps],
            "priority": {app.id: app.priority for app in apps},
        }
        for app in queue.apps.values():
            if app.requests:
                found["requests"][app.id] = {"order": [r.key for r in app.requests]}
    return found


def _compare_sort(expected: Vector, actual: Vector) -> list[str]:
    differences = []
    for part in ("queues", "apps", "requests"):
        for name, want in expected[part].items():
            got = actual[part].get(name, {"order": []})
            if got["order"] not in want["outcomes"]:
                differences.append(
                    f"{part} {name}: expected one of {want['outcomes']}, "
                    f"got {got['order']}"
                )
            differences += [
                f"{part} {name}: {key} expected {want[key]}, got {got.get(key)}"
                for key in ("share", "priority")
                if key in want and want[key] != got.get(key)
            ]
    return differences


def _ordered_nodes(partition: Partition) -> Vector:
    nodes = partition.nodes
    return {
        "outcome": [node.name for node in nodes],
        "scores": {
            node.name: nodes.sort.score(nodes.used_share(node)) for node in nodes
        },
    }


def _compare_scores(expected: Vector, actual: Vector) -> list[str]:
    """Compare up to the last bits: the real one sums in random order."""
    return [
        f"score of {name}: expected {want}, got {actual.get(name)}"
        for name, want in expected.items()
        if abs(want - actual.get(name, 1e9)) > 1e-12
    ]


# -- cycles


def _preempted(partition: Partition, trace: TraceListener, vector: Vector) -> Vector:
    first = partition.asks[vector["asks"][0]["key"]]
    snapshot = Snapshot(partition.root.walk(), first.app.queue)
    found = {
        path: sorted(pod.key for pod in pods)
        for path, pods in candidates(snapshot, first).items()
    }
    run_cycles(
        partition, trace, until=lambda: first.triggered or first.node is not None
    )
    return {"candidates": found, "outcome": _outcome(first, trace)}


def _outcome(first: Ask, trace: TraceListener) -> Vector:
    node = first.node or first.reserved_on
    kinds = {event["ev"] for event in trace.events}
    kind = next((k for k in ("alloc", "preempt", "reserve") if k in kinds), "none")
    return {
        "outcome": kind,
        "node": node.name if node else "",
        "victims": [victim.key for victim in trace.victims],
        "trace": trace.events,
        "why": trace.why,
    }


def _cycled(partition: Partition, trace: TraceListener, vector: Vector) -> Vector:
    asks = [partition.asks[data["key"]] for data in vector["asks"]]
    gone = run_cycles(partition, trace)
    placed = [event for event in trace.events if event["ev"] == "alloc"]
    final = {event["key"]: event["node"] for event in placed}
    pending = sorted(a.key for a in asks if a.node is None and a.key not in gone)
    outcome = {
        "outcome": "done",
        "node": "",
        "victims": [],
        "trace": trace.events,
        "why": trace.why,
        "final": final,
        "pending": pending,
        "gone": sorted(gone),
    }
    return {"outcome": outcome}


def _plain(outcome: Any) -> Any:
    """Return an outcome in one shape: sets sorted, absent parts empty."""
    if not isinstance(outcome, dict) or "victims" not in outcome:
        return outcome
    why = {key: sorted(texts) for key, texts in outcome["why"].items() if texts}
    return {
        **outcome,
        "why": why,
        "final": outcome.get("final") or {},
        "pending": sorted(outcome.get("pending") or []),
        "gone": sorted(outcome.get("gone") or []),
    }


def _nearest(outcomes: list[Any], got: Any) -> list[str]:
    """Return the differences to the first expected outcome, part by part."""
    want = outcomes[0]
    if not isinstance(want, dict):
        return [f"expected one of {outcomes}, got {got}"]
    many = f" (one of {len(outcomes)})" if len(outcomes) > 1 else ""
    return [
        f"{part}: expected {want[part]}, got {got[part]}{many}"
        for part in want
        if want[part] != got[part]
    ]
