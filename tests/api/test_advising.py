"""Searches by HTTP: estimated, worked on by anybody, ended early, handed over."""

from __future__ import annotations

import threading

import msgspec
import pytest
import yaml
from django.db.models import F

from sandbox.experiments import searching
from sandbox.experiments.bases import open_base
from sandbox.experiments.work import WORK, execute, fail, take
from sandbox.models import Experiment, Run
from sandbox.process import watchdog
from scheduler.analysis.advice.advisor import Advisor, advise
from scheduler.analysis.experiments.document import read_experiment
from scheduler.model.problems.runs import RunProblem
from tests.scheduler.advice.worlds import Team, manifests_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]

ROOT = "/api/v1/experiments"
TEAMS = (Team("a", 2, 4, 3, 2, 20), Team("b", 10, 2, 9, 2, 20))


def body_of(**search):
    document = {
        "kind": "Experiment",
        "spec": {
            "base": {"files": ["world.yaml"]},
            "title": "More for a",
            "seeds": {"count": 2},
            "horizon": "3m",
            "search": {
                "change": [
                    {"quota": {"flavor": "default", "resource": "cpu", "step": 2}}
                ],
                "constraints": ["queue a p95 wait under 15 s"],
                "runs": 20,
                "heldOut": {"count": 2},
                **search,
            },
        },
    }
    text = yaml.safe_dump_all(manifests_of(TEAMS, ""))
    return {"document": document, "files": [{"name": "world.yaml", "text": text}]}


@pytest.fixture
def started(client) -> str:
    made = client.post(ROOT, body_of(), format="json")
    assert made.status_code == 201, made.content
    return f"{ROOT}/{made.json()['id']}"


def test_an_estimate_says_what_it_would_take_and_stores_nothing(client):
    found = client.post(f"{ROOT}/estimate", body_of(), format="json").json()
    assert found["settings"] == 7
    assert 7 * 2 <= found["runs"] < 70
    assert found["cpuSeconds"] > 0
    assert not Experiment.objects.exists()


def test_a_search_goes_on_by_itself_until_it_has_an_answer(client, started):
    begun = client.get(started).json()
    assert (begun["total"], begun["search"]["searching"]) == (2, True)
    WORK.work(120.0)
    found = client.get(started).json()
    answer = found["search"]["answer"]
    assert (found["state"], found["done"]) == ("done", found["total"])
    assert answer["verdict"] == "improved"
    assert [edit["object"] for edit in answer["edits"]] == [
        "ClusterQueue/a",
        "ClusterQueue/b",
    ]
    assert len(found["lines"]) == len(found["variants"])
    opened = f"{started}/runs/{found['search']['answerRun']}/open"
    assert client.post(opened, {"tick": 0}, format="json").status_code == 201

    patches = client.get(f"{started}/patches.yaml")
    kinds = [one["kind"] for one in yaml.safe_load_all(patches.content)]
    assert kinds == ["ClusterQueue", "ClusterQueue"]
    assert "# More for a" in client.get(f"{started}/report.md").content.decode()
    assert "<svg" in client.get(f"{started}/report.html").content.decode()
    assert client.get(f"{started}/results.csv").status_code == 200


def test_the_best_so_far_keeps_the_constraints_and_what_misses_them_is_named(
    client, started
):
    pk = started.rpartition("/")[2]
    while (claim := take("w", pk)) is not None:
        execute(claim)
    alone = client.get(started).json()["search"]
    assert (alone["compared"], alone["keeping"]) == (1, 0)
    assert alone["best"][0]["missed"] == ["queue a p95 wait at most 15 s"]
    asked = {"measure": "queues.a.p95Ms", "max": 15_000}
    assert alone["best"][0]["missedConstraints"] == [asked]
    WORK.work(120.0)
    search = client.get(started).json()["search"]
    assert 0 < search["keeping"] < search["compared"]
    assert [one["missed"] for one in search["best"][: search["keeping"]]] == (
        [[]] * search["keeping"]
    )


def test_a_search_whose_base_cannot_be_run_ends_and_says_why(client, started):
    pk = started.rpartition("/")[2]
    first = take("w", pk)
    assert first is not None
    assert fail(first, RunProblem.LOST.said(count=4))
    WORK.work(120.0)
    found = client.get(started).json()
    assert (found["state"], found["search"]["answer"]) == ("failed", None)
    assert [one["state"] for one in client.get(ROOT).json()["items"]] == ["failed"]
    assert "could not be run with seed 1" in found["search"]["error"]
    assert "its worker was lost 4 times" in found["search"]["error"]
    assert found["search"]["failures"] == ["given up: its worker was lost 4 times"]
    (why,) = found["search"]["failuresSaid"]
    assert (why["code"], why["holes"]) == ("run.lost", {"count": "4"})
    assert found["search"]["said"]["holes"]["what"] == why


def test_the_answer_is_the_same_as_without_a_database(client, started):
    WORK.work(120.0)
    experiment = Experiment.objects.get()
    base = open_base(experiment.base_kind, bytes(experiment.base))
    advisor = Advisor.of(read_experiment(experiment.document).spec, base)
    alone = advise(advisor, lambda ask: advisor.run(base, ask))
    assert experiment.answer == msgspec.json.decode(msgspec.json.encode(alone))


def ready_to_go_on(started: str, *, lost: int) -> Experiment:
    """Return a search whose runs have ended, at whose step so many workers were lost."""
    pk = started.rpartition("/")[2]
    while (claim := take("w", pk)) is not None:
        execute(claim)
    mine = Experiment.objects.filter(pk=pk)
    mine.update(step_tries=lost, step_at=F("total"))
    return mine.get()


def test_a_step_of_a_search_that_cost_two_workers_fails_the_search(started):
    search = ready_to_go_on(started, lost=searching.MOST_TRIES)
    assert searching.go_on_with_due(search.pk)
    search.refresh_from_db()
    lost = "given up: its worker was lost 2 times"
    assert (search.state, search.answer["error"]) == ("failed", lost)


def test_a_step_at_which_one_worker_was_lost_is_begun_again(started):
    search = ready_to_go_on(started, lost=1)
    assert searching.go_on_with_due(search.pk)
    search.refresh_from_db()
    assert (search.state, search.step_tries) == ("running", 0)


def test_a_step_that_the_operators_stop_ends_does_not_count(started, monkeypatch):
    search = ready_to_go_on(started, lost=1)
    held = Experiment.objects.filter(pk=search.pk)
    held.update(step_lease_until=9e12)
    monkeypatch.setattr(watchdog, "_ending", threading.Event())
    watchdog.mark_ending()
    assert searching._renew(held)
    assert held.get().step_tries == 0


def test_nobody_begins_a_step_of_a_search_that_somebody_is_at(started):
    search = ready_to_go_on(started, lost=0)
    Experiment.objects.update(step_lease_until=9e12)
    assert not searching.go_on_with_due(search.pk)


def test_two_who_go_on_at_once_ask_for_the_runs_once(client, started):
    pk = started.rpartition("/")[2]
    while (claim := take("w", pk)) is not None:
        execute(claim)
    searching.go_on(pk)
    asked = Run.objects.count()
    stale = Experiment.objects.get(pk=pk)
    stale.total = 2
    stale.points = stale.points[:1]
    advisor = Advisor.of(
        read_experiment(stale.document).spec,
        open_base(stale.base_kind, bytes(stale.base)),
    )
    searching._ask(stale, advisor, [(advisor.space.base, 99)])
    assert asked > 2
    assert Run.objects.count() == asked


def test_a_search_is_taken_before_its_end_and_proven(client):
    made = client.post(ROOT, body_of(runs=14), format="json").json()
    path = f"{ROOT}/{made['id']}"
    assert client.get(f"{path}/patches.yaml").status_code == 409
    for _ in range(4):
        WORK.work(0.0001, made["id"])
    assert client.post(f"{path}/take").status_code == 200
    WORK.work(120.0)
    found = client.get(path).json()
    assert found["state"] == "done"
    assert found["search"]["answer"]["runs"] < 14
    assert client.post(f"{path}/take").status_code == 409


def test_what_is_wrong_in_a_search_is_refused_with_its_field(client):
    wrong = client.post(ROOT, body_of(constraints=["a p95 wait"]), format="json")
    assert wrong.status_code == 422
    [cause] = wrong.json()["details"]["causes"]
    assert cause["field"] == "spec.search.constraints"
