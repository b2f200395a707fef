"""Snapshots of running clusters, taken in as they are and ticked once.

Run `./dev bench tests/bench/bench_running_clusters.py`. It prints a row per
snapshot, and a sentence for each difference that has no reason in the dump.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from scheduler.assembly import assemble
from scheduler.engine.kueue.controller.status import WRITERS
from scheduler.engine.tick import run_tick
from scheduler.engine.world import World
from scheduler.model import durations
from scheduler.model.amounts import canonical
from scheduler.model.decisions import Evict, Finish, Preempt
from scheduler.model.objects import Key, Object
from tests.bench.size import sized

pytestmark = pytest.mark.bench

RECORDINGS = Path(__file__).parents[3] / "shared" / "recordings"
SNAPSHOTS = sized(
    sorted(RECORDINGS.glob("*/snapshot-*.json.gz")),
    [Path(__file__).parents[1] / "scheduler/running/snapshot-100.json.gz"],
)
HEAD = (
    "| snapshot | objects | read, CPU-s | Workloads lost | Workloads more: their Jobs "
    "had none yet | running pods | of these ended in the first second | elsewhere "
    "| queues equal to their status | and to the dump's admissions |\n"
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
)
Item = dict[str, Any]
Usage = dict[tuple[str, str], int]


@dataclass(slots=True)
class Row:
    """What one snapshot came to."""

    name: str
    objects: int
    cpu_s: float = 0.0
    lost: int = 0
    made: int = 0
    pods: int = 0
    ended: int = 0
    elsewhere: int = 0
    queues: int = 0
    as_status: int = 0
    as_admitted: int = 0
    unexplained: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"| {self.name} | {self.objects} | {self.cpu_s:.1f} | {self.lost} "
            f"| {self.made} | {self.pods} | {self.ended} | {self.elsewhere} "
            f"| {self.as_status} of {self.queues} | {self.as_admitted} of {self.queues} |"
        )


def key_of(item: Item) -> Key:
    metadata = item["metadata"]
    return Key(item["kind"], metadata.get("namespace", ""), metadata["name"])


def holds(item: Item, name: str) -> bool:
    found = item.get("status", {}).get("conditions") or ()
    return any(c["type"] == name and c["status"] == "True" for c in found)


def used(status: Item) -> Usage:
    """Return what a queue's status counts as reserved; zeros left out."""
    found: Usage = {}
    for flavor in status.get("flavorsReservation") or ():
        for one in flavor["resources"]:
            amount = canonical(one["name"], one["total"])
            if amount:
                found[flavor["name"], one["name"]] = amount
    return found


def admitted(items: list[Item]) -> dict[str, Usage]:
    """Return what the dump's own Workloads hold, by ClusterQueue."""
    found: dict[str, Usage] = {}
    for item in items:
        admission = item.get("status", {}).get("admission")
        if item["kind"] != "Workload" or not admission or holds(item, "Finished"):
            continue
        gone = {
            p["name"]: p["count"] for p in item["status"].get("reclaimablePods", ())
        }
        asked = {p["name"]: p.get("count", 1) for p in item["spec"]["podSets"]}
        cells = found.setdefault(admission["clusterQueue"], {})
        for part in admission["podSetAssignments"]:
            left = min(part["count"], asked[part["name"]] - gone.get(part["name"], 0))
            for name, flavor in (part.get("flavors") or {}).items():
                whole = canonical(name, part["resourceUsage"][name])
                amount = whole * left // max(1, part["count"])
                if amount:
                    cells[flavor, name] = cells.get((flavor, name), 0) + amount
    return found


def read(path: Path) -> tuple[World, list[Item], float]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        text = file.read()
    sources = [("dump.json", text)]
    config = path.parent / "config.yaml"
    if config.exists():
        sources.append(("config.yaml", config.read_text()))
    begin = time.process_time()
    world = assemble(sources).world
    return world, json.loads(text)["items"], time.process_time() - begin


def judge_queues(row: Row, world: World, items: list[Item]) -> None:
    """Compare usage at the first instant with the statuses and with the admissions."""
    assert world.kueue is not None
    world.kueue.reconcile()
    for item in items:
        if item["kind"] == "ClusterQueue":
            key = key_of(item)
            obj = Object(key=key, manifest=world.objects[key].manifest, status={})
            WRITERS[key.kind](world.kueue.cluster, obj, 0)
            judge_queue(row, item, obj.status, items)


def judge_queue(row: Row, item: Item, ours: Item, items: list[Item]) -> None:
    """Compare one queue's status with the dump's, and with the dump's Workloads."""
    theirs, name = item.get("status", {}), item["metadata"]["name"]
    row.queues += 1
    same = used(ours) == used(theirs)
    names = ("pendingWorkloads", "fairSharing")
    same &= all(ours.get(n) == theirs[n] for n in names if n in theirs)
    row.as_status += same
    held = admitted(items).get(name, {})
    row.as_admitted += used(ours) == held
    if used(ours) != held:
        row.unexplained.append(f"{row.name}: {name}: {used(ours)}, {held}")


def judge_pods(
    row: Row, items: list[Item], nodes: dict[Key, str], ended: set[str], now_us: int
) -> None:
    """Count the running pods that are no longer on their `nodes`, by reason."""
    workloads = {
        ref["uid"]: item
        for item in items
        if item["kind"] == "Workload"
        for ref in item["metadata"].get("ownerReferences") or ()
    }
    for item in running(items):
        row.pods += 1
        if nodes.get(key_of(item)) == item["spec"]["nodeName"]:
            continue
        owner = (item["metadata"].get("ownerReferences") or [{}])[0]
        work = workloads.get(owner.get("uid", ""))
        going = "deletionTimestamp" in item["metadata"] or (
            work is not None
            and (
                work["metadata"]["name"] in ended
                or holds(work, "Evicted")
                or holds(work, "Finished")
            )
        )
        alone = item["metadata"]["name"] in ended
        if going or alone or is_over(item, now_us):
            row.ended += 1
        else:
            row.elsewhere += 1
            row.unexplained.append(f"{row.name}: {key_of(item)} is not on its node")


def is_over(pod: Item, now_us: int) -> bool:
    """Return whether the pod's run time is over a second after `now_us`."""
    length = pod["metadata"].get("annotations", {}).get("quotalab.dev/runtime")
    ready = [
        durations.stamp_us(c["lastTransitionTime"])
        for c in pod["status"].get("conditions") or ()
        if (c["type"], c["status"]) == ("Ready", "True")
    ]
    if not length or not ready:
        return False
    return max(ready) + 1000 * durations.milliseconds(length) <= now_us + 1_000_000


def running(items: list[Item]) -> Iterator[Item]:
    for item in items:
        bound = item["kind"] == "Pod" and item["spec"].get("nodeName")
        if bound and item["status"]["phase"] in ("Running", "Pending"):
            yield item


def judge(path: Path) -> Row:
    world, items, cpu_s = read(path)
    row = Row(f"{path.parent.name}/{path.name[9:-8]}", len(items), cpu_s)
    judge_queues(row, world, items)
    run_tick(world)
    judge_workloads(row, items, world.objects)
    decided = world.take().decisions
    over = [one for one in decided if isinstance(one, Finish | Preempt | Evict)]
    ended = {str(one.subject.name) for one in over}
    nodes = {key: obj.spec.get("nodeName", "") for key, obj in world.objects.items()}
    now_us = world.context.epoch_us + 1000 * world.context.now_ms
    judge_pods(row, items, nodes, ended, now_us)
    return row


def judge_workloads(row: Row, items: list[Item], found: Iterable[Key]) -> None:
    """Count the Workloads that are lost, and those that no Job without one explains."""
    given = {key_of(item) for item in items if item["kind"] == "Workload"}
    ours = {key for key in found if key.kind == "Workload"}
    row.lost, row.made = len(given - ours), len(ours - given)
    without = Counter(item["kind"] for item in items)["Job"] - len(given)
    if row.made > max(0, without):
        row.unexplained.append(f"{row.name}: {row.made} Workloads more than Jobs")


@pytest.mark.skipif(not SNAPSHOTS, reason="the recordings are not on this machine")
def test_every_snapshot_goes_on_as_it_was() -> None:
    rows = [judge(path) for path in SNAPSHOTS]
    sys.stdout.write("\n".join([HEAD, *map(str, rows)]) + "\n")
    unexplained = [line for row in rows for line in row.unexplained]
    sys.stdout.write("\n".join(unexplained) + "\n")
    assert sum(row.lost for row in rows) == 0
