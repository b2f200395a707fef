"""Recorded states changed at random, so that rules meet that never met there."""

from __future__ import annotations

import copy
import random
from typing import Any

from scheduler.model.amounts import parse

Vector = dict[str, Any]
_SIZES = ["0", "1", "2", "3", "4", "5", "6", "8", "10"]
_UNLIMITED = "9223372036854775"  # the fewest cores that 64 bits do not hold
_MORE = {"cpu": ["2500m", "500m", _UNLIMITED]}
_RULES = ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]


class Change:
    """One state, changed in place; every change keeps it valid."""

    def __init__(self, vector: Vector, draw: random.Random) -> None:
        self.vector, self.draw = copy.deepcopy(vector), draw
        kinds: dict[str, list[Any]] = {}
        for obj in self.vector["objects"]:
            kinds.setdefault(obj["kind"], []).append(obj)
        self.queues, self.cohorts = kinds["ClusterQueue"], kinds.get("Cohort", [])
        self.local_queues, self.works = kinds["LocalQueue"], kinds["Workload"]
        self.acts = [
            self.quota, self.quota, self.quota, self.policy, self.policy,
            self.fungibility, self.stop, self.weight, self.weight, self.move,
            self.move, self.priority, self.priority, self.level, self.pods,
            self.evict, self.fair, self.flavors, self.local_queue, self.reclaim,
            self.strategy, self.release, self.inactive, self.whole, self.shrinking,
        ]  # fmt: skip

    def amount(self, resource: str) -> str:
        unit = "Gi" if resource == "memory" else ""
        sizes = [f"{n}{unit}" for n in _SIZES]
        return self.draw.choice(sizes + _MORE.get(resource, []))

    def quota(self) -> None:
        node = self.draw.choice(self.queues + self.cohorts)
        groups = node["spec"].get("resourceGroups")
        if not groups:
            return
        flavor = self.draw.choice(self.draw.choice(groups)["flavors"])
        row = self.draw.choice(flavor["resources"])
        parent = node["spec"].get("cohortName") or node["spec"].get("parentName")
        field = self.draw.choice(["nominalQuota", "borrowingLimit", "lendingLimit", ""])
        if not field:
            row.pop("borrowingLimit", None)
            row.pop("lendingLimit", None)
        else:
            row[field if parent else "nominalQuota"] = self.amount(row["name"])
        lent, own = row.get("lendingLimit", "0"), row["nominalQuota"]
        if node["kind"] == "ClusterQueue" and parse(lent) > parse(own):
            row["lendingLimit"] = own

    def policy(self) -> None:
        choose = self.draw.choice
        policy = self.draw.choice(self.queues)["spec"].setdefault("preemption", {})
        within = ["Never", "LowerPriority", "LowerOrNewerEqualPriority"]
        policy["withinClusterQueue"] = choose(within)
        policy["reclaimWithinCohort"] = choose(["Never", "LowerPriority", "Any"])
        policy["borrowWithinCohort"] = {"policy": "Never"}
        if policy["reclaimWithinCohort"] != "Never" and choose([True, False]):
            borrow = policy["borrowWithinCohort"] = {"policy": "LowerPriority"}
            if choose([True, False]):
                borrow["maxPriorityThreshold"] = choose([0, 10, 50, 100])

    def fungibility(self) -> None:
        spec = self.draw.choice(self.queues)["spec"]
        either = ["MayStopSearch", "TryNextFlavor"]
        rules = {name: self.draw.choice(either) for name in _WHEN}
        if set(rules.values()) == {"TryNextFlavor"}:
            wanted = ["", "BorrowingOverPreemption", "PreemptionOverBorrowing"]
            preference = self.draw.choice(wanted)
            rules |= {"preference": preference} if preference else {}
        spec["flavorFungibility"] = rules

    def stop(self) -> None:
        holder = self.draw.choice(self.queues + self.local_queues)
        holder["spec"]["stopPolicy"] = self.draw.choice(["None", "Hold"])

    def weight(self) -> None:
        weight = self.draw.choice(["0", "1", "2", "3", "500m", "250m"])
        node = self.draw.choice(self.queues + self.cohorts)
        node["spec"]["fairSharing"] = {"weight": weight}

    def move(self) -> None:
        if not self.cohorts:
            return
        above = self.draw.choice(self.cohorts)["metadata"]["name"]
        if self.draw.random() < 0.6:
            self.draw.choice(self.queues)["spec"]["cohortName"] = above
            return
        child = self.draw.choice(self.cohorts)
        names = {
            c["metadata"]["name"]: c["spec"].get("parentName") for c in self.cohorts
        }
        at: str | None = above
        while at and at != child["metadata"]["name"]:
            at = names.get(at)
        if not at:
            child["spec"]["parentName"] = above

    def priority(self) -> None:
        work = self.draw.choice(self.works)
        work["spec"]["priority"] = self.draw.choice([0, 10, 50, 100])

    def level(self) -> None:
        """Give half of them one priority."""
        value = self.draw.choice([0, 50])
        for work in self.works:
            if self.draw.random() < 0.5:
                work["spec"]["priority"] = value

    def pods(self) -> None:
        work = self.draw.choice(self.works)
        parts = work["spec"]["podSets"]
        if (work.get("status") or {}).get("admission"):
            return
        part = self.draw.choice(parts)
        part["count"] = self.draw.choice([1, 2, 3, 4, 6])
        part.pop("minCount", None)
        if not any("minCount" in p for p in parts) and self.draw.random() < 0.5:
            part["minCount"] = self.draw.randint(1, part["count"])

    def evict(self) -> None:
        status = self.draw.choice(self.works).get("status") or {}
        if status.get("admission"):
            kept = [c for c in status["conditions"] if c["type"] != "Evicted"]
            now = self.vector["now"]
            evicted = {"type": "Evicted", "status": "True", "reason": "Preempted"}
            evicted |= {"message": "x", "lastTransitionTime": now}
            status["conditions"] = [*kept, evicted]

    def fair(self) -> None:
        rules: list[Any] = [[_RULES[0]], [_RULES[1]], _RULES]
        settings = [None, {}, *({"preemptionStrategies": r} for r in rules)]
        self.vector["config"]["fairSharing"] = self.draw.choice(settings)

    def flavors(self) -> None:
        for group in self.draw.choice(self.queues)["spec"]["resourceGroups"]:
            self.draw.shuffle(group["flavors"])

    def local_queue(self) -> None:
        queue = self.draw.choice(self.queues)["metadata"]["name"]
        self.draw.choice(self.local_queues)["spec"]["clusterQueue"] = queue

    def reclaim(self) -> None:
        work = self.draw.choice(self.works)
        part = self.draw.choice(work["spec"]["podSets"])
        done = {"name": part["name"], "count": self.draw.randint(0, part["count"])}
        work.setdefault("status", {})["reclaimablePods"] = [done]

    def whole(self) -> None:
        """Give pods that look alike requests as a whole that differ."""
        for work in self.draw.sample(self.works, min(4, len(self.works))):
            if (work.get("status") or {}).get("admission"):
                continue
            spec = self.draw.choice(work["spec"]["podSets"])["template"]["spec"]
            requests = {"cpu": self.draw.choice(["1", "2", "4"])}
            spec["resources"] = {"requests": requests}

    def shrinking(self) -> None:
        """Let a podset be admitted in part while pods of another are done."""
        several = [w for w in self.works if len(w["spec"]["podSets"]) > 1]
        waiting = [w for w in several if not (w.get("status") or {}).get("admission")]
        if not waiting:
            return
        work = self.draw.choice(waiting)
        first, last = work["spec"]["podSets"][0], work["spec"]["podSets"][-1]
        for part in work["spec"]["podSets"]:
            part.pop("minCount", None)
        first["count"], last["count"], last["minCount"] = 4, 8, 1
        done = {"name": first["name"], "count": self.draw.randint(1, 3)}
        work.setdefault("status", {})["reclaimablePods"] = [done]

    def strategy(self) -> None:
        kinds = ["StrictFIFO", "BestEffortFIFO"]
        queue = self.draw.choice(self.queues)
        queue["spec"]["queueingStrategy"] = self.draw.choice(kinds)

    def release(self) -> None:
        work = self.draw.choice(self.works)
        if (work.get("status") or {}).get("admission"):
            work["status"] = {}

    def inactive(self) -> None:
        self.draw.choice(self.works)["spec"]["active"] = self.draw.random() < 0.5


_WHEN = ("whenCanBorrow", "whenCanPreempt")


def changed(vector: Vector, draw: random.Random) -> Vector:
    """Return a copy of the vector with one to sixteen changes."""
    change = Change(vector, draw)
    for _ in range(draw.choice([1, 2, 4, 8, 16])):
        draw.choice(change.acts)()
    return change.vector
