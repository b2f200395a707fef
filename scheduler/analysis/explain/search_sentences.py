"""A headline and a sentence for each step of a search, with its numbers."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler.analysis.explain.shapes import (
    PreemptionSearch,
    PreemptionStep,
    QuotaCheck,
    Source,
    Standing,
    Test,
)
from scheduler.model.english import (
    bare,
    counted,
    listed,
    quantity,
    several,
    share,
)


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


def _targets(step: PreemptionStep, search: PreemptionSearch) -> str:
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
    "targets": _targets,
}
