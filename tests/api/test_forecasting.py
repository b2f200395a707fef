"""When waiting workloads start, asked of a sandbox over HTTP."""

from __future__ import annotations

import pytest

from sandbox import actions
from tests.builders import job, local_queue, small_cluster
from tests.sandbox.conftest import row, text_of, tick

pytestmark = [pytest.mark.django_db]


@pytest.fixture
def queue(make, person):
    """A sandbox in which six jobs of 4 s ended, one runs and the others wait."""
    jobs = [job(f"train-{n}", queue="main", cpu="4", runtime="4s") for n in range(9)]
    sandbox = make(*small_cluster(cpu="4"), *jobs)
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 27)
    return row(sandbox)


def test_each_waiting_workload_has_a_band_and_a_chance_within_the_horizon(call, queue):
    body = call("get", queue, "/forecast?futures=4&horizonMs=90000&seed=3").json()
    assert (body["asked"], body["futures"], body["seed"]) == (4, 4, "3")
    assert (body["tick"], body["finished"], body["enough"]) == (27, 6, True)
    assert len(body["starts"]) == 2
    for one in body["starts"]:
        assert 0 <= one["p10Ms"] <= one["p50Ms"] <= one["p90Ms"] <= 90_000
        assert [c["withinMs"] for c in one["chances"]] == [60_000, 90_000]
        assert one["chances"][-1]["chance"] == 1
        assert one["basis"]


def test_a_seed_gives_it_again_and_nothing_is_changed(call, queue):
    path = "/forecast?futures=3&seed=7"
    first = call("get", queue, path).json()
    assert call("get", queue, path).json() == first
    assert row(queue).hash == queue.hash


def test_a_past_tick_forecasts_from_what_was_known_then(call, queue):
    body = call("get", queue, "/forecast?futures=1&tick=2").json()
    assert (body["tick"], body["finished"], body["enough"]) == (2, 0, False)
    assert len(body["starts"]) == 8


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("futures=0", "expected at least 1 future"),
        ("futures=x", "expected a whole number"),
        ("future=3", "future"),
    ],
)
def test_what_cannot_be_forecast_is_refused_with_the_reason(call, queue, asked, words):
    answer = call("get", queue, f"/forecast?{asked}")
    assert answer.status_code == 422
    assert words in answer.content.decode()


def test_a_forecast_that_ran_out_of_time_may_be_asked_for_again(call, queue):
    answer = call("get", queue, "/forecast?seconds=0")
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0
    assert "no future came to its end" in answer.content.decode()


def test_a_sandbox_without_kueue_says_so(call, make):
    answer = call("get", make(policy={"stack": "kube"}), "/forecast")
    assert answer.status_code == 422
    assert "runs without Kueue" in answer.content.decode()


def test_a_manifest_that_is_not_there_is_forecast_in_each_queue(call, queue):
    other = local_queue("second", cluster_queue="main")
    actions.do_import(queue.owner, queue.pk, [("q.yaml", text_of(other))])
    before = row(queue).hash
    body = {
        "objects": [job("new", queue="main", cpu="4")],
        "queues": ["all"],
        "futures": 2,
        "withinMs": 90_000,
    }
    found = call("post", queue, "/forecast", body).json()
    assert {one["queue"] for one in found["starts"]} == {
        "default/main",
        "default/second",
    }
    assert found["soonest"] == found["starts"][0]["queue"]
    assert 90_000 in [one["withinMs"] for one in found["starts"][0]["chances"]]
    assert found["revision"] == row(queue).revision
    assert row(queue).hash == before


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"objects": [job("train-8", queue="main", cpu="4")]}, "is there already"),
        ({"objects": [{"kind": "Job"}]}, "apiVersion"),
        ({"objects": [job("new", queue="main")], "queues": ["x"]}, "no LocalQueue"),
        ({"objects": []}, "names its queue"),
        ({"manifest": "x"}, "manifest"),
    ],
)
def test_what_cannot_be_submitted_is_refused_with_the_reason(call, queue, body, words):
    answer = call("post", queue, "/forecast", body)
    assert answer.status_code == 422
    assert words in answer.content.decode()


def test_arrivals_go_on_when_asked_and_the_answer_says_so(call, queue):
    found = call("get", queue, "/forecast?futures=1&arrivals=continued").json()
    assert (found["arrivals"], found["came"], found["enough"]) == (
        "continued",
        0,
        False,
    )
    answer = call("get", queue, "/forecast?arrivals=invented")
    assert (
        answer.status_code,
        "one of known, continued" in answer.content.decode(),
    ) == (
        422,
        True,
    )


def test_two_edits_at_one_tick_differ_by_revision(call, queue):
    first = call("get", queue, "/forecast?futures=1").json()
    actions.do_import(
        queue.owner,
        queue.pk,
        [("more.yaml", text_of(job("more", queue="main", cpu="4")))],
    )
    second = call("get", queue, "/forecast?futures=1").json()
    assert second["tick"] == first["tick"]
    assert second["revision"] > first["revision"]
