"""Experiments by HTTP: who may do what, and what is answered."""

from __future__ import annotations

import csv
import io

import pytest
import yaml

from sandbox.experiments.work import WORK
from sandbox.models import Experiment, Run, Sandbox
from tests.builders import pod
from tests.sandbox.experiments.conftest import document_of, world_text

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]

ROOT = "/api/v1/experiments"


@pytest.fixture
def started(client) -> str:
    """The path of an experiment that was started."""
    body = {
        "document": document_of(),
        "files": [{"name": "world.yaml", "text": world_text()}],
    }
    made = client.post(ROOT, body, format="json")
    assert made.status_code == 201, made.content
    return f"{ROOT}/{made.json()['id']}"


@pytest.fixture
def done(started) -> str:
    """The path of an experiment whose runs have ended."""
    WORK.work(60.0)
    return started


def test_the_stack_of_files_for_several_is_named_in_the_document(client):
    theirs = pod("other", cpu=1)
    theirs["spec"]["schedulerName"] = "yunikorn"
    text = f"{world_text()}---\n{yaml.safe_dump(theirs)}"
    body = {"document": document_of(), "files": [{"name": "world.yaml", "text": text}]}
    assert client.post(ROOT, body, format="json").status_code == 422
    body["document"]["spec"]["base"]["stack"] = "kueue"
    made = client.post(ROOT, body, format="json").json()
    WORK.work(60.0)
    assert client.get(f"{ROOT}/{made['id']}").json()["state"] == "done"


def test_a_sandbox_takes_no_other_stack(client):
    base = {"sandbox": "0" * 12, "stack": "kueue"}
    refused = client.post(ROOT, {"document": document_of(base=base)}, format="json")
    assert refused.status_code == 422
    assert refused.json()["details"]["causes"][0]["field"].endswith("spec.base.stack")


def test_an_experiment_is_listed_with_its_progress(client, started):
    [item] = client.get(ROOT).json()["items"]
    assert (item["state"], item["total"], item["done"]) == ("running", 4, 0)
    assert item["variants"] == ["usual", "double"]


def test_lines_have_means_intervals_and_differences(client, done):
    body = client.get(done).json()
    assert body["state"] == "done"
    first, second = body["lines"]
    found = first["measures"]["waitMeanMs"]
    assert found["low"] <= found["mean"] <= found["high"]
    assert second["differences"]["waitMeanMs"]["count"] == 2
    assert any(line["front"] for line in body["lines"])


def test_lines_are_sorted_by_the_mean_of_a_measure(client, done):
    rising = client.get(f"{done}?sort=waitMeanMs").json()["lines"]
    falling = client.get(f"{done}?sort=-waitMeanMs").json()["lines"]
    means = [line["measures"]["waitMeanMs"]["mean"] for line in rising]
    assert means == sorted(means)
    assert [line["variant"] for line in falling] == [
        line["variant"] for line in reversed(rising)
    ]


def test_the_front_is_of_the_objectives_asked_for(client, done):
    body = client.get(f"{done}?front=waitMeanMs:low").json()
    first = min(body["lines"], key=lambda line: line["measures"]["waitMeanMs"]["mean"])
    assert [line["variant"] for line in body["lines"] if line["front"]] == [
        first["variant"]
    ]
    assert body["objectives"] == [{"measure": "waitMeanMs", "better": "low"}]
    assert client.get(f"{done}?front=waitMeanMs").status_code == 422


def test_measures_say_which_way_they_are_better(client, done):
    better = client.get(done).json()["better"]
    assert (better["waitMeanMs"], better["utilisation.cpu"]) == ("low", "high")
    assert "endMs" not in better


def test_results_are_read_as_they_come_in(client, started):
    assert client.get(f"{started}/results").json()["items"] == []
    WORK.work(0.01)
    first = client.get(f"{started}/results?limit=1").json()
    WORK.work(60.0)
    rest = client.get(f"{started}/results?after={first['next']}").json()
    numbers = [run["number"] for run in (*first["items"], *rest["items"])]
    assert sorted(numbers) == [0, 1, 2, 3]
    assert all(run["measures"]["finished"] for run in rest["items"])


def test_results_are_had_as_csv(client, done):
    answer = client.get(f"{done}/results.csv")
    assert answer["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    waits = [row for row in rows if row["measure"] == "waitMeanMs"]
    assert [row["variant"] for row in waits] == ["usual", "double"] * 2
    measures = Run.objects.get(number=1).result["summary"]
    assert float(waits[1]["value"]) == measures["waitMeanMs"]


def test_the_csv_of_a_grid_has_a_column_per_axis(client):
    grid = [{"name": "arrivals", "values": [1, 2]}]
    body = {
        "document": document_of(variants=[{"name": "usual"}], grid=grid),
        "files": [{"name": "world.yaml", "text": world_text()}],
    }
    started = f"{ROOT}/{client.post(ROOT, body, format='json').json()['id']}"
    text = client.get(f"{started}/results.csv").content.decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["axis.arrivals"] for row in rows] == ["", "1", "2"] * 2
    assert {row["state"] for row in rows} == {"waiting"}


def test_a_run_opens_as_a_sandbox_at_any_tick(client, done):
    made = client.post(f"{done}/runs/2/open", {"tick": 5}, format="json")
    assert (made.status_code, made.json()["tick"]) == (201, 5)
    whole = client.post(f"{done}/runs/2/open", {}, format="json").json()
    assert whole["hash"] == Run.objects.get(number=2).hash


def test_a_run_that_is_not_there_is_not_found(client, done):
    assert client.post(f"{done}/runs/9/open", {}, format="json").status_code == 404


def test_runs_are_compared_like_sandboxes(client, done):
    body = client.get(f"{done}/compare?runs=0,1").json()
    assert [branch["title"] for branch in body["branches"]] == [
        "usual, seed 1",
        "double, seed 1",
    ]
    assert body["differences"][0] is not None
    assert len(body["series"]["ticks"]) == body["toTick"]
    totals = {line["measure"]: line["values"] for line in body["totals"]}
    assert totals["started"] == [9, 9]


def test_a_comparison_of_runs_counts_as_the_runs_did(client, done):
    body = client.get(f"{done}/compare?runs=0,1").json()
    totals = {line["measure"]: line["values"] for line in body["totals"]}
    summaries = [run.result["summary"] for run in Run.objects.order_by("number")[:2]]
    for name in ("preemptions", "evictions", "waitP50Ms", "waitMaxMs", "workLostMs"):
        assert totals[name] == [summary[name] for summary in summaries], name


@pytest.mark.parametrize("runs", ["", "0", "0,x"])
def test_a_comparison_needs_two_runs(client, done, runs):
    assert client.get(f"{done}/compare?runs={runs}").status_code == 422


def test_an_experiment_is_cancelled_once(client, started):
    assert client.post(f"{started}/cancel").json()["state"] == "cancelled"
    assert client.post(f"{started}/cancel").status_code == 409


def test_a_deleted_experiment_is_gone(client, started):
    assert client.delete(started).status_code == 204
    assert client.get(started).status_code == 404


def test_what_is_wrong_is_named_by_field(client):
    made = client.post(ROOT, {"document": document_of(seeds=[])}, format="json")
    assert made.status_code == 422
    [cause] = made.json()["details"]["causes"]
    assert cause["field"] == "spec.seeds"


def test_a_yaml_body_is_the_document(client):
    sandbox = client.post("/api/v1/sandboxes", {"title": "empty"}, format="json").json()
    text = yaml.safe_dump(document_of(base={"sandbox": sandbox["id"]}))
    made = client.post(ROOT, text, content_type="application/yaml")
    assert made.status_code == 201, made.content


def test_a_body_without_an_experiment_is_refused(client):
    body = {"files": [{"name": "world.yaml", "text": world_text()}]}
    made = client.post(ROOT, body, format="json")
    assert made.status_code == 422
    assert "kind Experiment" in made.json()["message"]


def test_other_peoples_experiments_are_not_there(client, started, stranger):
    Experiment.objects.update(owner=stranger)
    assert client.get(ROOT).json()["items"] == []
    for path in (started, f"{started}/results", f"{started}/results.csv"):
        assert client.get(path).status_code == 404


def test_what_is_public_is_read_by_all_and_changed_by_its_owner(
    client, started, stranger
):
    Experiment.objects.update(owner=stranger, visibility=Sandbox.PUBLIC)
    assert client.get(started).json()["role"] == "viewer"
    assert client.delete(started).status_code == 403
