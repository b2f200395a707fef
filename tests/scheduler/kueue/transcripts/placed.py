"""Placements on random trees, the same in each run: answers, words, descriptions, replacements.

The answers were compared with the second reading (`topology/test_places.py`) when they
were kept. `python -m tests.scheduler.kueue.transcripts.placed PART` prints one part;
`--write` keeps all.
"""

from __future__ import annotations

import hashlib
import random
import sys
from collections.abc import Iterator
from pathlib import Path

from scheduler.engine.kueue.topology.placement import CountsCache, PodSetPlacement
from scheduler.engine.kueue.topology.replacement import describe, replace_node
from scheduler.model.topology import TopologyAssignment
from tests.scheduler.kueue.topology.random_places import Case

KEPT = Path(__file__).parent / "places.txt"
PARTS, CASES = 20, 80


def answers(case: Case) -> Iterator[str]:
    """Yield what is found for a case, again beside itself, and when a host fails."""
    cache = CountsCache()
    placement = PodSetPlacement(cache, case.gates, empty=case.empty)
    podsets = case.podsets()
    results = placement.place(case.tree, podsets)
    yield repr(results)
    yield repr(describe_first(placement, case))
    current = {
        name: found
        for name, found in results.items()
        if isinstance(found, TopologyAssignment)
    }
    for part in podsets:
        found = current.get(part.name)
        if found is not None:
            for domain in found.domains:
                per_pod = part.needs.per_pod
                case.tree.add_usage(domain.values, per_pod, domain.pods)
    yield repr(PodSetPlacement(cache, case.gates).place(case.tree, podsets))
    main = current.get("main")
    if main is None or not main.domains:
        return
    failed = case.draw.choice(main.domains).values
    leaf = case.tree.leaves[failed]
    for name in list(leaf.nodes):
        case.tree.remove_node(name)
    again = PodSetPlacement(cache, case.gates)
    yield repr(replace_node(again, case.tree, podsets, current, failed[-1]))


def describe_first(placement: PodSetPlacement, case: Case) -> object:
    part = case.podsets()[0]
    question = placement.question(case.tree, part)
    counts = placement.cache.of(case.tree, question, empty=case.empty)
    found = placement.search(case.tree, question)
    return describe(counts, question, found if isinstance(found, str) else "")


def lines(part: int) -> list[str]:
    """Return all answers of the cases of one part."""
    draws = random.Random(part)
    found: list[str] = []
    for _ in range(CASES):
        case = Case(random.Random(draws.random()), balanced=part % 2 == 0)
        found += answers(case)
    return found


def digest(part: int) -> str:
    return hashlib.sha256("\n".join(lines(part)).encode()).hexdigest()[:16]


def main(words: list[str]) -> None:
    """Print the answers of these parts, or write all digests with `--write`."""
    if words == ["--write"]:
        KEPT.write_text("".join(f"{digest(part)}\n" for part in range(PARTS)))
        return
    for word in words:
        for line in lines(int(word)):
            sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
