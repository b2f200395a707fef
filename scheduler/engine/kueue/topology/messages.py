"""Why a placement found nothing, in Kueue's words.

Source: docs/semantics/kueue-topology.md#messages-of-a-placement.
"""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.engine.kueue.topology.counts import Counts
from scheduler.engine.kueue.topology.levels import NoLevel
from scheduler.engine.kueue.topology.question import Question
from scheduler.engine.kueue.topology.tree import Domain


def no_domains(level: str) -> str:
    """Return the reason where no node has the level's label."""
    return f"no topology domains at level: {level}"


def no_fit(counts: Counts, question: Question, failed: NoLevel) -> str:
    """Return the reason of a search that failed, with what left nodes out."""
    text = (
        _layers(counts, question, failed)
        if len(question.layers) > 1
        else _single(counts, question, failed)
    )
    left_out = counts.exclusions()
    if not left_out:
        return text
    listed = ", ".join(sorted(f"{what}: {n}" for what, n in left_out.items()))
    return f"{text}. Total nodes: {len(counts.tree.leaves)}; excluded: {listed}"


def _single(counts: Counts, question: Question, failed: NoLevel) -> str:
    name = counts.tree.topology.name
    unit = "pod" if question.size == 1 else "slice"
    if failed.fitting == 0:
        return (
            f'topology "{name}" doesn\'t allow to fit any of '
            f"{question.slices} {unit}(s)"
        )
    return (
        f'topology "{name}" allows to fit only {failed.fitting} out of '
        f"{question.slices} {unit}(s)"
    )


def _layers(counts: Counts, question: Question, failed: NoLevel) -> str:
    domains = counts.tree.level(failed.level)
    most = min(domains, key=lambda d: (-counts.of(d).slices, ",".join(d.path)))
    parts = [f'topology "{counts.tree.topology.name}" doesn\'t allow to fit']
    for layer in question.layers:
        level = counts.tree.topology.levels.index(layer.level)
        fitting = sum(
            counts.of(domain).pods // layer.size for domain in _below(most, level)
        )
        wanted = question.count // layer.size
        parts.append(f"{fitting}/{wanted} slice(s) fit on level {layer.level}")
    return "; ".join(parts)


def _below(domain: Domain, level: int) -> Iterator[Domain]:
    if domain.level == level:
        yield domain
        return
    for child in domain.children.values():
        yield from _below(child, level)
