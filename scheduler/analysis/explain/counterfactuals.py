"""Counterfactuals: what would let a workload in, every one of them really run."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.analysis.explain.fork import check_of_manager
from scheduler.analysis.explain.outcomes import (
    Trial,
    attempt,
    finished_before,
    outcome_of,
    run_to_places,
)
from scheduler.analysis.explain.questions.asking import questions
from scheduler.analysis.explain.questions.question import CandidateChange, Question
from scheduler.analysis.explain.shapes import ChangeOutcome, Counterfactuals, Verdict
from scheduler.analysis.explain.workloads import explain
from scheduler.engine.world import World
from scheduler.model.english import bare, listed, share
from scheduler.model.objects import Key

HORIZON_MS = 600_000
MOST_RUNS = 40
#: How long pods may take to get their nodes once their Workload is admitted.
PLACES_MS = 30_000

#: How many questions were tried, how many there are, and the verdict on the last.


def counterfactuals(
    world: World,
    key: Key,
    *,
    horizon_ms: int = HORIZON_MS,
    limit: int = MOST_RUNS,
) -> Counterfactuals:
    """Return verified verdicts on what would let a waiting Workload in.

    Each is a copy of the world, changed and run on for at most `horizon_ms`
    of virtual time, and no longer than it waits with nothing changed; a verdict
    says "yes" only when it is admitted earlier than that. At most `limit` runs.
    Raises SchedulerError for what is no Workload of this world, and for one of a
    worker cluster.
    """
    check_of_manager(key)
    asked = questions(world, key, explain(world, key))
    verdicts = list(_answers(world, key, asked, horizon_ms, limit))
    return Counterfactuals(
        workload=str(key),
        at_ms=world.context.now_ms,
        horizon_ms=horizon_ms,
        questions=len(asked),
        tried=len(verdicts),
        runs=sum(verdict.runs for verdict in verdicts),
        verdicts=verdicts,
    )


def _answers(
    world: World, key: Key, asked: list[Question], horizon_ms: int, limit: int
) -> Iterator[Verdict]:
    search = _Search(world, key, horizon_ms, limit)
    for question in asked:
        if search.left <= 0 or search.moot:
            return
        yield search.answer(question)


class _Search:
    """Tries the candidates of questions; counts the runs; knows how it goes unchanged."""

    def __init__(self, world: World, key: Key, horizon_ms: int, limit: int) -> None:
        self.world = world
        self.key = key
        self.horizon_ms = horizon_ms
        self.left = limit
        self.natural_ms: int | None = None  # admitted then if nothing is changed

    def answer(self, question: Question) -> Verdict:
        """Return the verdict on the smallest change that works, or on the largest.

        The largest is tried first, for the time it achieves; then the smallest
        that achieves the same is looked for by halves, which finds it where
        more never does worse. What is returned was run, in any case.
        """
        before = self.left
        candidates = question.candidates
        best = self._try(candidates[-1])
        at = len(candidates) - 1
        if question.kind == "wait":
            self.natural_ms = best.admitted_ms
            run_to_places(best, PLACES_MS)
            return _wait(question, best, before - self.left)
        if self._better(best):
            assert best.admitted_ms is not None
            at, best = self._smallest(question, at, best, best.admitted_ms)
        run_to_places(best, PLACES_MS)
        runs = before - self.left
        return self._verdict(question, candidates[at], best, runs)

    def _try(self, candidate: CandidateChange, by_ms: int | None = None) -> Trial:
        self.left -= 1
        return attempt(
            self.world,
            self.key,
            candidate.change,
            horizon_ms=self._horizon(),
            by_ms=by_ms,
        )

    def _horizon(self) -> int:
        """Return how far to run: what comes no earlier than without is no answer."""
        if self.natural_ms is None:
            return self.horizon_ms
        return self.natural_ms - self.world.context.now_ms - 1

    @property
    def moot(self) -> bool:
        """Return whether it is admitted at once with nothing changed."""
        return self.natural_ms == self.world.context.now_ms

    def _better(self, trial: Trial) -> bool:
        """Return whether it was admitted, and before it would be anyhow."""
        if trial.admitted_ms is None:
            return False
        return self.natural_ms is None or trial.admitted_ms < self.natural_ms

    def _smallest(
        self, question: Question, high: int, best: Trial, by_ms: int
    ) -> tuple[int, Trial]:
        low, probe = 0, question.hint
        while low < high and self.left > 0:
            probe = min(max(probe, low), high - 1)
            trial = self._try(question.candidates[probe], by_ms)
            if trial.admitted_ms is not None:
                near, high, best = probe == question.hint, probe, trial
                probe = high - 1 if near else (low + high) // 2
            else:
                low = probe + 1
                probe = (low + high) // 2
        return high, best

    def _verdict(
        self, question: Question, candidate: CandidateChange, trial: Trial, runs: int
    ) -> Verdict:
        outcome = outcome_of(trial)
        verdict = _judged(outcome, holds=self._better(trial))
        return Verdict(
            id=question.id,
            kind=question.kind,
            verdict=verdict,
            subject=candidate.subject,
            now=question.now,
            effect=_effect(verdict, outcome, self.natural_ms),
            change=candidate.change,
            outcome=outcome,
            amounts=candidate.amounts,
            value=candidate.value,
            runs=runs,
        )


def _wait(question: Question, trial: Trial, runs: int) -> Verdict:
    """Return the verdict on just waiting: whose end lets it in, and when."""
    outcome = outcome_of(trial)
    ends = finished_before(trial)
    subject = question.candidates[0].subject
    if ends:
        names = listed([bare(name) for name in ends])
        subject = f"{names} {'finish' if len(ends) > 1 else 'finishes'}"
    verdict = _judged(outcome, holds=trial.admitted_ms is not None)
    return Verdict(
        id=question.id,
        kind=question.kind,
        verdict=verdict,
        subject=subject,
        now="",
        effect=_effect(verdict, outcome, None),
        change=None,
        outcome=outcome,
        finishes=ends,
        runs=runs,
    )


def _judged(outcome: ChangeOutcome, *, holds: bool) -> str:
    if holds:
        return "but" if outcome.pods == "pending" else "yes"
    return "unknown" if outcome.outcome == "unknown" else "no"


def _effect(verdict: str, outcome: ChangeOutcome, natural_ms: int | None) -> str:
    """Return the effect as a sentence: when, at what price, or why not."""
    if verdict == "unknown":
        return f"Not known: the run was given up at {outcome.ran_to_ms / 1000:g} s."
    if verdict == "but":
        when = f"Admitted at tick {outcome.tick}"
        return f"{when}, but pods stay pending: {outcome.pods_message}"
    if verdict == "yes":
        return f"At tick {outcome.tick}{_price(outcome)}."
    why = f" ({outcome.reason})" if outcome.reason else ""
    if natural_ms is not None:
        return f"No earlier than without, at {natural_ms / 1000:g} s{why}."
    return f"Still pending at {outcome.ran_to_ms / 1000:g} s{why}."


def _price(outcome: ChangeOutcome) -> str:
    if not outcome.victims:
        return ""
    names = listed([bare(victim.workload) for victim in outcome.victims])
    reasons = listed(sorted({victim.reason for victim in outcome.victims}))
    moved = [
        f"{change.name} {share(change.before)} to {share(change.after)}"
        for change in outcome.shares
        if change.kind == "ClusterQueue" and change.before != change.after
    ]
    shares = f"; shares: {listed(moved)}" if moved else ""
    return f", by preempting {names} ({reasons}){shares}"
