"""A whole page, and the part of it that a tick may have changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from sandbox.models import Sandbox
from sandbox.page.diffs import Delta, Page, Row, note
from sandbox.page.rows import nodes, quota, transport, workloads, yunikorn
from sandbox.page.rows.tally import COUNTED, TreeMarks, WorkloadTally
from sandbox.page.wire import AnyRow
from sandbox.page.wire import Row as WireRow
from scheduler.engine.world import World
from scheduler.engine.worlds.objects import Changes
from scheduler.model.objects import Key, Object, cluster_of, qualified_name
from scheduler.model.objects import plain as inside_key

Make = Callable[[World, Object], WireRow]

#: Kinds with one row per object, made from that object (and the stages).
MAKERS: dict[str, Make] = {
    "Workload": workloads.row,
    "Pod": nodes.pod_row,
    "Node": nodes.row,
    "ResourceFlavor": quota.flavor_row,
    "MultiKueueCluster": nodes.cluster_row,
}


def page_of(world: World, sandbox: Sandbox) -> Page:
    """Return every row of the world. O(objects)."""
    page: Page = {}
    if world.kueue is not None:
        world.kueue.settle()
    for obj in world.objects.values():
        make = MAKERS.get(obj.key.kind)
        if make is not None and world_shows(world, obj.key):
            page[str(obj.key)] = row_of(world, obj)
    for card in workloads.rows(world, sandbox):
        page[card.key] = plain(card)
    for row in _always(world, WorkloadTally.of(page)):
        page[row["key"]] = row
    page[transport.KEY] = transport.sandbox_row(world, sandbox, None)
    page[transport.POLICY_KEY] = transport.policy_row(world, sandbox)
    return page


def delta_of(
    world: World, sandbox: Sandbox, page: Page, tally: WorkloadTally, changes: Changes
) -> Delta:
    """Return what changed since `page` by a tick with these changes.

    `tally` counts the page's workloads and is brought forward. Cost: the
    touched objects, their nodes, all queues, and who moved inside them.
    """
    delta = Delta()
    for key in changes.removed:
        before = page.get(str(key)) if key.kind in MAKERS else None
        if before is not None:
            delta.removed.append(str(key))
            tally.change(before, None)
    shown = set(delta.removed)
    for obj in _touched(world, changes):
        _show(delta, page, tally, row_of(world, obj), shown)
    for node in _nodes_of(world, page, changes):
        if str(node.key) not in shown:
            _show_taken(delta, page, tally, world, node)
    for cluster, each in nodes.each_world(world):
        for row, patch in workloads.moved_aside(each, page, shown, cluster):
            delta.updated[row["key"]] = patch
            if "phase" in patch:
                tally.turn(row, patch["phase"])
    _expect(
        delta, page, tally, [plain(c) for c in workloads.rows(world, sandbox)], shown
    )
    usual = _is_usual(sandbox, changes)
    if world.kueue is not None:
        world.kueue.settle()
    trees = quota.marks(world)
    if usual and trees is not None and _stand(world, trees, tally):
        queues = [obj.key for obj in changes.touched if obj.key.kind in _QUEUES]
        for made in quota.changed_rows(world, tally, queues, trees):
            tally.anew[made.key] = None
            note(delta, page.get(made.key), plain(made))
    else:
        _make_anew(world, delta, page, tally)
    if trees is not None:
        tally.made(trees)
    grows = sandbox.is_real or world.autoscaling is not None
    known = page if usual or not grows else None
    if not usual:  # a Change may bring another policy
        policy = transport.policy_row(world, sandbox)
        note(delta, page.get(transport.POLICY_KEY), policy)
    note(delta, page.get(transport.KEY), transport.sandbox_row(world, sandbox, known))
    return delta


def _make_anew(world: World, delta: Delta, page: Page, tally: WorkloadTally) -> None:
    rest = set(tally.anew)
    for row in _always(world, tally):
        rest.discard(row["key"])
        tally.anew[row["key"]] = None
        note(delta, page.get(row["key"]), row)
    delta.removed += sorted(rest)
    for gone in rest:
        del tally.anew[gone]


_QUEUES = frozenset({"ClusterQueue", "LocalQueue"})
#: Work comes and goes, and statuses of queues change, in any world: nothing of it is
#: said of the whole. What changes a spec in a tick is an object of another kind.
_USUAL = frozenset({"Workload", "Pod", "Job", *_QUEUES})


def _is_usual(sandbox: Sandbox, changes: Changes) -> bool:
    """Return whether a tick brought nothing that else only edits do."""
    return not sandbox.is_real and (
        _USUAL.issuperset(obj.key.kind for obj in changes.touched)
        and _QUEUES.isdisjoint(key.kind for key in changes.removed)
        and _USUAL.issuperset(key.kind for key in changes.removed)
    )


def _stand(world: World, trees: TreeMarks, tally: WorkloadTally) -> bool:
    """Return whether the rows of all queues were made of trees that still stand."""
    alone = world.yunikorn is None and not world.workers()
    return alone and tally.trees is not None and tally.trees.links == trees.links


def _show(
    delta: Delta, page: Page, tally: WorkloadTally, row: Row, shown: set[str]
) -> None:
    key = row["key"]
    before = page.get(key)
    note(delta, before, row)
    if key in shown:
        tally.change(None, row)
    elif before is None or not COUNTED.isdisjoint(delta.updated.get(key, ())):
        tally.change(before, row)
    shown.add(key)


def _expect(
    delta: Delta, page: Page, tally: WorkloadTally, cards: list[Row], shown: set[str]
) -> None:
    """Show who is expected now; who was and is neither that nor made is gone."""
    before = workloads.among(page)
    for row in cards:
        _show(delta, page, tally, row, shown)
    for key in sorted(before - shown):
        delta.removed.append(key)
        tally.change(page[key], None)


def world_shows(world: World, key: Key) -> bool:
    """Return whether an object is on the page; objects that have not arrived are not."""
    home = nodes.world_of(world, key)
    return not home.lifetime.waits(key if home is world else inside_key(key))


def row_of(world: World, obj: Object) -> Row:
    """Return the row of one object, of this cluster or of a worker's."""
    home, own = nodes.inside(world, obj)
    row = plain(MAKERS[obj.key.kind](home, own))
    return row if home is world else nodes.outside(row, cluster_of(obj.key))


def plain(row: AnyRow | WireRow) -> Row:
    """Return the row as plain values under their names on the wire."""
    values: Row = msgspec.to_builtins(row)
    return values


def _always(world: World, tally: WorkloadTally) -> Iterator[Row]:
    for row in (*quota.rows(world, tally), *yunikorn.rows(world)):
        yield plain(row)
    for cluster, worker in sorted(world.workers().items()):
        counts = nodes.WorkerTally(tally, cluster)
        for row in (*quota.rows(worker, counts), *yunikorn.rows(worker)):
            yield nodes.outside(plain(row), cluster)


def _show_taken(
    delta: Delta, page: Page, tally: WorkloadTally, world: World, node: Object
) -> None:
    """Show a node that did not change itself: what its pods take may have."""
    before = page.get(str(node.key))
    if before is None or cluster_of(node.key):
        _show(delta, page, tally, row_of(world, node), set())
        return
    now = nodes.taken_fields(world, node)
    if patch := {name: now[name] for name in now if before[name] != now[name]}:
        delta.updated[before["key"]] = patch
        if tally.placed is not None:
            tally.change(before, {**before, **patch})


def _touched(world: World, changes: Changes) -> Iterator[Object]:
    """Yield the touched objects that have rows of their own."""
    for obj in changes.touched:
        if obj.key.kind in MAKERS and world_shows(world, obj.key):
            yield obj


def _nodes_of(world: World, page: Page, changes: Changes) -> list[Object]:
    """Return the nodes that pods left, came to, or have capacity reserved on, by name."""
    names = {getattr(decision, "node", "") for decision in changes.decisions}
    touched = [obj.key for obj in changes.touched]
    for key in (*touched, *changes.removed):
        if key.kind == "Pod":
            names.add(qualified_name(nodes.node_of(world, key), cluster_of(key)))
            names |= _nodes_before(page, str(key))
    keys = (Key("Node", "", name) for name in sorted(names - {""}))
    return [world.objects[key] for key in keys if key in world.objects]


def _nodes_before(page: Page, key: str) -> set[str]:
    row: dict[str, Any] | None = page.get(key)
    return {row["node"], row["heldOn"]} if row else set()
