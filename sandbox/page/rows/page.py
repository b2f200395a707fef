"""A whole page, and the part of it that a tick may have changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from sandbox.models import Sandbox
from sandbox.page.diffs import (
    Delta,
    Page,
    Row,
    note,
)
from sandbox.page.rows import (
    clusters,
    expected,
    nodes,
    pods,
    quota,
    transport,
    workloads,
    yunikorn,
)
from sandbox.page.rows.tally import WorkloadTally
from sandbox.page.wire_rows import AnyRow
from sandbox.page.wire_rows import Row as WireRow
from scheduler.engine.world import World
from scheduler.engine.worlds.objects import Changes
from scheduler.model.objects import Key, Object, cluster_of, qualified_name
from scheduler.model.objects import plain as inside_key

Make = Callable[[World, Object], WireRow]

#: Kinds with one row per object, made from that object (and the stages).
MAKERS: dict[str, Make] = {
    "Workload": workloads.row,
    "Pod": pods.row,
    "Node": nodes.row,
    "ResourceFlavor": quota.flavor_row,
    "MultiKueueCluster": clusters.cluster_row,
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
    for card in expected.rows(world, sandbox):
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
    for obj in _touched(world, page, changes):
        _show(delta, page, tally, row_of(world, obj), shown)
    for cluster, each in clusters.each_world(world):
        for row in list(workloads.moved_aside(each, page, shown, cluster)):
            _show(delta, page, tally, row, shown)
    _expect(
        delta, page, tally, [plain(c) for c in expected.rows(world, sandbox)], shown
    )
    rest = set(tally.anew)
    for row in _always(world, tally):
        rest.discard(row["key"])
        tally.anew[row["key"]] = None
        note(delta, page.get(row["key"]), row)
    delta.removed += sorted(rest)
    for gone in rest:
        del tally.anew[gone]
    note(delta, page.get(transport.KEY), transport.sandbox_row(world, sandbox, page))
    return delta


def _show(
    delta: Delta, page: Page, tally: WorkloadTally, row: Row, shown: set[str]
) -> None:
    before = page.get(row["key"])
    note(delta, before, row)
    tally.change(None if row["key"] in shown else before, row)
    shown.add(row["key"])


def _expect(
    delta: Delta, page: Page, tally: WorkloadTally, cards: list[Row], shown: set[str]
) -> None:
    """Show who is expected now; who was and is neither that nor made is gone."""
    before = expected.among(page)
    for row in cards:
        _show(delta, page, tally, row, shown)
    for key in sorted(before - shown):
        delta.removed.append(key)
        tally.change(page[key], None)


def world_shows(world: World, key: Key) -> bool:
    """Return whether an object is on the page; objects that have not arrived are not."""
    home = clusters.world_of(world, key)
    return not home.lifetime.waits(key if home is world else inside_key(key))


def row_of(world: World, obj: Object) -> Row:
    """Return the row of one object, of this cluster or of a worker's."""
    home, own = clusters.inside(world, obj)
    row = plain(MAKERS[obj.key.kind](home, own))
    return row if home is world else clusters.outside(row, cluster_of(obj.key))


def plain(row: AnyRow | WireRow) -> Row:
    """Return the row as plain values under their names on the wire."""
    values: Row = msgspec.to_builtins(row)
    return values


def _always(world: World, tally: WorkloadTally) -> Iterator[Row]:
    for row in (*quota.rows(world, tally), *yunikorn.rows(world)):
        yield plain(row)
    for cluster, worker in sorted(world.workers().items()):
        counts = clusters.WorkerTally(tally, cluster)
        for row in (*quota.rows(worker, counts), *yunikorn.rows(worker)):
            yield clusters.outside(plain(row), cluster)


def _touched(world: World, page: Page, changes: Changes) -> Iterator[Object]:
    """Yield the objects to show anew: the touched, and nodes whose pods moved."""
    seen: dict[Key, Object] = {}
    for obj in changes.touched:
        if obj.key.kind in MAKERS and world_shows(world, obj.key):
            seen[obj.key] = obj
    for name in sorted(_nodes_of(world, page, changes)):
        node = world.objects.get(Key("Node", "", name))
        if node is not None:
            seen[node.key] = node
    yield from seen.values()


def _nodes_of(world: World, page: Page, changes: Changes) -> set[str]:
    """Return the nodes that pods left, came to, or have capacity reserved on."""
    names = {getattr(decision, "node", "") for decision in changes.decisions}
    touched = [obj.key for obj in changes.touched]
    for key in (*touched, *changes.removed):
        if key.kind == "Pod":
            names.add(qualified_name(pods.node_of(world, key), cluster_of(key)))
            names |= _nodes_before(page, str(key))
    return names - {""}


def _nodes_before(page: Page, key: str) -> set[str]:
    row: dict[str, Any] | None = page.get(key)
    return {row["node"], row["heldOn"]} if row else set()
