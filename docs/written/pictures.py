"""Draws the picture of a scenario from a run of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from sandbox.base import library
from sandbox.models import Sandbox
from sandbox.page.diffs import Page, Row
from sandbox.page.pictures import Picture
from sandbox.page.rows.page import page_of
from scheduler.assembly import assemble
from scheduler.engine.tick import advance
from scheduler.engine.world import World
from scheduler.model import durations
from scheduler.model.decisions import NodeChange, Preempt

LOOKS = 24
LONGEST_MS = 300_000
MOST_QUEUES, MOST_NODES = 7, 24
#: A pair that preempts one another this often is a loop.
LOOP_TIMES = 3
#: The changes of a node that take it from its pods; a failed node is tainted.
NODE_LOSSES = {"failed", "interrupted", "tainted"}


def picture_of(name: str) -> Picture:
    """Run a scenario, at most five minutes of virtual time, and return its picture."""
    spec = library.scenario_named(name).spec
    world = assemble(library.files_of(name)).world
    until = min(durations.span_ms(spec.horizon), LONGEST_MS)
    sandbox = Sandbox(title=name, seed=0, stack=world.policy.spec.stack)
    pages = []
    for look in range(1, LOOKS + 1):
        advance(world, until * look // LOOKS)
        pages.append(page_of(world, sandbox))
    return _drawn(world, pages)


def _drawn(world: World, pages: list[Page]) -> Picture:
    waiting = [_waiting(page) for page in pages]
    queues = max((_queues(page) for page in pages), key=_strain)
    nodes = max((_nodes(page) for page in pages), key=sum)
    loop = _loop(world)
    return {
        "queues": queues[:MOST_QUEUES],
        "nodes": nodes[:MOST_NODES],
        "waiting": waiting,
        "loop": loop,
        "workloads": _workloads(pages),
        "nodeCount": len(nodes),
        "topics": sorted(_topics(world, queues, loop)),
    }


def _of_kind(page: Page, *kinds: str) -> list[Row]:
    return [row for row in page.values() if row["kind"] in kinds]


def _waiting(page: Page) -> int:
    rows = _of_kind(page, "Workload", "Application", "Pod")
    own = [r for r in rows if r["kind"] != "Pod"] or rows
    return sum(
        row.get("phase", row.get("state")) in ("pending", "inadmissible", "Accepted")
        for row in own
    )


def _workloads(pages: Iterable[Page]) -> int:
    kinds = ("Workload", "Application")
    seen = {row["key"] for page in pages for row in _of_kind(page, *kinds)}
    pods = {row["key"] for page in pages for row in _of_kind(page, "Pod")}
    return len(seen or pods)


def _queues(page: Page) -> list[list[int]]:
    """Return [depth, own, borrowed, nominal] in percent of the widest queue."""
    rows = _of_kind(page, "ClusterQueue", "Cohort", "Queue")
    paths = sorted((_path(row, page), row["key"]) for row in rows)
    found = [(len(path) - 1, *_amounts(page[key])) for path, key in paths]
    widest = max((max(own + more, sure) for _, own, more, sure in found), default=0)
    scale = 100 / widest if widest else 0
    return [
        [depth, *(round(value * scale) for value in (own, more, nominal))]
        for depth, own, more, nominal in found
    ]


def _path(row: Row, page: Page) -> tuple[str, ...]:
    """Return the names from the root of its tree down to the row's own."""
    path, name = [row["name"]], row.get("cohort") or row.get("parent") or ""
    kind = "Queue" if row["kind"] == "Queue" else "Cohort"
    while name and name not in path:
        path.append(name)
        above = page.get(f"{kind}//{name}")
        name = above["parent"] if above else ""
    return tuple(reversed(path))


def _amounts(row: Row) -> tuple[int, int, int]:
    """Return own use, borrowed and nominal of the resource that is used most."""
    if row["kind"] == "Queue":
        return _of_yunikorn(row)
    cells = [
        (int(cell["used"]), int(cell["borrowed"]), int(cell["nominal"]))
        for cell in row["cells"]
        if cell["resource"] != "memory"
    ]
    if not cells:
        return 0, 0, 0
    used, borrowed, nominal = max(cells, key=lambda c: (c[0] + c[1], c[2]))
    return used - borrowed, borrowed, nominal


def _of_yunikorn(row: Row) -> tuple[int, int, int]:
    cap, held = row["guaranteed"] or row["max"], row["allocated"]
    names = [name for name in {**held, **cap} if name != "memory"]
    if not names:
        return 0, 0, 0
    first = max(names, key=lambda n: (int(held.get(n, 0)), int(cap.get(n, 0)), n))
    used, sure = int(held.get(first, 0)), int(cap.get(first, 0))
    return (min(used, sure) if sure else used, max(0, used - sure) if sure else 0, sure)


def _nodes(page: Page) -> list[int]:
    """Return how full each node is, 0 to 9; -1 where it takes no pods."""
    return [
        _fill(row) if row["state"] == "ready" else -1 for row in _of_kind(page, "Node")
    ]


def _fill(row: Row) -> int:
    shares = [
        int(row["used"].get(name, 0)) / int(most)
        for name, most in row["allocatable"].items()
        if name != "pods" and int(most)
    ]
    return round(9 * min(1.0, max(shares, default=0.0)))


def _strain(queues: list[list[int]]) -> int:
    return sum(own + 2 * borrowed for _, own, borrowed, _ in queues)


def _loop(world: World) -> int:
    """Return how often the pair that preempts one another most did so; 0 for none."""
    sides: dict[frozenset[str], set[str]] = {}
    times: Counter[frozenset[str]] = Counter()
    for decision in world.context.journal.decisions:
        if isinstance(decision, Preempt) and decision.by is not None:
            pair = frozenset((str(decision.by), str(decision.subject)))
            times[pair] += 1
            sides.setdefault(pair, set()).add(str(decision.by))
    loops = [n for pair, n in times.items() if len(sides[pair]) > 1]
    most = max(loops, default=0)
    return most if most >= LOOP_TIMES else 0


def _topics(world: World, queues: list[list[int]], loop: int) -> Iterator[str]:
    made = world.context.journal.decisions
    types = Counter(type(d).__name__ for d in made)
    kinds = Counter(key.kind for key in world.objects)
    spec = world.policy.spec
    if types["Preempt"]:
        yield "preemption"
    if loop:
        yield "loops"
    if any(borrowed for _, _, borrowed, _ in queues):
        yield "borrowing"
    if spec.stack == "kueue" and spec.kueue.get("fairSharing"):
        yield "fairness"
    if kinds["PodGroup"]:
        yield "gangs"
    if any(depth > 1 for depth, *_ in queues):
        yield "hierarchy"
    if any(isinstance(d, NodeChange) and d.change in NODE_LOSSES for d in made):
        yield "failures"
    if types["Bind"] and kinds["Node"]:
        yield "placement"
