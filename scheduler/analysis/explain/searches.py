"""Searches for victims, from the steps that a trace wrote down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from scheduler.analysis.explain.shapes import (
    Amount,
    PreemptionSearch,
    PreemptionStep,
    QuotaCheck,
    SearchCost,
    ShareRow,
    Source,
    Standing,
    Test,
    Victim,
)
from scheduler.engine.kueue.stage import KueueStage
from scheduler.model.sentence import bare, counted, listed, quantity, several, share

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
        describe(search)
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


# ------------------------------------------------------------------------
# A headline and a sentence for each step of a search, with its numbers.


def describe(search: PreemptionSearch) -> None:
    """Give every step its headline and sentence; the first one is the setup."""
    for source in search.sources:
        source.why = _WHY[source.code]
    _set_up(search.steps[0], search)
    tried = 0
    for step in search.steps[1:]:
        tried += step.kind == "candidate"
        step.headline = _headline(step, tried)
        step.sentence = _SENTENCES[step.kind](step, search)


def _set_up(step: PreemptionStep, search: PreemptionSearch) -> None:
    checks = step.quota_checks
    asked = several(search.requests)
    free = listed([quantity(r.resource, r.available) for r in checks])
    sources = [source for source in search.sources if source.candidates]
    who = ", ".join(_source(source) for source in sources) or "no candidate anywhere"
    sentence = f"{asked} are needed" + (f", {free} are free" if checks else "")
    step.headline = "What it needs, and who may be a candidate"
    step.sentence = f"{sentence}: {who}."


def _source(source: Source) -> str:
    number = counted(source.candidates, "candidate")
    return f"{number} of {source.holders} in {source.queue} ({source.policy})"


def _headline(step: PreemptionStep, tried: int) -> str:
    name = bare(step.workload)
    match step.kind:
        case "candidate":
            return f"Candidate {tried}, {name}"
        case "putBack":
            return f"Fill back, {name}"
        case "attempt":
            return "Try with borrowing" if step.borrowing else "Try without borrowing"
        case "round":
            return step.rule or "First strategy"
        case "turn":
            return f"{step.queue} is asked"
        case "targets":
            return "Targets"
        case _:
            return "It does not fit"


def _attempt(step: PreemptionStep, search: PreemptionSearch) -> str:
    rule = "may borrow" if step.borrowing else "has to stay within its nominal quota"
    return f"The preemptor {rule}: {_quota_checks(step.quota_checks)}."


def _round(step: PreemptionStep, search: PreemptionSearch) -> str:
    if step.within_nominal:
        return (
            "With its request the preemptor stays within nominal quota: it reclaims, "
            "and no shares are compared."
        )
    if step.rule == (search.rules[0] if search.rules else ""):
        return (
            f"Shares are compared by {step.rule}: {_quota_checks(step.quota_checks)}."
        )
    return f"Those refused are asked once more, by {step.rule}, one of each queue."


def _turn(step: PreemptionStep, search: PreemptionSearch) -> str:
    value = next((s.share for s in step.shares if s.name == step.queue), None)
    if not step.shares:
        return f"{step.queue} has candidates."
    own = ", the preemptor's own queue" if step.relation == "same" else ""
    return f"{step.queue}{own} has the highest share left, {share(value)}."


def _candidate(step: PreemptionStep, search: PreemptionSearch) -> str:
    name = bare(step.workload)
    text = _test(step.test, taken=step.verdict == "taken")
    if step.verdict == "refused":
        return f"{text}: {name} is refused."
    if step.verdict == "skipped":
        return f"{text}: {name} is skipped."
    end = "the preemptor fits" if step.fits else "not enough yet"
    held = several(step.held)
    lead = f"{text}: take it" if text else f"{name} goes ({step.reason})"
    return f"{lead}. It frees {held}; {_quota_checks(step.quota_checks)}, {end}."


def _test(test: Test | None, *, taken: bool) -> str:
    if test is None:
        return ""
    match test.kind:
        case "share":
            return _shares(test, taken=taken)
        case "priority":
            if test.below is None:
                return "While borrowing nobody of another queue may be preempted"
            if test.threshold is not None:
                limit = f"maxPriorityThreshold {test.threshold}"
                return f"While borrowing, priority {test.priority} is above {limit}"
            return f"Priority {test.priority} < {test.below} is false while borrowing"
        case _:
            return _nominal(test.cells)


def _shares(test: Test, *, taken: bool) -> str:
    ours = share(test.preemptor_share)
    if test.rule == 0 and test.preemptor_share is None and not taken:
        return "The preemptor's share is infinite (weight 0)"
    first = test.target_share_after
    sign, theirs = "≤", share(first)
    if test.rule != 0:
        sign, theirs = "<", share(test.target_share_before)
    verdict = "" if taken else " is false"
    return f"{ours} {sign} {theirs}{verdict}"


def _nominal(cells: Sequence[Standing]) -> str:
    parts = [
        f"{cell.name} uses {quantity(cell.resource, cell.used)} of "
        f"{quantity(cell.resource, cell.quota)}"
        for cell in cells
    ]
    return f"{listed(parts)} by now"


def _quota_checks(checks: Sequence[QuotaCheck]) -> str:
    return "; ".join(_quota_check(check) for check in checks)


def _quota_check(check: QuotaCheck) -> str:
    free = int(check.available)
    if check.within_nominal is not None:
        free = min(free, max(0, int(check.within_nominal)))
    sign = "≥" if free >= int(check.amount) else "<"
    asked = quantity(check.resource, check.amount)
    return f"{quantity(check.resource, free)} free {sign} {asked} asked"


def _put_back(step: PreemptionStep, search: PreemptionSearch) -> str:
    if step.fits:
        return f"With it back {_quota_checks(step.quota_checks)}: it keeps running."
    return f"With it back {_quota_checks(step.quota_checks)}: it stays a target."


def _failed(step: PreemptionStep, search: PreemptionSearch) -> str:
    again = " and tries again otherwise" if _more(step, search) else ""
    return f"Everybody who may go is not enough; the search puts all back{again}."


def _more(step: PreemptionStep, search: PreemptionSearch) -> bool:
    at = search.steps.index(step)
    return any(later.kind == "attempt" for later in search.steps[at + 1 :])


def _target_sentences(step: PreemptionStep, search: PreemptionSearch) -> str:
    names = [bare(victim.workload) for victim in search.targets]
    number = counted(len(names), "workload is", "workloads are")
    return f"{number} preempted: {listed(names)}."


_WHY = {
    "": "",
    "reclaimNever": "reclaimWithinCohort is Never",
    "withinNominal": "within its nominal quota",
    "inactive": "the ClusterQueue is not active",
    "borrowsNone": "borrows none of it",
}
_SENTENCES = {
    "attempt": _attempt,
    "round": _round,
    "turn": _turn,
    "candidate": _candidate,
    "putBack": _put_back,
    "failed": _failed,
    "targets": _target_sentences,
}
