"""The quota tree: cohorts, ClusterQueues, LocalQueues and flavors."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from sandbox.page.phases import conditions_of, is_true
from sandbox.page.rows.tally import TreeMarks, WorkloadTally
from sandbox.page.wire import (
    ClusterQueueRow,
    CohortRow,
    LocalQueueRow,
    QuotaCell,
    ResourceFlavorRow,
    Row,
)
from scheduler.engine.kueue.tree.forest import Forest
from scheduler.engine.kueue.tree.quota import available_non_negative, weighted_share
from scheduler.engine.kueue.tree.tree import (
    ClusterQueue,
    Cohort,
    FlavorResource,
    QuotaNode,
    ResourceNode,
)
from scheduler.engine.world import World
from scheduler.model.amounts import UNLIMITED
from scheduler.model.objects import Key, Object


def rows(world: World, tally: WorkloadTally) -> Iterator[Row]:
    """Yield the rows of every cohort, ClusterQueue and LocalQueue."""
    if world.kueue is None:
        return
    world.kueue.settle()
    forest, lending = world.kueue.cluster.forest, Lending()
    for node in _nodes(forest):
        yield _node_row(world, node, tally, lending)
    for (namespace, name), local_queue in sorted(
        world.kueue.cluster.local_queues.items()
    ):
        obj = world.objects.get(Key("LocalQueue", namespace, name))
        if local_queue.spec is not None and obj is not None:
            yield local_queue_row(world, obj, tally)


def changed_rows(
    world: World, tally: WorkloadTally, touched: Collection[Key], now: TreeMarks
) -> Iterator[Row]:
    """Yield the rows of queues and cohorts that a tick may have changed.

    Those are all nodes of a tree whose usage changed, the objects `touched`, which have a
    new status, and queues whose counts of workloads changed.
    """
    assert world.kueue is not None
    assert tally.trees is not None
    cluster, lending = world.kueue.cluster, Lending()
    same = {r for r, used in now.usages.items() if tally.trees.usages.get(r) == used}
    names = {key.name for key in touched if key.kind == "ClusterQueue"} | tally.moved
    for node in _nodes(cluster.forest):
        if node.root not in same or (
            node.kind == "ClusterQueue" and node.name in names
        ):
            yield _node_row(world, node, tally, lending)
    local = {key[1:] for key in touched if key.kind == "LocalQueue"}
    for name in sorted(local | tally.moved_local):
        local_queue = cluster.local_queues.get(name)
        obj = world.objects.get(Key("LocalQueue", *name))
        if local_queue is not None and local_queue.spec is not None and obj is not None:
            yield local_queue_row(world, obj, tally)


def marks(world: World) -> TreeMarks | None:
    """Return what the rows of this moment would be made of; None without quota trees.

    O(nodes x resources), but little for each.
    """
    if world.kueue is None:
        return None
    forest = world.kueue.cluster.forest
    usages: dict[object, list[int]] = {}
    for node in _nodes(forest):
        amounts = usages.setdefault(node.root, [])
        amounts += [one.usage for one in node.resource_nodes.values()]
    return TreeMarks(forest.links, usages)


def _nodes(forest: Forest) -> Iterator[QuotaNode]:
    yield from forest.cohorts.values()
    yield from forest.queues.values()


def _node_row(
    world: World, node: QuotaNode, tally: WorkloadTally, lending: Lending
) -> Row:
    if isinstance(node, ClusterQueue):
        return cluster_queue_row(world, node, tally, lending)
    assert isinstance(node, Cohort)
    return cohort_row(node, lending)


def cohort_row(cohort: Cohort, lending: Lending) -> CohortRow:
    """Return the row of a cohort, declared or implied."""
    return CohortRow(
        key=str(Key("Cohort", "", cohort.name)),
        name=cohort.name,
        parent=cohort.parent.name if cohort.parent else "",
        implicit=cohort.implicit,
        weight=f"{cohort.weight:g}",
        share=share_text(cohort),
        cells=[_cell(one, lending) for one in _resource_nodes(cohort)],
        lendable=_lendable(cohort),
    )


def cluster_queue_row(
    world: World, queue: ClusterQueue, tally: WorkloadTally, lending: Lending
) -> ClusterQueueRow:
    """Return the row of a ClusterQueue."""
    spec = queue.spec
    obj = world.objects[Key("ClusterQueue", "", queue.name)]
    return ClusterQueueRow(
        key=str(obj.key),
        name=queue.name,
        cohort=spec.cohort,
        queueing_strategy=spec.strategy,
        stop_policy=spec.stop,
        active=queue.active,
        inactive_reason="" if queue.active else _inactive_reason(obj.status),
        weight=f"{queue.weight:g}",
        share=share_text(queue),
        cells=[_cell(one, lending) for one in _resource_nodes(queue)],
        counts=tally.of_cluster_queue(queue.name),
        within_cluster_queue=spec.preemption.within_queue,
        reclaim_within_cohort=spec.preemption.reclaim,
        borrow_within_cohort=spec.preemption.borrow_policy,
    )


def local_queue_row(world: World, obj: Object, tally: WorkloadTally) -> LocalQueueRow:
    """Return the row of a LocalQueue."""
    namespace, name = obj.key.namespace, obj.key.name
    queue = obj.spec.get("clusterQueue") or ""
    return LocalQueueRow(
        key=str(obj.key),
        name=name,
        namespace=namespace,
        cluster_queue=queue,
        stop_policy=obj.spec.get("stopPolicy") or "None",
        active=is_true(conditions_of(obj.status), "Active"),
        counts=tally.of_local_queue(namespace, name, queue),
    )


def flavor_row(_: World, obj: Object) -> ResourceFlavorRow:
    """Return the row of a ResourceFlavor."""
    return ResourceFlavorRow(
        key=str(obj.key),
        name=obj.key.name,
        node_labels=dict(obj.spec.get("nodeLabels") or {}),
        taints=taint_texts(obj.spec.get("nodeTaints")),
    )


def taint_texts(given: list[dict[str, Any]] | None) -> list[str]:
    """Return taints as kubectl writes them: key=value:effect."""
    return [
        f"{taint.get('key', '')}"
        f"{'=' + taint['value'] if taint.get('value') else ''}"
        f":{taint.get('effect', '')}"
        for taint in given or ()
    ]


def share_text(node: QuotaNode) -> str:
    """Return the weighted share as a decimal text; "inf" for a weightless borrower."""
    share = weighted_share(node)
    return "inf" if share == UNLIMITED else str(share)


def _inactive_reason(status: dict[str, Any]) -> str:
    active = conditions_of(status).get("Active") or {}
    return str(active.get("message") or active.get("reason") or "")


def _resource_nodes(node: QuotaNode) -> list[ResourceNode]:
    """Return what to show: everything with quota or usage, flavors as declared."""
    return [
        resource_node
        for resource_node in node.resource_nodes.values()
        if resource_node.has_quota or resource_node.usage
    ]


def _cell(resource_node: ResourceNode, lending: Lending) -> QuotaCell:
    flavor, resource = resource_node.flavor_resource
    return QuotaCell(
        flavor=flavor,
        resource=resource,
        nominal=str(
            resource_node.subtree_quota
            if isinstance(resource_node.node, Cohort)
            else resource_node.nominal
        ),
        used=str(resource_node.usage),
        borrowed=str(max(0, resource_node.usage - resource_node.subtree_quota)),
        lent=str(lending.of(resource_node)),
        available=str(available_non_negative(resource_node)),
        borrowing_limit=_text(resource_node.borrowing_limit),
        lending_limit=_text(resource_node.lending_limit),
    )


def _text(limit: int | None) -> str | None:
    return None if limit is None else str(limit)


class Lending:
    """How much of their unused quota nodes lend, while nothing is taken or given back.

    What siblings use above their own is spread over those who have shared quota
    unused, in proportion, rounded down: Kueue keeps no account of who lends to whom.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[Cohort, FlavorResource], tuple[int, int]] = {}

    def of(self, resource_node: ResourceNode) -> int:
        """Return how much of a node's unused quota the rest of its cohort uses now."""
        parent, mine = resource_node.parent, _spare(resource_node)
        above = resource_node.node.parent
        if parent is None or above is None or not mine:
            return 0
        spare, over = self._among(above, resource_node.flavor_resource)
        # The cohort's own quota is used before that of members counts as lent.
        over -= max(0, parent.nominal)
        return mine * min(max(0, over), spare) // spare

    def _among(self, parent: Cohort, what: FlavorResource) -> tuple[int, int]:
        """Return what the children have unused, and what they use above their own."""
        found = self._known.get((parent, what))
        if found is None:
            spare = over = 0
            for child in parent.children():
                if (one := child.resource_nodes.get(what)) is not None:
                    spare += _spare(one)
                    over += max(0, one.usage - one.subtree_quota)
            found = self._known[parent, what] = spare, over
        return found


def _spare(resource_node: ResourceNode) -> int:
    return max(
        0,
        min(
            resource_node.subtree_quota - resource_node.local_quota,
            resource_node.subtree_quota - resource_node.usage,
        ),
    )


def _lendable(cohort: Cohort) -> dict[str, str]:
    """Return per resource what the cohort could have in all if nothing were used."""
    total: dict[str, int] = {}
    for resource_node in _resource_nodes(cohort):
        resource = resource_node.flavor_resource[1]
        total[resource] = total.get(resource, 0) + resource_node.potential_available
    return {name: str(amount) for name, amount in sorted(total.items())}
