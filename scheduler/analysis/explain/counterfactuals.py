"""Counterfactuals: what would let a workload in, every one of them really run."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from scheduler.analysis.explain.changes import check_of_manager
from scheduler.analysis.explain.outcomes import (
    Trial,
    begin,
    finished_before,
    outcome_of,
    run_on,
    run_to_places,
)
from scheduler.analysis.explain.questions.asking import (
    CandidateChange,
    Question,
    questions,
)
from scheduler.analysis.explain.shapes import ChangeOutcome, Counterfactuals, Verdict
from scheduler.analysis.explain.workloads import explain
from scheduler.engine.world import World
from scheduler.model.objects import Key
from scheduler.model.sentence import bare, listed, share

HORIZON_MS = 600_000
MOST_RUNS = 40
#: How long pods may take to get their nodes once their Workload is admitted.
PLACES_MS = 30_000
#: Every question is tried for so long first: what works soon is answered before what
#: takes the whole horizon.
SOON_MS = 10_000
#: Trials that have not answered by then are kept while they have no more objects in
#: all, at about 2 KiB each; others begin anew.
_MOST_KEPT = 30_000


def counterfactuals(
    world: World,
    key: Key,
    *,
    horizon_ms: int = HORIZON_MS,
    limit: int = MOST_RUNS,
    soon_ms: int = SOON_MS,
    tell: Callable[[Counterfactuals], None] = lambda _: None,
) -> Counterfactuals:
    """Return verified verdicts on what would let a waiting Workload in.

    Each is a copy of the world, changed and run on for at most `horizon_ms`
    of virtual time, and no longer than it waits with nothing changed; a verdict
    says "yes" only when it is admitted earlier than that. At most `limit` runs.
    `tell` gets the verdicts so far after each one; those that hold within `soon_ms`
    come first. Raises SchedulerError for what is no Workload of this world, and for one
    of a worker cluster.
    """
    check_of_manager(key)
    asked = questions(world, key, explain(world, key))
    found: dict[int, Verdict] = {}

    def known() -> Counterfactuals:
        verdicts = [verdict for _, verdict in sorted(found.items())]
        return Counterfactuals(
            workload=str(key),
            at_ms=world.context.now_ms,
            horizon_ms=horizon_ms,
            questions=len(asked),
            tried=len(verdicts),
            runs=sum(verdict.runs for verdict in verdicts),
            verdicts=verdicts,
        )

    search = _Search(world, key, horizon_ms, limit)
    for number, verdict in search.answers(asked, soon_ms):
        found[number] = verdict
        tell(known())
    return known()


class _Search:
    """Tries the candidates of questions; counts the runs; knows how it goes unchanged."""

    def __init__(self, world: World, key: Key, horizon_ms: int, limit: int) -> None:
        self.world = world
        self.key = key
        self.now_ms = world.context.now_ms
        self.until_ms = self.now_ms + horizon_ms
        self.left = limit
        self.natural_ms: int | None = None  # admitted then if nothing is changed

    def answers(
        self, asked: list[Question], soon_ms: int
    ) -> Iterator[tuple[int, Verdict]]:
        """Yield the number of each question, with its verdict: what works soon first.

        The first question is what happens with nothing changed.
        """
        if not asked or self.left <= 0:
            return
        wait, *changes = enumerate(asked)
        unchanged = self._begin(wait[1].candidates[0])
        soon = min(self.until_ms, self.now_ms + soon_ms)
        run_on(unchanged, self.world, soon)
        self.natural_ms = unchanged.admitted_ms
        later: list[tuple[int, Question, Trial | None, int]] = []
        if self.natural_ms is None and soon < self.until_ms:
            kept = 0
            for number, question in changes:
                if self.left <= 0:
                    break
                trial = self._begin(question.candidates[-1])
                run_on(trial, self.world, soon)
                if self._better(trial):
                    trial.until_ms = self.until_ms
                    yield number, self._answer(question, trial, self.left + 1)
                    continue
                kept += len(trial.world.objects)
                begun = trial if kept <= _MOST_KEPT else None
                later.append((number, question, begun, 1))
            run_on(unchanged, self.world, self.until_ms)
            self.natural_ms = unchanged.admitted_ms
        else:
            later = [(number, question, None, 0) for number, question in changes]
        run_to_places(unchanged, PLACES_MS)
        yield wait[0], _wait(wait[1], unchanged, 1)
        if self.natural_ms == self.now_ms:
            return  # it is admitted at once with nothing changed
        while later and (self.left > 0 or later[0][2] is not None):
            number, question, begun, runs = later.pop(0)
            before = self.left + runs
            trial = begun or self._begin(question.candidates[-1])
            run_on(trial, self.world, self._until())
            yield number, self._answer(question, trial, before)

    def _answer(self, question: Question, best: Trial, before: int) -> Verdict:
        """Return the verdict on the smallest change that works, or on the largest.

        `best` is the trial of the largest, for the time it achieves; the smallest
        that achieves the same is looked for by halves, which finds it where
        more never does worse. What is returned was run, in any case.
        `before` is how many runs were left before the first one of this question.
        """
        at = len(question.candidates) - 1
        if self._better(best):
            assert best.admitted_ms is not None
            at, best = self._smallest(question, at, best, best.admitted_ms)
        run_to_places(best, PLACES_MS)
        return self._verdict(
            question, question.candidates[at], best, before - self.left
        )

    def _begin(self, candidate: CandidateChange) -> Trial:
        self.left -= 1
        return begin(self.world, self.key, candidate.change)

    def _until(self) -> int:
        """Return how far to run: what comes no earlier than without is no answer."""
        return self.until_ms if self.natural_ms is None else self.natural_ms - 1

    def _better(self, trial: Trial) -> bool:
        """Return whether it was admitted, and before it would be anyhow."""
        if trial.admitted_ms is None:
            return False
        return self.natural_ms is None or trial.admitted_ms < self.natural_ms

    def _smallest(
        self, question: Question, high: int, best: Trial, by_ms: int
    ) -> tuple[int, Trial]:
        """Return the smallest candidate that is admitted by `by_ms`, and its trial."""
        low, probe = 0, question.hint
        while low < high and self.left > 0:
            probe = min(max(probe, low), high - 1)
            trial = self._begin(question.candidates[probe])
            run_on(trial, self.world, min(by_ms, self._until()))
            trial.until_ms = self._until()
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
