"""Numbers of the view of nodes: pools, what is free in which pieces, how full nodes are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from tests.e2e.facts.view import in_units, numbers

Row = dict[str, Any]

KINDS = (
    "pool",
    "largest",
    "unshown",
    "others",
    "stranded",
    "loads",
    "readyNodes",
    "unplaced",
    "behind",
    "refusing",
    "passing",
)
_ENDED = ("succeeded", "failed")
_UNSHOWN = ("pods", "ephemeral-storage")


def pairs_of(
    what: str, text: str, found: Row, rows: dict[str, Row]
) -> Iterator[tuple[float, float]]:
    """Yield the numbers of a fact, each with the one that follows from REST's rows."""
    kind, *of = what.split(" ")
    nodes = [row for row in rows.values() if row["kind"] == "Node"]
    ready = [node for node in nodes if node["state"] == "ready"]
    match kind:
        case "pool":
            yield from _pool(text, [n for n in nodes if n["flavor"] == " ".join(of)])
        case "largest":
            here = [n for n in nodes if n["flavor"] == " ".join(of)]
            most = [_dominant(n) for n in here]
            yield numbers(text)[-1], max(most)
        case "unshown":
            here = [n for n in nodes if n["flavor"] == " ".join(of[1:])]
            yield numbers(text)[0], len(here) - int(of[0])
        case "others":
            here = [pod for pod in _pods(rows) if pod["node"] == found["name"]]
            without = sum(int(pod["requests"].get(of[0], 0)) == 0 for pod in here)
            yield numbers(text)[0], without
        case "stranded":
            coarse = 52 if "TiB" in text else 0  # written with one decimal
            for shown, expected in _stranded(of, text, ready, rows):
                yield shown, shown if abs(shown - expected) <= coarse else expected
        case "loads":
            steps = Counter(min(9, int(10 * _load(node))) for node in ready)
            yield numbers(text)[0], steps[int(of[0])]
        case "readyNodes":
            yield numbers(text)[0], len(ready)
        case "passing":
            passing = sum(line["fits"] for line in found["nodes"])
            yield numbers(text)[0], passing - int(of[0])
        case "unplaced":
            yield numbers(text)[0], len(_unplaced(rows, gated=False))
        case "behind" if text.strip()[:1].isdigit():
            totals = [one["total"] for one in found["nodes"] if one["fits"]]
            yield numbers(text)[0], totals[0] - totals[int(of[0])]
        case "refusing" if text.strip()[:1].isdigit():
            said = {
                one["node"]: (one["plugin"], one["reasons"]) for one in found["nodes"]
            }
            yield numbers(text)[0], list(said.values()).count(said[of[0]])


def _pods(rows: dict[str, Row]) -> list[Row]:
    pods = [row for row in rows.values() if row["kind"] == "Pod"]
    return [pod for pod in pods if pod["phase"] not in _ENDED]


def _unplaced(rows: dict[str, Row], *, gated: bool) -> list[Row]:
    pods = [pod for pod in _pods(rows) if pod["node"] == ""]
    return [pod for pod in pods if gated or pod["phase"] != "gated"]


def _pool(text: str, nodes: list[Row]) -> Iterator[tuple[float, float]]:
    held = nodes[0]["allocatable"].items()
    shape = [in_units(k, int(v)) for k, v in held if k not in _UNSHOWN and int(v)]
    yield from zip(
        sorted(numbers(text)), sorted([float(len(nodes)), *shape]), strict=True
    )


def _dominant(node: Row) -> float:
    """Return how much a node has of what says most of it: a device, else CPU."""
    held = {k: int(v) for k, v in node["allocatable"].items() if int(v)}
    device = next((name for name in held if "/" in name), "cpu")
    return in_units(device, held[device])


def _load(node: Row) -> float:
    return max(
        int(node["used"].get(name, 0)) / int(most)
        for name, most in node["allocatable"].items()
        if name != "pods" and int(most)
    )


def _stranded(
    of: list[str], text: str, ready: list[Row], rows: dict[str, Row]
) -> Iterator[tuple[float, float]]:
    """Yield what is free of a resource, the largest piece, or what pods of a size could take."""
    what, resource = of[:2]
    left = [
        int(n["allocatable"].get(resource, 0)) - int(n["used"].get(resource, 0))
        for n in ready
    ]
    pieces = sorted((one for one in left if one > 0), reverse=True)
    shown = numbers(text)
    if what == "free":
        yield shown[0], in_units(resource, sum(pieces))
    elif what == "largest":
        yield shown[0], in_units(resource, max(pieces, default=0))
    elif what == "usable":
        size = int(of[2])
        yield shown[0], in_units(resource, sum(one // size * size for one in pieces))
    elif what == "both":
        size = int(of[2])
        usable = sum(one // size * size for one in pieces)
        expected = [in_units(resource, one) for one in (sum(pieces), usable)]
        yield from zip(shown, expected, strict=True)
    elif what == "size":
        yield shown[0], in_units(resource, int(of[2]))
    elif what == "torn":
        yield from zip(
            shown, (in_units(resource, sum(pieces)), len(pieces)), strict=True
        )
    elif what == "pieces":
        first = [in_units(resource, one) for one in pieces[:8]]
        more = [len(pieces) - 8] if len(pieces) > 8 else []
        yield from zip(shown, [*first, *more], strict=True)
    else:
        size = int(of[2])
        count = _asking(resource, size, rows)
        expected = (
            [in_units(resource, size)]
            if what == "another"
            else [count, in_units(resource, size)]
        )
        yield from zip(sorted(shown), sorted(map(float, expected)), strict=True)


def _asking(resource: str, size: int, rows: dict[str, Row]) -> int:
    """Return how many pods wait that ask for so much each."""
    if rows["Sandbox//sandbox"]["stack"] != "kueue":
        waiting = [pod["requests"] for pod in _unplaced(rows, gated=True)]
        return sum(int(asked.get(resource, 0)) == size for asked in waiting)
    return sum(
        group["count"]
        for row in rows.values()
        if row["kind"] == "Workload"
        and row["phase"] in ("pending", "inadmissible", "reserved")
        for group in row["podSets"]
        if int(group["requests"].get(resource, 0)) == size
    )
