"""Searches for victims, from the steps that a trace wrote down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from scheduler.analysis.explain import search_sentences
from scheduler.analysis.explain.shapes import (
    Amount,
    PreemptionSearch,
    PreemptionStep,
    QuotaCheck,
    SearchCost,
    ShareRow,
    Source,
    Test,
    Victim,
)
from scheduler.engine.kueue.stage import KueueStage

Values = Mapping[str, Any]
#: Kinds of steps after the setup.
STEPS = ("attempt", "round", "turn", "candidate", "putBack", "failed", "targets")


class Reader:
    """Makes searches of a trace; knows the clock, the strategy and its rules."""

    def __init__(self, stage: KueueStage) -> None:
        self.law = stage.settings.preemption
        self.rules = list(stage.settings.strategies) if stage.preemption.fair else []
        self.context = stage.context

    def searches(self, steps: Sequence[Values]) -> list[PreemptionSearch]:
        """Return every search of a trace, in order."""
        starts = [i for i, step in enumerate(steps) if step["step"] == "search"]
        bounds = [*starts, len(steps)]
        return [
            self._search(steps[begin], _until_decided(steps[begin + 1 : end]))
            for begin, end in zip(starts, bounds[1:], strict=True)
        ]

    def _search(self, head: Values, steps: Sequence[Values]) -> PreemptionSearch:
        setup = self._step({**head, "step": "setup"})
        later = [self._step(step) for step in steps if step["step"] in STEPS]
        search = PreemptionSearch(
            purpose=head["purpose"],
            law=self.law,
            rules=self.rules,
            requests=msgspec.convert(head["requests"], list[Amount]),
            sources=[
                msgspec.convert(step, Source)
                for step in steps
                if step["step"] == "source"
            ],
            steps=[setup, *later],
            targets=[],
            cost=SearchCost(
                searches=1,
                looked=sum(step.kind == "candidate" for step in later),
                simulations=sum(step.fits is not None for step in later),
            ),
        )
        search.targets = _targets(steps, search.steps)
        search_sentences.describe(search)
        return search

    def _step(self, values: Values) -> PreemptionStep:
        step = PreemptionStep(kind=values["step"])
        for name in ("workload", "queue", "relation", "verdict", "reason", "priority"):
            if values.get(name) is not None:
                setattr(step, name, values[name])
        step.evicted = bool(values.get("evicted"))
        step.borrowing = values.get("borrowing")
        step.fits = values.get("fits")
        step.within_nominal = values.get("withinNominal")
        step.held = msgspec.convert(values.get("held", []), list[Amount])
        step.quota_checks = msgspec.convert(values.get("quota", []), list[QuotaCheck])
        step.shares = msgspec.convert(values.get("shares", []), list[ShareRow])
        if values.get("test") is not None:
            step.test = msgspec.convert(values["test"], Test)
        if values.get("reservedUs") is not None:
            step.reserved_ms = self.context.ms(values["reservedUs"])
        if values.get("own"):
            step.relation = "same"
        if step.kind == "putBack":
            step.verdict = "spared" if step.fits else "needed"
        rule = values.get("rule", step.test.rule if step.test else None)
        if rule is not None and rule < len(self.rules):
            step.rule = self.rules[rule]
        return step


def _until_decided(steps: Sequence[Values]) -> list[Values]:
    """Return the steps of one search: all up to its end."""
    taken = []
    for step in steps:
        if step["step"] in ("decided", "flavor", "scan", "cycle"):
            break
        taken.append(step)
    return taken


def _targets(notes: Iterable[Values], steps: Iterable[PreemptionStep]) -> list[Victim]:
    found: Sequence[tuple[str, str]] = next(
        (n["targets"] for n in notes if n["step"] == "targets"), []
    )
    known = {s.workload: s for s in steps if s.verdict == "taken"}
    return [
        Victim(
            workload=key,
            queue=known[key].queue,
            reason=reason,
            priority=known[key].priority or 0,
            held=known[key].held,
        )
        for key, reason in found
    ]


def cost_of(searches: Sequence[PreemptionSearch]) -> SearchCost:
    """Return the total cost of these searches."""
    return SearchCost(
        searches=len(searches),
        looked=sum(search.cost.looked for search in searches),
        simulations=sum(search.cost.simulations for search in searches),
    )


def decisive(
    searches: Sequence[PreemptionSearch], targets: Sequence[tuple[str, str]]
) -> int | None:
    """Return which search gave these targets: the last one that found them.

    The search for a flavor counts where it answered for the whole request.
    Without targets it is the last search of all.
    """
    wanted = list(targets)
    for index in reversed(range(len(searches))):
        found = [(v.workload, v.reason) for v in searches[index].targets]
        if found == wanted:
            return index
    return len(searches) - 1 if searches else None
