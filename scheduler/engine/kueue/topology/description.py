"""A placement written down level by level: what fits into each domain, and why not there.

Only made for explanations; nothing here decides.
"""

from __future__ import annotations

from typing import Any

from scheduler.engine.kueue.topology.counts import Counts
from scheduler.engine.kueue.topology.question import Question
from scheduler.engine.kueue.topology.tree import Domain, Leaf
from scheduler.model.problems.problems import Left
from scheduler.model.sentence import Sentence, plain
from scheduler.model.topology import Path, TopologyAssignment

#: Of one level so many domains are listed, those that are taken first.
MOST_DOMAINS = 24


def describe(
    counts: Counts, question: Question, found: TopologyAssignment | str
) -> list[dict[str, Any]]:
    """Return the levels from the highest down, each with its domains."""
    taken = {} if isinstance(found, str) else _taken(counts, found)
    return [
        _level(counts, question, index, taken)
        for index in range(len(counts.tree.topology.levels))
    ]


def _taken(counts: Counts, found: TopologyAssignment) -> dict[Path, int]:
    """Return how many pods are placed below each domain."""
    below: dict[Path, int] = {}
    for values, pods in found.domains:
        leaf = counts.tree.leaves.get(values)
        for size in range(1, len(leaf.path) + 1) if leaf is not None else ():
            path = leaf.path[:size] if leaf is not None else ()
            below[path] = below.get(path, 0) + pods
    return below


def _level(
    counts: Counts, question: Question, index: int, taken: dict[Path, int]
) -> dict[str, Any]:
    domains = counts.tree.level(index)
    ordered = sorted(
        domains,
        key=lambda d: (-taken.get(d.path, 0), -counts.of(d).pods, d.path),
    )
    return {
        "level": counts.tree.topology.levels[index],
        "requested": index == question.level,
        "needed": question.count,
        "domains": [
            {
                "path": "/".join(domain.path),
                "fits": counts.of(domain).pods,
                "taken": taken.get(domain.path, 0),
                "said": _why(counts, question, domain, taken),
            }
            for domain in ordered[:MOST_DOMAINS]
        ],
        "more": max(0, len(domains) - MOST_DOMAINS),
    }


def _why(
    counts: Counts, question: Question, domain: Domain, taken: dict[Path, int]
) -> Sentence | None:
    """Return why a domain was left; None where it was taken."""
    if taken.get(domain.path):
        return None
    fits = counts.of(domain).pods
    if fits == 0:
        return _excluded(counts, domain)
    if not taken:
        return Left.FEW.said(fits=fits, count=question.count)
    parent = domain.parent.path if domain.parent is not None else ()
    if parent and not taken.get(parent):
        return Left.ABOVE.said()
    if fits < question.count and domain.level <= question.level:
        return Left.FEW.said(fits=fits, count=question.count)
    return Left.LATER.said()


def _excluded(counts: Counts, domain: Domain) -> Sentence:
    """Return why not one pod fits into a domain."""
    if not isinstance(domain, Leaf):
        return Left.NOTHING.said()
    short, excluded = counts.short_of(domain), counts.exclusion(domain)
    if short:
        return Left.RESOURCE.said(name=short)
    return plain(excluded) if excluded else Left.NOTHING.said()
