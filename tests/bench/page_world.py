"""A made-up page of a busy sandbox, and the diffs that its server would send."""

from __future__ import annotations

import json
import random
from typing import Any

QUEUES, WORKLOADS, NODES = 30, 5000, 500
CHANGED, CELLS = 200, 250
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
