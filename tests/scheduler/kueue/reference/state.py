"""A vector's objects, loaded for the reference.

Source: docs/semantics/kueue.md#requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler.engine.kueue.flavorassigner.search import ineligibility_of
from scheduler.model import durations
from scheduler.model.amounts import parse
from scheduler.model.podset_template import PodShape, read_pod
from scheduler.model.quota import Flavor, read_flavor
from scheduler.model.selectors import read_selector
from tests.scheduler.kueue.reference.tree import FR, QuotaNode

Manifest = Mapping[str, Any]


def canonical(resource: str, text: str) -> int:
    value = parse(text) * (1000 if resource == "cpu" else 1)
    return -int(-value // 1)


class Wl:
    """One Workload."""

    def __init__(self, manifest: Manifest, overheads: Mapping[str, Any]) -> None:
        meta, spec = manifest["metadata"], manifest["spec"]
        status = manifest.get("status") or {}
        self.name = f"{meta['namespace']}/{meta['name']}"
        self.namespace, self.uid = meta["namespace"], meta["uid"]
        self.created = durations.stamp_us(meta["creationTimestamp"])
        self.priority = spec["priority"]
        self.active = spec.get("active", True)
        self.local_queue = spec["queueName"]
        self.conditions = {c["type"]: dict(c) for c in status.get("conditions") or ()}
        self.requeue_at = (status.get("requeueState") or {}).get("requeueAt")
        self.reclaim = {
            r["name"]: r["count"] for r in status.get("reclaimablePods") or ()
        }
        self.pod_sets = spec["podSets"]
        self.shapes: list[PodShape] = []
        for part in self.pod_sets:
            pod = part["template"]["spec"]
            over = overheads.get(pod.get("runtimeClassName") or "")
            self.shapes.append(read_pod(pod, overhead=over))
        self.admission = status.get("admission")
        self.tried: tuple[dict[str, int], ...] | None = None  # lastAssignment
        self.tried_at = (0, 0)  # cycle, generation
        self.usage: dict[FR, int] = {}

    def true(self, kind: str) -> bool:
        return self.conditions.get(kind, {}).get("status") == "True"

    @property
    def timestamp(self) -> int:
        evicted = self.conditions.get("Evicted", {})
        if self.true("Evicted") and evicted["reason"] == "PodsReadyTimeout":
            return durations.stamp_us(evicted["lastTransitionTime"])
        return self.created

    def left(self, index: int) -> int:
        part = self.pod_sets[index]
        return part["count"] - min(self.reclaim.get(part["name"], 0), part["count"])

    def totals(
        self, counts: tuple[int, ...] | None
    ) -> list[tuple[int, dict[str, int]]]:
        found = []
        for index, shape in enumerate(self.shapes):
            count = self.left(index)
            total = {r: v * count for r, v in shape.requests.items()}
            if counts is not None and count not in (0, counts[index]):
                total = {r: v // count * counts[index] for r, v in total.items()}
            found.append((count if counts is None else counts[index], total))
        return found

    def hash(self) -> tuple[Any, ...]:
        parts = [
            (
                p["name"],
                self.left(i),
                p.get("minCount"),
                self.shapes[i].identity,
                tuple(sorted(self.shapes[i].requests.items())),
            )
            for i, p in enumerate(self.pod_sets)
        ]
        return (self.priority, *parts)

    def held(self) -> dict[FR, int]:
        """Return the usage of an admission, after reclaimed pods."""
        usage: dict[FR, int] = {}
        counts = {p["name"]: self.left(i) for i, p in enumerate(self.pod_sets)}
        for part in self.admission["podSetAssignments"]:
            count, left = part["count"], counts[part["name"]]
            for resource, flavor in part["flavors"].items():
                amount = canonical(resource, part["resourceUsage"][resource])
                if left < count:
                    amount = amount // count * left
                fr = (flavor, resource)
                usage[fr] = usage.get(fr, 0) + amount
        return usage


class World:
    """Everything a scheduling cycle reads."""

    def __init__(self, vector: Manifest) -> None:
        self.now = durations.stamp_us(vector["now"])
        fair = (vector.get("config") or {}).get("fairSharing")
        self.fair = fair is not None
        both = ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]
        self.rules = (fair or {}).get("preemptionStrategies") or both
        kinds: dict[str, list[Manifest]] = {}
        for obj in vector["objects"]:
            kinds.setdefault(obj["kind"], []).append(obj)
        self.kinds = kinds
        self.labels = {
            o["metadata"]["name"]: o["metadata"].get("labels") or {}
            for o in kinds.get("Namespace", ())
        }
        self.flavors: dict[str, Flavor] = {
            o["metadata"]["name"]: read_flavor(o)
            for o in kinds.get("ResourceFlavor", ())
        }
        self.cohorts: dict[str, QuotaNode] = {}
        self.queues: dict[str, QuotaNode] = {}
        self._tree()
        self.local_queues = {
            (o["metadata"]["namespace"], o["metadata"]["name"]): o["spec"]
            for o in kinds.get("LocalQueue", ())
        }
        overheads = {
            o["metadata"]["name"]: (o.get("overhead") or {}).get("podFixed")
            for o in kinds.get("RuntimeClass", ())
        }
        works = [Wl(o, overheads) for o in kinds.get("Workload", ())]
        self.works = sorted(works, key=lambda w: (w.created, w.uid))
        self.holders: dict[str, list[Wl]] = {name: [] for name in self.queues}
        self.heaps: dict[str, list[Wl]] = {name: [] for name in self.queues}
        self.inadmissible: dict[str, list[Wl]] = {name: [] for name in self.queues}
        self.remembered: dict[str, dict[Any, str]] = {name: {} for name in self.queues}
        self.sticky: dict[str, Wl | None] = {}
        self.generation = dict.fromkeys(self.queues, 0)
        self.cycle = 0
        for work in self.works:
            self._place(work)

    def _tree(self) -> None:
        for o in self.kinds.get("Cohort", ()):
            name = o["metadata"]["name"]
            self.cohorts[name] = QuotaNode("Cohort", name, o.get("spec") or {})
        for o in self.kinds.get("ClusterQueue", ()):
            name = o["metadata"]["name"]
            node = self.queues[name] = QuotaNode("ClusterQueue", name, o["spec"])
            node.active = o["spec"].get("stopPolicy", "None") == "None" and all(
                f in self.flavors for f, _ in node.quotas
            )
        nodes = [(n, "parentName") for n in list(self.cohorts.values())]
        nodes += [(n, "cohortName") for n in self.queues.values()]
        for node, field in nodes:
            above = node.spec.get(field)
            if above:
                if above not in self.cohorts:
                    self.cohorts[above] = QuotaNode("Cohort", above, {})
                    self.cohorts[above].weight = 0.0
                node.parent = self.cohorts[above]
                node.parent.children.append(node)

    def _place(self, work: Wl) -> None:
        if work.true("Finished"):
            return
        if work.true("QuotaReserved") and work.admission:
            queue = self.queues.get(work.admission["clusterQueue"])
            if queue is not None and work.active:
                self.hold(work, queue)
            return
        self.enqueue(work)

    def hold(self, work: Wl, queue: QuotaNode) -> None:
        work.usage = work.held()
        self.holders[queue.name].append(work)
        for fr, amount in work.usage.items():
            queue.add(fr, amount)

    def local_queue_of(self, work: Wl) -> Manifest | None:
        """Return the workload's LocalQueue; None if it does not exist or is held."""
        spec = self.local_queues.get((work.namespace, work.local_queue))
        held = spec is None or spec.get("stopPolicy", "None") != "None"
        return None if held else spec

    def queue_of(self, work: Wl) -> QuotaNode | None:
        local_queue = self.local_queue_of(work)
        return self.queues.get(local_queue["clusterQueue"]) if local_queue else None

    def eligible(self, work: Wl) -> bool:
        return (
            work.active and not work.true("QuotaReserved") and not work.true("Finished")
        )

    def ready(self, work: Wl, now: int) -> bool:
        if work.conditions.get("Requeued", {}).get("status") == "False":
            return False
        at = work.requeue_at
        return at is None or durations.stamp_us(at) <= now

    def enqueue(self, work: Wl) -> None:
        queue = self.queue_of(work)
        if queue is None or not self.eligible(work):
            return
        known = self.remembered[queue.name]
        if self.ready(work, self.now) and work.hash() not in known:
            self.heaps[queue.name].append(work)
        else:
            self.inadmissible[queue.name].append(work)

    def leave(self, work: Wl) -> None:
        for lists in (self.heaps, self.inadmissible):
            for waiting in lists.values():
                if work in waiting:
                    waiting.remove(work)
        for name, sticky in self.sticky.items():
            if sticky is work:
                self.sticky[name] = None

    def matches(self, queue: QuotaNode, namespace: str) -> bool:
        selector = queue.spec.get("namespaceSelector")
        if selector is None:
            return False
        return read_selector(selector).matches(self.labels.get(namespace, {}))

    def refusal(self, shape: PodShape, flavor: str) -> str:
        known = self.flavors.get(flavor)
        return (
            f"flavor {flavor} not found"
            if known is None
            else ineligibility_of(shape, known)
        )
