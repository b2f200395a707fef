"""What every flavor options a workload, resource by resource."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from scheduler.analysis.explain.shapes import FlavorRow
from scheduler.engine.kueue.flavorassigner.assignment import Mode
from scheduler.engine.kueue.trace import arithmetic
from scheduler.engine.kueue.tree.quota import available, local_available
from scheduler.engine.kueue.tree.tree import ClusterQueue, Cohort, ResourceNode
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.model.sentence import Quantity, Sentence
from scheduler.model.workload import PodSetAssignment
from scheduler.words.why import Short

PODS = "pods"
VERDICTS = {
    Mode.FIT.name: "fit",
    Mode.PREEMPT.name: "preempt",
    Mode.RECLAIM.name: "reclaim",
    Mode.NO_CANDIDATES.name: "noCandidates",
    Mode.NO_FIT.name: "noFit",
}
FlavorResource = tuple[str, str, str]  # podset, flavor, resource
#: Of those whose lendingLimit keeps what is asked for so many are named.
MOST_KEEPERS = 3


class FlavorOptions:
    """One row per podset, flavor and resource, in the order of the ClusterQueue.

    Made before a cycle with the numbers of that moment; `take` lays over what
    the search for flavors found. Of several searches the first one counts: it
    asked for all pods.
    """

    def __init__(self, work: WorkloadInfo, queue: ClusterQueue) -> None:
        held = work.admission.pod_sets if work.admission and work.reserved else ()
        made = _held(held, queue) if held else _asked(work, queue)
        self.by_place = {(r.pod_set, r.flavor, r.resource): r for r in made}
        self._reported: set[FlavorResource] = set()

    @property
    def rows(self) -> list[FlavorRow]:
        """Return the rows."""
        return list(self.by_place.values())

    def take(self, steps: Iterable[Mapping[str, Any]]) -> None:
        """Take over the verdicts of a trace."""
        scanned: set[tuple[str, ...]] = set()
        for step in steps:
            match step["step"]:
                case "flavor":
                    self._flavor(step)
                case "barred":
                    self._bar(step)
                case "scan":
                    part = (step["podSet"], *step["resources"])
                    if part not in scanned:
                        scanned.add(part)
                        self._choose(step)
                case _:
                    pass

    def _flavor(self, step: Mapping[str, Any]) -> None:
        place = (step["podSet"], step["flavor"], step["resource"])
        row = self.by_place.get(place)
        if row is None or place in self._reported or row.verdict == "barred":
            return
        self._reported.add(place)
        verdict = VERDICTS[step["mode"]]
        fresh = msgspec.convert({**step, "verdict": verdict}, FlavorRow)
        for name in FlavorRow.__struct_fields__:
            setattr(row, name, getattr(fresh, name))

    def _bar(self, step: Mapping[str, Any]) -> None:
        for resource in step["resources"]:
            row = self.by_place.get((step["podSet"], step["flavor"], resource))
            if row is not None and row.verdict == "notTried":
                row.verdict, row.reason = "barred", step["reason"]

    def _choose(self, step: Mapping[str, Any]) -> None:
        for resource, flavor in step["chosen"].items():
            row = self.by_place.get((step["podSet"], flavor, resource))
            if row is not None:
                row.chosen = True


def traced_flavors(steps: Iterable[Mapping[str, Any]]) -> list[FlavorRow]:
    """Return the rows of the flavors that a trace has."""
    rows: dict[FlavorResource, FlavorRow] = {}
    for step in steps:
        if step["step"] == "flavor":
            place = (step["podSet"], step["flavor"], step["resource"])
            verdict = VERDICTS[step["mode"]]
            row = msgspec.convert({**step, "verdict": verdict}, FlavorRow)
            rows.setdefault(place, row)
        elif step["step"] == "scan":
            for resource, flavor in step["chosen"].items():
                rows[step["podSet"], flavor, resource].chosen = True
    return list(rows.values())


def _asked(work: WorkloadInfo, queue: ClusterQueue) -> Iterator[FlavorRow]:
    for part, count, total in work.scaled_pod_sets(None):
        asked = {**total, PODS: count} if PODS in queue.group_of else total
        for resource, amount in asked.items():
            if resource in queue.group_of:
                yield from _group(part.name, resource, amount, queue)
            elif amount:
                yield FlavorRow(
                    pod_set=part.name,
                    flavor="",
                    resource=resource,
                    verdict="uncovered",
                    reason=f"resource {resource} unavailable in ClusterQueue",
                    requested=str(amount),
                )


def _group(
    pod_set: str, resource: str, amount: int, queue: ClusterQueue
) -> Iterator[FlavorRow]:
    for flavor in queue.spec.groups[queue.group_of[resource]].flavors:
        yield _row(pod_set, queue, (flavor, resource), amount, verdict="notTried")


def _held(
    parts: Iterable[PodSetAssignment], queue: ClusterQueue
) -> Iterator[FlavorRow]:
    for part in parts:
        for resource, flavor in part.flavors.items():
            row = _row(
                part.name,
                queue,
                (flavor, resource),
                part.usage.get(resource, 0),
                verdict="fit",
            )
            row.chosen, row.shortfall = True, "0"
            yield row


def limits_of(queue: ClusterQueue, row: FlavorRow) -> Iterator[Sentence]:
    """Yield which limits keep a row short: its own side's to borrow, then others' to lend."""
    node = queue.resource_nodes.get((row.flavor, row.resource))
    if node is None or int(row.shortfall) <= 0 or row.verdict == "barred":
        return
    for level in borrowing_bound(node):
        limit = Quantity(row.resource, str(level.borrowing_limit))
        yield Short.BORROWING.said(queue=level.node.name, limit=limit)
    for other in keepers(node)[:MOST_KEEPERS]:
        kept = Quantity(row.resource, str(local_available(other)))
        limit = Quantity(row.resource, str(other.lending_limit))
        yield Short.LENDING.said(queue=other.node.name, kept=kept, limit=limit)


def borrowing_bound(node: ResourceNode | None) -> Iterator[ResourceNode]:
    """Yield the levels from a ClusterQueue up that may not borrow what is free above."""
    while node is not None and node.parent is not None:
        over = max(0, node.usage - node.local_quota)
        most = node.max_from_parent
        if most is not None and most - over < available(node.parent):
            yield node
        node = node.parent


def keepers(node: ResourceNode) -> list[ResourceNode]:
    """Return who in the tree has free quota that a lendingLimit keeps, the most first."""
    root = node.node.root
    queues = root.subtree() if isinstance(root, Cohort) else ()
    others = {one for queue in queues for one in (queue, *queue.ancestors)}
    others -= {node.node, *node.node.ancestors}
    found = [
        kept
        for one in others
        if (kept := one.resource_nodes.get(node.flavor_resource)) is not None
        and kept.lending_limit is not None
        and local_available(kept) > 0
    ]
    return sorted(found, key=lambda one: (-local_available(one), one.node.name))


def _row(
    pod_set: str,
    queue: ClusterQueue,
    place: tuple[str, str],
    amount: int,
    *,
    verdict: str,
) -> FlavorRow:
    numbers = arithmetic(queue.resource_node(place), amount)
    given = {"podSet": pod_set, "requested": str(amount), "reason": ""}
    return msgspec.convert({**numbers, **given, "verdict": verdict}, FlavorRow)
