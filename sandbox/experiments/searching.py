"""Searches: an experiment that asks for more runs when those it asked for have ended.

The search itself is a series of questions that the same numbers lead to again, so
nothing of it is kept but the runs: whoever finds all of them ended goes on, and two who
do so at once write the same.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Any

import msgspec
from django.db import DatabaseError, transaction
from django.db.models import Case, F, QuerySet, Value, When
from django.utils import timezone

from sandbox.base.database_time import DatabaseTime
from sandbox.base.errors import ConflictError
from sandbox.base.refusals import NotNow
from sandbox.experiments import reading
from sandbox.experiments.bases import base_of
from sandbox.models import Experiment, Run
from sandbox.models.fields import Sayings
from sandbox.process import idle_flag, watchdog
from scheduler.analysis.advice.advisor import Advisor, derived
from scheduler.analysis.advice.answer import AdviceAnswer
from scheduler.analysis.advice.ledger import Ask, Known
from scheduler.analysis.advice.space import Point
from scheduler.analysis.experiments.bases import RunBase
from scheduler.analysis.experiments.document import (
    ExperimentDocument,
    Variant,
    read_experiment,
)
from scheduler.analysis.experiments.runs import CancelledError, Plan, run_until
from scheduler.analysis.measures import flat
from scheduler.model.errors import SchedulerError
from scheduler.model.problems.forms import joined
from scheduler.model.problems.library import plain_word
from scheduler.model.problems.runs import RunProblem

logger = logging.getLogger(__name__)

#: How long an estimate runs the base, in seconds of the machine.
ESTIMATE_S = 3.0
#: Who is at a step of a search holds it for so long, and renews that.
STEP_LEASE_S = 15.0
#: A step at which so many workers were lost is given up: it may be the reason.
MOST_TRIES = 2
#: So many of the best settings, and of the reasons why runs failed, are shown.
MOST_SHOWN = 12
MOST_REASONS = 3


class SearchError(SchedulerError):
    """A search that cannot go on."""


def first_plan(advisor: Advisor) -> Plan:
    """Return what a search begins with: the base with every seed."""
    return advisor.plan_of(advisor.space.base)


def is_search(document: ExperimentDocument) -> bool:
    """Return whether the experiment asks for its runs as it goes."""
    return document.spec.search is not None and bool(document.spec.search.change)


def estimate(advisor: Advisor, base: RunBase) -> dict[str, Any]:
    """Return how many settings and runs there are, and about how long a run takes.

    Runs the base, for no longer than ESTIMATE_S; what it did not get to is scaled.
    """
    world = base.world(Variant(name="base"), advisor.seeds[0])
    begin_ms, began = world.context.now_ms, time.monotonic()
    cpu = time.process_time()
    try:
        run_until(
            world,
            begin_ms + advisor.horizon_ms,
            keep_on=lambda: time.monotonic() - began < ESTIMATE_S,
        )
        share = 1.0
    except CancelledError:
        share = max(0.01, (world.context.now_ms - begin_ms) / advisor.horizon_ms)
    each = (time.process_time() - cpu) / share
    runs = advisor.most_runs()
    return {
        "settings": advisor.space.count(),
        "runs": runs,
        "secondsPerRun": round(each, 3),
        "cpuSeconds": round(each * runs, 1),
    }


def go_on_with_due(experiment_id: str = "") -> bool:
    """Go on with a search whose runs have all ended; False when there is none.

    A step at which so many workers were lost as may be is not begun again: the search
    fails, and its answer says why.
    """
    now = DatabaseTime()
    due = Experiment.objects.filter(
        searching=True,
        state=Experiment.RUNNING,
        done=F("total"),
        step_lease_until__lt=now,
    )
    if experiment_id:
        due = due.filter(pk=experiment_id)
    found = due.order_by("pk").values_list("pk", flat=True).first()
    if found is None:
        return False
    # The try is written before the work: who is lost writes nothing any longer.
    same = When(step_at=F("total"), then=F("step_tries") + 1)
    mine = Experiment.objects.filter(pk=found)
    if not due.filter(pk=found).update(
        step_lease_until=now + STEP_LEASE_S,
        step_tries=Case(same, default=Value(1)),
        step_at=F("total"),
    ):
        return False  # somebody else is at it
    if mine.values_list("step_tries", flat=True).get() > MOST_TRIES:
        error = f"given up: its worker was lost {MOST_TRIES} times"
        _finish(mine.defer("base").get(), Experiment.FAILED, {"error": error})
        return True
    try:
        with watchdog.renewing(lambda: _renew(mine), STEP_LEASE_S / 3):
            go_on(found)
    finally:
        mine.update(step_lease_until=0, step_tries=0)
    return True


def _renew(mine: QuerySet[Experiment]) -> bool:
    held = mine.filter(step_lease_until__gt=0)
    until, back = DatabaseTime() + STEP_LEASE_S, watchdog.tries_taken_back("step_tries")
    return held.update(step_lease_until=until, **back) == 1


def go_on(experiment_id: str) -> None:
    """Ask for the next runs of a search, or write its answer."""
    experiment = Experiment.objects.defer("base").get(pk=experiment_id)
    try:
        _expect_base(experiment)
        spec = read_experiment(experiment.document).spec
        advisor = Advisor.of(spec, base_of(experiment_id))
        questions = advisor.questions(
            _known(experiment, advisor), stop=experiment.stop_at
        )
        wanted = next(questions)
    except StopIteration as end:
        _finish(experiment, Experiment.DONE, msgspec.to_builtins(_answer(end)))
    except SchedulerError as error:
        _finish(
            experiment,
            Experiment.FAILED,
            {"error": str(error), "said": msgspec.to_builtins(error.said)},
        )
    except DatabaseError:
        raise  # it is looked at again
    except Exception as error:  # a defect of ours ends one search, and is reported
        logger.exception("a search failed", extra={"experiment": experiment_id})
        found = {"error": f"{type(error).__name__}: {error}"}
        _finish(experiment, Experiment.FAILED, found)
    else:
        _ask(experiment, advisor, wanted)


def _expect_base(experiment: Experiment) -> None:
    """Raise SearchError where the base itself could not be run: all is beside it."""
    failed = Run.objects.filter(experiment=experiment, variant=0, state=Run.FAILED)
    run = failed.order_by("number").first()
    if run is not None:
        what = joined(Sayings.of(run.error).said)
        raise SearchError(RunProblem.NO_BASE.said(seed=run.seed, what=what))


def _answer(end: StopIteration) -> AdviceAnswer:
    answer: AdviceAnswer = end.value
    return answer


def _known(experiment: Experiment, advisor: Advisor) -> Known:
    points = [tuple(point) for point in experiment.points]
    rows = Run.objects.filter(experiment=experiment, number__lt=experiment.total)
    return {
        (points[variant], seed): derived(flat(result["summary"]), advisor.horizon_ms)
        if state == Run.DONE
        else None
        for variant, seed, state, result in rows.values_list(
            "variant", "seed", "state", "result"
        )
    }


def _ask(experiment: Experiment, advisor: Advisor, wanted: Sequence[Ask]) -> None:
    """Store the runs that were asked for, unless somebody else did."""
    points: dict[Point, int] = {tuple(p): n for n, p in enumerate(experiment.points)}
    variants = list(experiment.plan["variants"])
    for point, _ in wanted:
        if point not in points:
            points[point] = len(points)
            variants.append(msgspec.to_builtins(advisor.space.variant(point)))
    _check_names(variants)
    same = Experiment.objects.filter(
        pk=experiment.pk, total=experiment.total, state=Experiment.RUNNING
    )
    with transaction.atomic():
        asked = same.update(
            total=experiment.total + len(wanted),
            plan={**experiment.plan, "variants": variants},
            points=[list(point) for point in points],
        )
        if asked:
            Run.objects.bulk_create(
                Run(experiment=experiment, number=n, variant=points[point], seed=seed)
                for n, (point, seed) in enumerate(wanted, experiment.total)
            )
            idle_flag.clear_after_commit()


def _check_names(variants: list[dict[str, Any]]) -> None:
    """Number settings whose edits read alike."""
    seen: set[str] = set()
    for n, variant in enumerate(variants):
        if variant["name"] in seen:
            variants[n] = {**variant, "name": f"{variant['name']} (#{n})"}
        seen.add(variants[n]["name"])


def _finish(experiment: Experiment, state: str, answer: dict[str, Any]) -> None:
    same = Experiment.objects.filter(
        pk=experiment.pk, total=experiment.total, state=Experiment.RUNNING
    )
    same.update(state=state, searching=False, finished_at=timezone.now(), answer=answer)


def take(experiment: Experiment) -> None:
    """End a search with what it has: the best so far is proven and answered.

    Raises ConflictError for what is no search, or has ended.
    """
    going = Experiment.objects.filter(
        pk=experiment.pk, searching=True, state=Experiment.RUNNING
    )
    if not going.update(stop_at=F("total")):
        raise ConflictError(NotNow.SEARCH.said(state=plain_word(experiment.state)))


def run_of_answer(experiment: Experiment) -> int | None:
    """Return the number of the run that shows the answer with the first seed."""
    point = experiment.answer.get("point")
    if point is None or point not in experiment.points:
        return None
    variant = experiment.points.index(point)
    runs = Run.objects.filter(experiment=experiment, variant=variant, state=Run.DONE)
    return runs.order_by("number").values_list("number", flat=True).first()


def search_of(experiment: Experiment) -> dict[str, Any] | None:
    """Return the progress of a search; None for an experiment that is not a search."""
    if not experiment.points:
        return None
    answer = experiment.answer
    spec = read_experiment(experiment.document).spec
    standings = reading.outcome(experiment).standings
    reasons = _reasons(experiment)
    return {
        "searching": experiment.searching,
        "taken": experiment.stop_at is not None,
        "mostRuns": spec.search.runs if spec.search is not None else 0,
        "best": [msgspec.to_builtins(one) for one in standings[:MOST_SHOWN]],
        "compared": len(standings),
        "keeping": sum(not one.missed for one in standings),
        "failures": [*map(str, reasons)],
        "failuresSaid": [reading.said_of(one) for one in reasons],
        "error": answer.get("error", ""),
        "said": answer.get("said") or reading.said_of(answer.get("error", "")),
        "answer": answer if "verdict" in answer else None,
        "answerRun": run_of_answer(experiment),
    }


def _reasons(experiment: Experiment) -> list[str]:
    """Return why runs failed, each reason once."""
    if not experiment.failed:
        return []
    failed = Run.objects.filter(experiment=experiment, state=Run.FAILED)
    errors = failed.order_by("number").values_list("error", flat=True)
    return list(dict.fromkeys(errors))[:MOST_REASONS]
