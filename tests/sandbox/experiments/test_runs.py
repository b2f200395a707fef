"""How runs are taken up, ended, lost and given up; both databases decide it alike."""

from __future__ import annotations

import time

import pytest

from sandbox.base.errors import (
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    TooManyError,
)
from sandbox.experiments import actions, reading
from sandbox.experiments.bases import base_of
from sandbox.experiments.work import (
    MOST_TRIES,
    WORK,
    RunClaim,
    execute,
    plan_of,
    renew,
    take,
)
from sandbox.forecasts import work as forecasts
from sandbox.models import Experiment, KeptWhatIf, Run, Sandbox
from sandbox.process import calls
from sandbox.process.celery import EXPERIMENTS
from scheduler.analysis.experiments.runs import run
from tests.sandbox.conftest import contended, row, text_of, tick
from tests.sandbox.experiments.conftest import again, document_of, world_text

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]


def finished(experiment: Experiment) -> Experiment:
    WORK.work(60.0, experiment.pk)
    return again(experiment)


def test_every_variant_runs_with_every_seed(start):
    experiment = start()
    runs = Run.objects.filter(experiment=experiment).order_by("number")
    assert [(r.variant, r.seed) for r in runs] == [(0, 1), (1, 1), (0, 2), (1, 2)]


def test_when_all_runs_have_ended_the_experiment_is_done(start):
    experiment = finished(start())
    assert (experiment.state, experiment.done, experiment.failed) == ("done", 4, 0)


def test_a_run_is_what_the_engine_alone_makes_of_it(start):
    experiment = finished(start())
    alone = run(base_of(experiment.pk), plan_of(experiment.pk), 1, 2)
    kept = Run.objects.get(experiment=experiment, variant=1, seed=2)
    assert kept.hash == alone.hash
    assert kept.result["summary"]["waitP50Ms"] == alone.summary.wait_p50_ms


def test_the_clock_calls_a_worker_to_each_run(start, valkey):
    start()
    calls.look((WORK, forecasts.WORK))
    assert valkey.client().llen(EXPERIMENTS) == 4


def test_one_more_experiment_than_a_person_may_have_is_refused(start, settings):
    settings.LIMITS = {**settings.LIMITS, "jobs_per_user": 1}
    start()
    with pytest.raises(TooManyError):
        start()
    assert Experiment.objects.count() == 1


def test_a_run_that_somebody_holds_is_not_taken_up(start):
    experiment = start(seeds=[1], variants=[])
    assert take("one", experiment.pk) is not None
    assert take("two", experiment.pk) is None


def lose(claim: RunClaim) -> None:
    """Let the lease run out, as when its worker was killed."""
    Run.objects.filter(pk=claim.run_id).update(lease_until=time.time() - 1)


def test_a_run_whose_worker_is_gone_is_taken_up_again(start):
    experiment = start(seeds=[1], variants=[])
    lose(take("one", experiment.pk))
    assert take("two", experiment.pk).fence == 2


def test_who_lost_a_run_writes_nothing(start):
    experiment = start(seeds=[1], variants=[])
    lost = take("one", experiment.pk)
    lose(lost)
    newer = take("two", experiment.pk)
    assert not execute(lost)
    assert execute(newer)
    assert again(experiment).done == 1


def test_a_run_that_costs_every_worker_is_given_up(start):
    experiment = start(seeds=[1], variants=[])
    for _ in range(MOST_TRIES):
        lose(take("w", experiment.pk))
    assert take("w", experiment.pk) is None
    assert (again(experiment).state, again(experiment).failed) == ("done", 1)
    assert f"lost {MOST_TRIES} times" in Run.objects.get(experiment=experiment).error


def test_a_run_that_cannot_be_says_why_and_the_others_go_on(start):
    gone = {"object": "Job/default/job-1", "delete": True}
    experiment = start(variants=[{"name": "usual"}, {"name": "v", "objects": [gone]}])
    plan = experiment.plan
    plan["variants"][1]["objects"][0]["object"] = "Job/default/none"
    Experiment.objects.filter(pk=experiment.pk).update(plan=plan)
    experiment = finished(experiment)
    assert (experiment.done, experiment.failed) == (4, 2)
    assert "none is not in the base" in Run.objects.filter(variant=1)[0].error


def test_experiments_take_turns(start):
    first, second = start(), start()
    taken = [take("w").experiment_id for _ in range(4)]
    assert taken.count(first.pk) == taken.count(second.pk) == 2


# -- people ---------------------------------------------------------------


def test_a_cancelled_experiment_keeps_what_has_ended(start, person):
    experiment = start()
    execute(take("w", experiment.pk))
    actions.do_cancel(person, experiment.pk)
    assert take("w", experiment.pk) is None
    states = Run.objects.filter(experiment=experiment).values_list("state", flat=True)
    assert sorted(states) == ["cancelled"] * 3 + ["done"]


def test_a_run_in_progress_is_given_up_when_cancelled(start, person):
    experiment = start()
    claim = take("w", experiment.pk)
    actions.do_cancel(person, experiment.pk)
    assert not renew(claim)
    assert not execute(claim)


def test_what_is_done_cannot_be_cancelled(start, person):
    experiment = finished(start(seeds=[1], variants=[]))
    with pytest.raises(ConflictError, match="done already"):
        actions.do_cancel(person, experiment.pk)


def test_a_stranger_does_not_see_it_and_may_not_change_what_is_public(start, stranger):
    experiment = start()
    with pytest.raises(NotFoundError):
        actions.visible(stranger, experiment.pk)
    Experiment.objects.filter(pk=experiment.pk).update(visibility=Sandbox.PUBLIC)
    assert actions.visible(stranger, experiment.pk).role_of(stranger) == "viewer"
    with pytest.raises(ForbiddenError):
        actions.do_cancel(stranger, experiment.pk)


def test_a_deleted_experiment_is_gone_with_its_runs(start, person):
    actions.do_delete(person, start().pk)
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        pytest.param({"seedz": 1}, "spec", id="unknown field"),
        pytest.param(
            {"base": {"files": ["other.yaml"]}}, "spec.base.files", id="a missing file"
        ),
        pytest.param(
            {"assertions": [{"measure": "jain", "variant": "none"}]},
            "spec.assertions.variant",
            id="an assertion about nobody",
        ),
        pytest.param(
            {
                "variants": [
                    {"name": "v", "objects": [{"object": "Node/x", "delete": True}]}
                ]
            },
            "spec.variants.objects",
            id="a change of nothing",
        ),
    ],
)
def test_what_cannot_be_started_is_named_by_field_and_not_stored(person, spec, field):
    files = {"world.yaml": world_text()}
    with pytest.raises(InvalidError) as caught:
        actions.do_start(person, document_of(**spec), files=files)
    assert [cause.field for cause in caught.value.causes] == [field]
    assert not Experiment.objects.exists()


# -- bases and opened runs ------------------------------------------------


def test_a_run_from_a_sandboxs_tick_with_its_seed_is_the_sandboxs_own(
    busy, person, start
):
    tick(busy, 12)
    base = {"sandbox": busy.pk, "tick": 5}
    document = document_of(base=base, seeds=[busy.seed], variants=[], horizon="7s")
    experiment = finished(actions.do_start(person, document))
    [made] = Run.objects.filter(experiment=experiment)
    assert (made.result["tick"], made.hash) == (12, row(busy).hash)


def test_a_sandbox_of_somebody_else_is_no_base(busy, stranger):
    document = document_of(base={"sandbox": busy.pk})
    with pytest.raises(NotFoundError):
        actions.do_start(stranger, document)


def test_a_run_opens_as_a_sandbox_where_it_ended_with_the_same_hash(start, person):
    experiment = finished(start())
    made = Run.objects.get(experiment=experiment, number=3)
    opened = actions.do_open(person, experiment.pk, 3)
    assert (opened.hash, opened.tick) == (made.hash, made.result["tick"])


def test_a_run_opened_in_the_middle_plays_on_to_the_same_end(start, person):
    experiment = finished(start())
    made = Run.objects.get(experiment=experiment, number=2)
    opened = actions.do_open(person, experiment.pk, 2, tick=4)
    Sandbox.objects.filter(pk=opened.pk).update(playing=True)
    tick(opened, made.result["tick"] - 4)
    assert row(opened).hash == made.hash


def test_a_run_from_a_what_if_is_its_changed_side(start, person, busy):
    tick(busy, 5)
    changes = [{"policy": {"spec": {"simulation": {"defaultRuntime": "7s"}}}}]
    asked = KeptWhatIf.objects.create(
        sandbox=busy,
        asked_by=person,
        revision=row(busy).revision,
        tick=5,
        changes=changes,
        horizon_ms=60_000,
        seeds=[],
    )
    base = {"sandbox": busy.pk, "whatIf": asked.pk}
    experiment = finished(start(base=base, seeds=[busy.seed], horizon="7s"))
    alone = base_of(experiment.pk).world(plan_of(experiment.pk).variants[0], busy.seed)
    assert alone.tick == 5
    assert alone.policy.spec.simulation.default_runtime == "7s"
    assert experiment.state == "done"


def test_a_what_if_that_is_not_there_is_no_base(start, busy):
    with pytest.raises(NotFoundError, match="what-if 4 of"):
        start(base={"sandbox": busy.pk, "whatIf": 4})


def test_a_run_that_has_not_ended_opens_at_a_named_tick_only(start, person):
    experiment = start()
    with pytest.raises(ConflictError):
        actions.do_open(person, experiment.pk, 0)
    assert actions.do_open(person, experiment.pk, 0, tick=3).tick == 3


# -- looking at it --------------------------------------------------------


def test_the_table_has_a_line_per_variant_and_grows_with_the_runs(start):
    experiment = start()
    assert [line.runs for line in reading.outcome(experiment).lines] == [0, 0]
    experiment = finished(experiment)
    lines = reading.outcome(experiment).lines
    assert [line.runs for line in lines] == [2, 2]
    assert lines[1].differences["waitMeanMs"].count == 2


def test_verdicts_are_reported(start):
    experiment = finished(start(assertions=[{"measure": "finished", "min": 9}]))
    assert [v.holds for v in reading.outcome(experiment).verdicts] == [True, True]


def test_runs_are_read_in_the_order_in_which_they_ended(start):
    experiment = finished(start())
    newest = reading.runs_after(experiment, 2, 10)
    assert [run.ended for run in newest] == [3, 4]


def test_csv_has_a_line_per_run_and_measure(start):
    experiment = finished(start())
    head, *lines = reading.write_csv(experiment).splitlines()
    assert head.split(",")[-2:] == ["measure", "value"]
    assert sum(line.split(",")[-2] == "waitP95Ms" for line in lines) == 4


def test_a_contended_scenario_is_a_base_too(person):
    files = {"world.yaml": text_of(*contended())}
    experiment = finished(
        actions.do_start(person, document_of(variants=[]), files=files)
    )
    assert experiment.failed == 0
