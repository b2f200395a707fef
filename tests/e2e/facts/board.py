"""Numbers of the board: counts, bars, shares, cards by section, the curves' newest values."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from sandbox.page.rows.samples import owned_by_cohorts
from tests.e2e.facts import card as card_facts
from tests.e2e.facts import view as view_facts

Row = dict[str, Any]

BAR = re.compile(r": (\S+) used of nominal (\S+), (\S+) borrowed, (\S+) lent")
SECTIONS = {
    "waiting": {"pending", "inadmissible"},
    **{
        name: {name}
        for name in ("reserved", "admitted", "inactive", "finished", "failed")
    },
}
TALLY = {"pending": ("pending", "inadmissible")}


class Fact(NamedTuple):
    """One number of the page: of which object or answer, what, as written."""

    key: str
    source: str
    what: str
    text: str
    name: str
    line: str


def pairs(fact: Fact, rows: dict[str, Row]) -> Iterator[tuple[float, float]]:
    """Yield the numbers of a fact, each with the one that the rows have."""
    what, _, of = fact.what.partition(" ")
    if what == "share":
        yield number(fact.text), share_of(rows[fact.key])
    elif what == "usage" and fact.name:
        yield from usage(fact, rows, of)
    elif what == "used":
        yield number(fact.text), amount(of, rows[fact.key]["used"].get(of, "0"))
    elif what == "load":
        cell = cell_of(rows[fact.key], of)
        yield (
            number(fact.text.rstrip("%\xa0")),
            load(rows[fact.key], of, int(cell["used"])),
        )
    elif what == "queued":
        yield from queued(fact, rows[fact.key], of)
    elif what == "cards":
        yield number(fact.text), cards_in(rows, fact.key, SECTIONS.get(of, {of}))
    elif what == "legend":
        yield from legend(fact, rows)
    elif fact.key:
        names = TALLY.get(what, (what,))
        counts = counts_of(rows, fact.key)
        yield number(fact.text), sum(counts[name] for name in names)


def hidden(fact: Fact, cards: list[list[str]], rows: dict[str, Row]) -> list[str]:
    """Return what a button says of the cards that a section does not draw, if wrong."""
    phases = SECTIONS[fact.what.split(" ")[1]]
    here = [rows[key] for column, key in cards if column == fact.key and key in rows]
    drawn = sum(card_facts.state_of(row) in phases for row in here)
    expected = cards_in(rows, fact.key, phases) - drawn
    shown = number(fact.text)
    return [] if shown == expected else [f"{fact.key} hides {expected}, not {shown:g}"]


def share_of(row: Row) -> float:
    """Return a queue's share as it is written: Kueue's is whole, rounded up."""
    if row["kind"] == "Queue":
        return float(row["share"])
    return math.inf if row["share"] == "inf" else math.ceil(float(row["share"]) - 1e-9)


def usage(fact: Fact, rows: dict[str, Row], pair: str) -> Iterator[tuple[float, float]]:
    """Yield what a bar says in its name, and beside it."""
    shown = BAR.search(fact.name)
    assert shown is not None, fact.name
    flavor, _, resource = pair.partition("/")
    names = ("used", "nominal", "borrowed", "lent")
    queues = queues_under(rows, fact.key)
    cells = [
        cell
        for row in queues
        for cell in row["cells"]
        if (cell["flavor"], cell["resource"]) == (flavor, resource)
    ]
    single = fact.key.startswith("ClusterQueue/")
    for name, text in zip(names, shown.groups(), strict=True):
        if single or name == "used":
            expected = sum(amount(resource, cell[name]) for cell in cells)
            yield number(text), expected
    if resource != "memory":
        expected = sum(amount(resource, cell["used"]) for cell in cells)
        yield number(fact.text.split("/")[0]), expected


def cell_of(row: Row, pair: str) -> Row:
    """Return what a queue has of "flavor/resource"."""
    flavor, _, resource = pair.partition("/")
    cells = [one for one in row["cells"] if one["flavor"] == flavor]
    return next(one for one in cells if one["resource"] == resource)


def load(row: Row, pair: str, used: int) -> float:
    """Return how many per cent of its quota a queue uses, as its tile says it."""
    nominal = int(cell_of(row, pair)["nominal"])
    if nominal == 0:
        return math.inf if used else 0.0
    return float(math.floor(100 * used / nominal + 0.5))


def queued(fact: Fact, row: Row, resource: str) -> Iterator[tuple[float, float]]:
    """Yield what stands beside a bar of YuniKorn's queues: used / guaranteed, or <= max."""
    used, promised = (
        row[name].get(resource, "0") for name in ("allocated", "guaranteed")
    )
    total = row["guaranteed"].get(resource, row["max"].get(resource))
    values = [used, *([] if total is None else [total])]
    if resource in row["guaranteed"] and int(used) > int(promised):
        values.append(str(int(used) - int(promised)))
    expected = [amount(resource, one) for one in values]
    yield from zip(view_facts.numbers(fact.text), expected, strict=True)


def legend(fact: Fact, rows: dict[str, Row]) -> Iterator[tuple[float, float]]:
    """Yield a curve's number of now: a queue's share, or a resource's use."""
    name = fact.line.split("\n")[0].rsplit(" ", 1)[0].strip()
    name = name.removesuffix(fact.text).strip()
    if (queue := rows.get(f"ClusterQueue//{name}")) and "hare" in fact.what:
        yield number(fact.text), share_of(queue)
    cells = [
        cell
        for row in rows.values()
        if row["kind"] == "ClusterQueue"
        for cell in row["cells"]
        if cell["resource"] == name
    ]
    quota = sum(int(cell["nominal"]) for cell in cells)
    owned = owned_by_cohorts(rows.values())
    quota += sum(own for (_, _, resource), own in owned.items() if resource == name)
    if quota and fact.what.startswith("legend Util"):
        used = sum(int(cell["used"]) for cell in cells)
        yield number(fact.text), 100 * used / quota


def queues_under(rows: dict[str, Row], key: str) -> list[Row]:
    """Return a ClusterQueue, or those below a Cohort at any depth."""
    row = rows[key]
    if row["kind"] == "ClusterQueue":
        return [row]
    found = []
    for other in rows.values():
        if other["kind"] == "ClusterQueue" and other["cohort"] == row["name"]:
            found.append(other)
        elif other["kind"] == "Cohort" and other["parent"] == row["name"]:
            found += queues_under(rows, other["key"])
    return found


def counts_of(rows: dict[str, Row], key: str) -> Counter[str]:
    """Return the workloads of a queue or cohort by phase, counted one by one."""
    names = {row["name"] for row in queues_under(rows, key)}
    return Counter(
        row["phase"]
        for row in rows.values()
        if row["kind"] == "Workload" and row["clusterQueue"] in names
    )


def cards_in(rows: dict[str, Row], column: str, phases: set[str]) -> int:
    """Return how many cards stand in a section of a column."""
    return sum(
        card_facts.state_of(row) in phases and stands_in(row, column)
        for row in rows.values()
    )


def stands_in(row: Row | None, column: str) -> bool:
    """Return whether a card belongs to a column."""
    if row is None:
        return False
    if row["kind"] == "Workload":
        queue = row["clusterQueue"]
        return column == (f"ClusterQueue//{queue}" if queue else "none")
    if row["kind"] == "Pod" and column == f"namespace/{row['namespace']}":
        return True
    waits = row["kind"] == "Application" or row.get("phase") == "pending"
    return waits and bool(row.get("queue")) and column == f"Queue//{row['queue']}"


def amount(resource: str, text: str) -> float:
    """Return canonical units in the unit that the page writes: CPUs, GiB."""
    if resource in ("cpu", "vcore"):
        return int(text) / 1000
    return int(text) / 2**30 if resource == "memory" else float(text)


def number(text: str) -> float:
    """Return a number as the page writes it."""
    plain = text.replace(",", "").replace("\xa0", " ").replace("∞", "inf").strip()
    found = re.search(r"inf|-?\d+(\.\d+)?", plain)
    assert found is not None, f"no number in {text!r}"
    return float(found[0])
