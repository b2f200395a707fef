"""`?wait=`: one request begins something and answers when it is done."""

from __future__ import annotations

import pytest
from django.urls import resolve

from sandbox.access import limits
from tests.builders import job, small_cluster
from tests.sandbox.conftest import text_of
from tests.services.default_run import DefaultRun

pytestmark = [pytest.mark.django_db]


def test_a_step_that_is_waited_for_answers_at_its_last_tick(
    shared_run: DefaultRun,
) -> None:
    made = shared_run.post("/api/v1/sandboxes", {"scenario": "classical-reclaim"})
    path = f"/api/v1/sandboxes/{made['id']}"
    begun = shared_run.post(f"{path}/actions/step?wait=60", {"ticks": 20})
    assert (begun["tick"], begun["untilTick"], begun["done"]) == (20, 20, True)
    assert shared_run.get(path)["tick"] == 20


def test_an_experiment_that_is_waited_for_answers_when_it_is_done(
    shared_run: DefaultRun,
) -> None:
    spec = {"base": {"scenario": "classical-reclaim"}, "seeds": {"count": 2}}
    document = {"apiVersion": "quotalab.dev/v1", "kind": "Experiment", "spec": spec}
    made = shared_run.post("/api/v1/experiments?wait=60", {"document": document})
    assert made["state"] == "done"


def test_a_forecast_that_is_waited_for_answers_with_its_chances(
    shared_run: DefaultRun,
) -> None:
    """Of a world so small that no machine needs the seconds that are waited at most."""
    jobs = [job(name, queue="main", cpu=1, runtime="5m") for name in ("runs", "waits")]
    text = text_of(*small_cluster(cpu=1), *jobs)
    body = {"files": [{"name": "world.yaml", "text": text}]}
    path = f"/api/v1/sandboxes/{shared_run.post('/api/v1/sandboxes', body)['id']}"
    shared_run.post(f"{path}/actions/step?wait=60", {"ticks": 3})
    found = shared_run.post(f"{path}/forecasts?wait=60", {"futures": 5})
    assert found["state"] == "done"
    assert found["forecast"]["starts"]


def test_a_wait_ends_with_its_seconds(call, make) -> None:
    sandbox = make(*small_cluster(cpu="4"), job("a", queue="main"))
    begun = call("post", sandbox, "/actions/step?wait=1", {"ticks": 5}).json()
    assert (begun["done"], begun["untilTick"]) == (False, 5)


@pytest.mark.parametrize("seconds", ["61", "soon", "-1"])
def test_a_wait_of_too_many_seconds_is_refused_before_a_tick(
    call, make, seconds
) -> None:
    sandbox = make(*small_cluster(cpu="4"))
    answer = call("post", sandbox, f"/actions/step?wait={seconds}", {"ticks": 1})
    assert answer.status_code == 422
    assert answer.json()["details"]["causes"][0]["field"] == "wait"
    assert not call("get", sandbox, "").json()["playing"]


def test_one_wait_too_many_is_refused_before_a_tick(
    call, make, person, settings
) -> None:
    settings.LIMITS = {**settings.LIMITS, "waits_per_user": 1}
    sandbox = make(*small_cluster(cpu="4"))
    assert limits.wait_slots.take(person.pk)
    try:
        answer = call("post", sandbox, "/actions/step?wait=5", {"ticks": 5})
    finally:
        limits.wait_slots.leave(person.pk)
    assert (answer.status_code, answer["Retry-After"]) == (429, "2")
    assert not call("get", sandbox, "").json()["playing"]


def test_the_index_names_paths_that_there_are(client) -> None:
    found = client.get("/api/v1/").json()["paths"]
    assert all(resolve(path) for path in found.values())
    assert {"docs", "experiments", "sandboxes", "schema"} <= set(found)
