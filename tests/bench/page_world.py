"""A made-up page of a busy sandbox, and the diffs that its server would send."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import msgspec

from scheduler.analysis.lines import Of, PairLine, RunLine
from scheduler.analysis.measures.verdict import (
    ChangeVerdict,
    GroupVerdict,
    RunCourse,
    RunTotals,
    WorkloadVerdict,
    start_verdict,
)
from scheduler.analysis.pairs import PairFigures, PairSum, PairVerdict, SeedVerdict

QUEUES, WORKLOADS, NODES = 30, 5000, 500
CHANGED, CELLS = 200, 250
#: Of an open what-if: who comes out otherwise, and every so many ms a line has a value.
OTHERWISE, LINE_STEP_MS, AHEAD_MS = 1000, 5000, 600_000
SPEED = 4.0
GPU = "nvidia.com/gpu"


class World:
    """A made-up page that changes as a busy one does; seeded, so runs compare."""

    def __init__(self, workloads: int = WORKLOADS) -> None:
        self.random = random.Random(7)
        self.tick = 100
        self.workloads = [self.workload(n) for n in range(workloads)]
        self.nodes = [node(n) for n in range(NODES)]

    def workload(self, n: int) -> dict[str, Any]:
        """Return one workload; a third of them run."""
        phase = self.random.choice(["pending", "inadmissible", "admitted", "finished"])
        name = f"job-{n:05}"
        return {
            "kind": "Workload",
            "key": f"Workload/team/{name}",
            "name": name,
            "namespace": "team",
            "uid": name,
            "localQueue": "main",
            "clusterQueue": f"queue-{n % QUEUES:02}",
            "phase": phase,
            "priority": n % 5 * 10,
            "priorityClass": "",
            "podSets": [
                {
                    "name": "main",
                    "count": 2,
                    "minCount": None,
                    "requests": {GPU: "4", "cpu": "8000"},
                    "flavors": {},
                }
            ],
            "totals": {GPU: "8", "cpu": "16000"},
            "reason": "Pending",
            "message": "insufficient unused quota",
            "conditions": [condition("QuotaReserved"), condition("Admitted")],
            "sticky": False,
            "orderUs": str(n),
            "createdMs": 0,
            "reservedMs": n,
            "admittedMs": n,
            "readyMs": n,
            "endsMs": 400_000,
            "finishedMs": None,
            "runtimeMs": 400_000,
            "requeueMs": None,
            "evictions": 0,
            "evicted": False,
            "owner": "",
            "checks": [],
            "worker": "",
            "tried": [],
            "copy": False,
        }

    def sandbox(self) -> dict[str, Any]:
        """Return the sandbox's row at this tick."""
        return {
            "kind": "Sandbox",
            "key": "Sandbox//sandbox",
            "name": "sandbox",
            "namespace": "",
            "id": "bench",
            "title": "Bench",
            "branch": "A",
            "parent": None,
            "stack": "kueue",
            "release": {},
            "fairSharing": True,
            "laws": "released",
            "seed": "7",
            "tick": self.tick,
            "tMs": self.tick * 1000,
            "tickMs": 1000,
            "firstTick": 0,
            "playing": True,
            "speed": SPEED,
            "until": "",
            "problem": "",
            "hash": "0" * 16,
            "resources": [GPU, "cpu"],
            "notSimulated": [],
            "notSimulatedSaid": [],
            "problemSaid": [],
            "source": "simulated",
            "sourceName": "",
            "sourceStart": "",
            "lastTick": None,
            "lagMs": 0,
            "cost": None,
            "costPerHour": None,
        }

    def sample(self) -> dict[str, Any]:
        """Return the sample of this tick."""
        return {
            "tick": self.tick,
            "tMs": self.tick * 1000,
            "pending": self.random.randint(100, 200),
            "admitted": 1600,
            "finished": 10,
            "preemptions": 0,
            "evictions": 0,
            "used": {GPU: "3000", "cpu": "9000"},
            "capacity": {GPU: "4000", "cpu": "16000"},
            "cost": None,
            "searches": 0,
            "candidatesLookedAt": 0,
            "simulations": 0,
            "shareError": 0.0,
            "queues": [
                {
                    "queue": f"queue-{n:02}",
                    "share": float(self.random.randint(0, 300)),
                    "used": {GPU: "90"},
                    "pending": 5,
                }
                for n in range(QUEUES)
            ],
        }

    def what_if(self) -> dict[str, Any]:
        """Return an open what-if in which all queues and nodes differ, and many jobs."""
        begin = self.tick * 1000
        chosen = self.random.sample(self.workloads, min(OTHERWISE, len(self.workloads)))
        rows = [self.otherwise(row["key"], begin) for row in chosen]
        totals = RunTotals(
            units=1500,
            started=900,
            finished=400,
            evictions=30,
            preemptions=20,
            work_lost_ms=9000,
            waited_ms=60_000,
        )
        verdict = ChangeVerdict(
            from_ms=begin,
            to_ms=begin + AHEAD_MS,
            within_ms=1000,
            differs=True,
            workloads=rows,
            pods=2 * len(rows),
            without=totals,
            changed=totals,
            later_ms=sum(row.later_ms for row in rows),
            waiting_ms=sum(row.waiting_ms for row in rows),
            lost_ms=0,
            by={"queue": list(self.teams(rows, totals))},
            links=[],
        )
        figures = PairFigures(
            waited=1500,
            waiting=600,
            wait_mean_ms=40_000.0,
            wait_p50_ms=30_000.0,
            wait_p95_ms=90_000.0,
            wait_max_ms=200_000.0,
            jain=0.9,
            share_error=0.1,
            unfair_spans=3,
            time_to_fair_ms=20_000.0,
            time_to_fair_max_ms=30_000,
            goodput={GPU: 0.9},
            idle_hours={GPU: 12.0},
            largest_share=300.0,
            largest_share_queue="queue-01",
            largest_share_ms=30_000,
        )
        starts = [one.start for one in rows]
        sums = {name: starts.count(name) for name in set(starts)}
        answer = PairVerdict(
            from_ms=begin,
            to_ms=begin + AHEAD_MS,
            differs=True,
            same=True,
            sums={
                name: PairSum(values=[float(value)], same=True, interval=None)
                for name, value in sums.items()
            },
            seeds=[
                SeedVerdict(
                    seed=7,
                    verdict=verdict,
                    only_with=[],
                    only_without=[],
                    without=figures,
                    changed=figures,
                )
            ],
            lines=list(self.lines(begin)),
        )
        hold = {"kind": "ClusterQueue", "namespace": "", "name": "queue-00"}
        return {
            "id": 1,
            "state": "open",
            "at": self.tick,
            "revision": self.tick,
            "changes": [{"patch": {**hold, "body": {"spec": {"stopPolicy": "Hold"}}}}],
            "horizonMs": AHEAD_MS,
            "seeds": [],
            "said": None,
            "replacedBy": None,
            "verdict": msgspec.to_builtins(answer),
        }

    def otherwise(self, subject: str, begin: int) -> WorkloadVerdict:
        """Return one workload that starts at another time, or in one run alone."""
        times = [*(begin + 1000 * n for n in range(1, 500, 7)), None]
        one, other = self.random.sample(times, 2)
        start = start_verdict(one, other)
        end = begin + AHEAD_MS
        later = (end if other is None else other) - (end if one is None else one)
        return WorkloadVerdict(
            subject=subject,
            fates=["startsLater" if later > 0 else "startsEarlier"],
            start=start,
            end="same",
            queue=f"queue-{self.random.randrange(20):02}",
            cohort="",
            namespace="default",
            priority_class="",
            user="",
            later_ms=later,
            waiting_ms=later,
            lost_ms=0,
            without=RunCourse(started_ms=one),
            changed=RunCourse(started_ms=other),
        )

    def teams(
        self, rows: list[WorkloadVerdict], totals: RunTotals
    ) -> Iterator[GroupVerdict]:
        """Yield the sums of each queue."""
        for name in sorted({row.queue for row in rows}):
            own = [row for row in rows if row.queue == name]
            more = sum(row.later_ms for row in own)
            later = sum(row.later_ms > 0 for row in own)
            yield GroupVerdict(
                name=name,
                later_ms=more,
                waiting_ms=more,
                lost_ms=0,
                evictions=0,
                later=later,
                earlier=len(own) - later,
                never=0,
                added=0,
                removed=0,
                equal=0,
                without=totals,
                changed=totals,
            )

    def lines(self, begin: int) -> Iterator[PairLine]:
        """Yield how each queue and node goes on, both sides at other values."""

        def line(of: Of, name: str, flavor: str, resource: str, most: int) -> PairLine:
            at = list(range(begin, begin + AHEAD_MS, LINE_STEP_MS))
            one, other = (
                RunLine(
                    at_ms=at, values=[float(self.random.randint(0, most)) for _ in at]
                )
                for _ in range(2)
            )
            return PairLine(
                of=of,
                queue=name,
                flavor=flavor,
                resource=resource,
                without=one,
                changed=other,
            )

        for n in range(QUEUES):
            name = f"queue-{n:02}"
            for of in ("share", "waiting", "held"):
                yield line(of, name, "", "", 300)
            for resource in (GPU, "cpu"):
                yield line("used", name, "a100", resource, 140)
        for of in ("waiting", "held"):
            yield line(of, "", "", "", 1000)
        for resource in (GPU, "cpu"):
            yield line("used", "", "", resource, 4000)
        for made in self.nodes[: 40_000 * LINE_STEP_MS // AHEAD_MS // 2]:
            yield line("node", made["name"], "", GPU, 8)

    def state(self) -> str:
        """Return the page state."""
        rows = [
            self.sandbox(),
            cohort(),
            *(queue(n, self.random) for n in range(QUEUES)),
            *self.workloads,
            *self.nodes,
        ]
        return json.dumps(
            {
                "type": "page_state",
                "protocol": 1,
                "revision": self.tick,
                "rows": rows,
                "samples": [self.sample()],
                "events": [],
            }
        )

    def diff(self) -> str:
        """Return the next diff: cards that move, nodes and queues that change."""
        before, self.tick = self.tick, self.tick + 1
        updated: dict[str, dict[str, Any]] = {
            "Sandbox//sandbox": {"tick": self.tick, "tMs": self.tick * 1000}
        }
        for row in self.random.sample(self.workloads, CHANGED):
            moved = self.random.random() < 0.2
            phase = "admitted" if row["phase"] == "pending" else "pending"
            change = {"phase": phase} if moved else {"priority": row["priority"] + 1}
            row.update(change)
            updated[row["key"]] = change
        for row in self.random.sample(self.nodes, CELLS):
            updated[row["key"]] = {"used": {GPU: str(self.random.randint(0, 8))}}
        for n in range(QUEUES):
            updated[f"ClusterQueue//queue-{n:02}"] = {
                "share": str(self.random.randint(0, 300))
            }
        return json.dumps(
            {
                "type": "diff",
                "from": before,
                "revision": self.tick,
                "tick": self.tick,
                "added": [],
                "updated": updated,
                "removed": [],
                "samples": [self.sample()],
                "events": [],
            }
        )


def cohort() -> dict[str, Any]:
    """Return the root of the quota tree."""
    return {
        "kind": "Cohort",
        "key": "Cohort//all",
        "name": "all",
        "namespace": "",
        "parent": "",
        "implicit": False,
        "weight": "1",
        "share": "0",
        "cells": [],
        "lendable": {GPU: "4000"},
    }


def queue(n: int, dice: random.Random) -> dict[str, Any]:
    """Return one ClusterQueue."""
    name = f"queue-{n:02}"
    cell = {
        "flavor": "a100",
        "resource": GPU,
        "nominal": "100",
        "used": str(dice.randint(20, 140)),
        "borrowed": "0",
        "lent": "0",
        "available": "9",
        "borrowingLimit": None,
        "lendingLimit": None,
    }
    return {
        "kind": "ClusterQueue",
        "key": f"ClusterQueue//{name}",
        "name": name,
        "namespace": "",
        "cohort": "all",
        "queueingStrategy": "BestEffortFIFO",
        "stopPolicy": "None",
        "active": True,
        "inactiveReason": "",
        "weight": "1",
        "share": "0",
        "cells": [cell, {**cell, "resource": "cpu"}],
        "counts": dict.fromkeys(
            ("pending", "inadmissible", "reserved", "admitted", "evicted", "finished"),
            9,
        ),
        "withinClusterQueue": "Never",
        "reclaimWithinCohort": "Any",
        "borrowWithinCohort": "Never",
    }


def condition(name: str) -> dict[str, Any]:
    """Return one condition of a workload."""
    return {
        "type": name,
        "status": True,
        "reason": name,
        "message": "",
        "sinceMs": 0,
    }


def node(n: int) -> dict[str, Any]:
    """Return one node."""
    return {
        "kind": "Node",
        "key": f"Node//node-{n:03}",
        "name": f"node-{n:03}",
        "namespace": "",
        "state": "ready",
        "flavor": "a100",
        "allocatable": {GPU: "8", "cpu": "96000"},
        "used": {GPU: "4"},
        "pods": 2,
        "held": {},
        "heldPods": 0,
        "lockedBy": "",
        "taints": [],
        "labels": {},
    }
