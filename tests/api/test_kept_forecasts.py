"""Forecasts that workers make and that are kept, over HTTP."""

from __future__ import annotations

import pytest

from sandbox import actions
from sandbox.base.database_time import database_seconds
from sandbox.experiments import work as experiments
from sandbox.explain import forecasting
from sandbox.explain.forecasting import ForecastOptions
from sandbox.forecasts import asking, parts
from sandbox.forecasts.work import (
    WORK,
    StoredFuture,
    _forecast,
    _present,
    execute,
)
from sandbox.models import ForecastPart, KeptForecast
from sandbox.process import calls
from sandbox.process.celery import EXPERIMENTS
from sandbox.retention.retention import NEWEST
from sandbox.world import worlds
from tests.builders import job, small_cluster
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


def asked(call, queue, **options):
    answer = call("post", queue, "/forecasts", {"futures": 4, **options})
    assert answer.status_code == 200, answer.content
    return answer.json()


def prepared(call, queue, **options):
    """Ask, and write the world that the futures begin from, as the first worker does."""
    begun = asked(call, queue, **options)
    assert _present(_forecast(begun["id"])) is not None
    return begun


def test_whoever_asks_reads_no_world_and_one_part_waits_until_a_worker_has(
    call, queue, monkeypatch
):
    worlds.drop(queue.pk)
    with monkeypatch.context() as patched:
        patched.setattr(worlds, "fresh", None)  # nothing is called in the request
        begun = asked(call, queue)
    assert (parts.open_parts().count(), begun["tick"]) == (1, queue.tick)
    assert execute(parts.take())
    assert parts.open_parts().count() == 3


def test_a_forecast_of_a_revision_that_has_passed_is_of_that_revision(call, queue):
    begun = asked(call, queue, seed=3)
    tick(queue, 5)
    WORK.work(60)
    late = call("get", queue, f"/forecasts/{begun['id']}").json()["forecast"]
    KeptForecast.objects.all().delete()
    again = f"/forecast?futures=4&seed=3&tick={begun['tick']}"
    assert call("get", queue, again).json() == late


def test_a_forecast_that_takes_long_is_a_202_with_a_place_to_ask_again(
    call, queue, client, settings
):
    settings.ANSWER_INLINE, settings.ANSWER_WAIT_S = False, 0
    answer = call("get", queue, "/forecast?futures=4")
    assert (answer.status_code, answer.json()["place"]) == (202, answer["Location"])
    WORK.work(60)
    found = client.get(answer["Location"])
    assert (found.status_code, found.json()["futures"]) == (200, 4)


def test_it_is_the_same_by_workers_as_in_the_request(call, queue):
    begun = asked(call, queue, seed=3)
    assert (begun["state"], begun["ended"], begun["forecast"]) == ("running", 0, None)
    while (claim := parts.take(begun["id"])) is not None:
        assert execute(claim)
    made = call("get", queue, f"/forecasts/{begun['id']}").json()
    assert (made["state"], made["ended"]) == ("done", 4)
    KeptForecast.objects.all().delete()
    alone = call("get", queue, "/forecast?futures=4&seed=3").json()
    assert made["forecast"] == alone


def test_progress_counts_the_futures_that_ended(call, queue):
    begun = asked(call, queue)
    claim = parts.take(begun["id"])
    assert claim is not None
    assert execute(claim)
    assert call("get", queue, f"/forecasts/{begun['id']}").json()["ended"] == 1


def test_who_asks_the_same_gets_what_is_there_and_nothing_is_run(call, queue):
    begun = asked(call, queue)
    WORK.work(60)
    again = asked(call, queue)
    assert (again["id"], again["state"]) == (begun["id"], "done")
    assert ForecastPart.objects.count() == 0
    assert asked(call, queue, seed=2)["id"] != begun["id"]


def test_of_a_sandbox_in_which_nothing_waits_no_more_are_kept(
    call, make, person, monkeypatch
):
    monkeypatch.setitem(NEWEST, KeptForecast, NEWEST[KeptForecast]._replace(most=2))
    idle = make(*small_cluster())
    actions.do_play(person, idle.pk)
    made = []
    for _ in range(4):
        tick(idle, 1)
        made.append(asked(call, row(idle))["id"])
    assert set(KeptForecast.objects.values_list("pk", flat=True)) == set(made[-2:])
    listed = call("get", row(idle), "/forecasts").json()
    assert [one["id"] for one in listed["items"]] == made[:1:-1]
    assert listed["record"]["judged"] == 0


def test_what_nobody_asks_for_any_more_is_cancelled(call, queue):
    begun = asked(call, queue)
    claim = parts.take()
    KeptForecast.objects.update(wanted_until=0)
    assert parts.renew(claim) is False
    assert call("get", queue, f"/forecasts/{begun['id']}").json()["state"] == (
        "cancelled"
    )
    assert parts.take() is None


def test_a_forecast_that_nobody_reads_is_wanted_no_longer_than_is_said(call, queue):
    asked(call, queue, seconds=60)
    until = KeptForecast.objects.get().wanted_until
    assert until - database_seconds() <= asking.WANTED_S


def test_a_part_that_is_not_wanted_is_not_run_however_short_it_is(call, queue):
    begun = asked(call, queue)
    KeptForecast.objects.update(wanted_until=0)
    assert WORK.work(60) == 0
    kept = asking.find(queue, begun["id"])
    assert (kept.state, ForecastPart.objects.count()) == ("cancelled", 0)


def test_an_answer_whose_last_worker_was_lost_is_put_together_by_another(call, queue):
    begun = prepared(call, queue)
    claims = [parts.take() for _ in range(4)]
    for claim in claims[:-1]:
        execute(claim)
    without_curves = StoredFuture(starts=[None, None], levels=[])
    assert parts.finish(claims[-1], [without_curves])  # and then it is killed
    assert WORK.work(60) == 0
    assert call("get", queue, f"/forecasts/{begun['id']}").json()["state"] == "running"
    ForecastPart.objects.update(lease_until=0)
    WORK.work(60)
    made = call("get", queue, f"/forecasts/{begun['id']}").json()
    assert (made["state"], made["ended"]) == ("done", 4)
    assert made["forecast"]["curves"] == {"atMs": [], "bands": []}


def test_curves_begin_where_those_of_the_page_end(call, queue):
    begun = asked(call, queue)
    WORK.work(60)
    (*_, sample) = call("get", queue, "/samples").json()["items"]
    stand = {one["queue"]: one["share"] for one in sample["queues"]}
    for name, capacity in sample["capacity"].items():
        stand[name] = 100 * int(sample["used"][name]) / int(capacity)
    made = call("get", queue, f"/forecasts/{begun['id']}").json()
    curves = made["forecast"]["curves"]
    assert curves["atMs"][0] == 0
    first = {one["name"]: one["p50"][0] for one in curves["bands"]}
    assert first == pytest.approx(stand, abs=0.05)


def test_a_part_whose_worker_was_lost_is_taken_up_again_and_written_once(call, queue):
    begun = asked(call, queue)
    lost = parts.take()
    ForecastPart.objects.filter(pk=lost.part_id).update(lease_until=0)
    WORK.work(60)
    assert parts.finish(lost, []) is False
    assert call("get", queue, f"/forecasts/{begun['id']}").json()["ended"] == 4


def test_the_clock_calls_workers_to_what_waits(call, queue, valkey):
    prepared(call, queue)
    calls.look((experiments.WORK, WORK))
    assert valkey.client().llen(EXPERIMENTS) == 4


def test_one_more_job_than_a_person_may_have_is_refused_and_says_when_to_try_again(
    call, queue, settings
):
    settings.LIMITS = {**settings.LIMITS, "jobs_per_user": 2}
    for seed in (1, 2):
        assert call("post", queue, "/forecasts", {"seed": seed}).status_code == 200
    refused = call("post", queue, "/forecasts", {"seed": 3})
    assert (refused.status_code, refused.json()["reason"]) == (429, "TooManyRequests")
    assert int(refused["Retry-After"]) > 0
    assert KeptForecast.objects.count() == 2


def test_the_job_that_is_kept_is_answered_where_no_more_are_begun(
    call, queue, settings
):
    settings.LIMITS = {**settings.LIMITS, "jobs_per_user": 1}
    first = call("post", queue, "/forecasts", {}).json()
    assert call("post", queue, "/forecasts", {}).json()["id"] == first["id"]


def test_what_was_forecast_is_scored_by_what_came(call, queue):
    asked(call, queue)
    WORK.work(60)
    before = call("get", queue, "/forecasts").json()["record"]
    assert (before["forecasts"], before["judged"], before["open"]) == (1, 0, 2)
    tick(queue, 20)
    record = call("get", queue, "/forecasts").json()["record"]
    assert (record["judged"], record["open"], record["enough"]) == (2, 0, False)
    assert record["coverage90"] == 1.0
    assert record["medianErrorMs"] < 2_000
    assert record["crpsS"] < record["lastWaitsS"]


def test_what_came_after_an_edit_says_nothing_of_a_forecast(call, queue):
    asked(call, queue)
    WORK.work(60)
    more = text_of(job("more", queue="main", cpu="4"))
    actions.do_import(queue.owner, queue.pk, [("more.yaml", more)])
    tick(queue, 20)
    record = call("get", queue, "/forecasts").json()["record"]
    assert (record["judged"], record["open"]) == (0, 2)


def test_the_newest_forecast_is_a_metric_of_the_sandbox(call, queue):
    asked(call, queue)
    WORK.work(60)
    text = call("get", queue, "/metrics").content.decode()
    lines = [one for one in text.splitlines() if "forecast_start_seconds{" in one]
    assert len(lines) == 6
    assert 'quantile="0.5"' in lines[1]


def test_a_twin_forecasts_itself_as_often_as_the_operator_says(queue, settings):
    queue.source, queue.playing = {"lastTick": 100}, True
    queue.save()
    assert asking.due(60) == [queue]
    asking.begin(queue, 60)
    assert asking.due(60) == []
    assert KeptForecast.objects.get().wanted_until > 0


def test_a_forecast_whose_time_is_over_is_not_cancelled(call, queue):
    asked(call, queue)
    claim = parts.take()
    KeptForecast.objects.update(until=database_seconds() - 1, wanted_until=0)
    assert parts.renew(claim)


def test_futures_that_ended_are_the_answer_when_a_worker_holds_on_too_long(
    call, queue, monkeypatch
):
    monkeypatch.setattr(parts, "LEASE_S", 0.2)
    begun = prepared(call, queue, seconds=1)
    claims = [parts.take() for _ in range(4)]
    for claim in claims[:3]:
        assert execute(claim)
    ForecastPart.objects.filter(pk=claims[3].part_id).update(lease_until=2**40)
    made = call("get", queue, "/forecast?futures=4&seconds=1")
    assert made.status_code == 200, made.content
    assert (made.json()["futures"], made.json()["asked"]) == (3, 4)
    kept = call("get", queue, f"/forecasts/{begun['id']}").json()
    assert kept["state"] == "done"
    assert not parts.finish(claims[3], [[None, None]])


def test_of_a_simulated_world_what_comes_is_known_and_beside_a_real_one_it_goes_on(
    call, queue
):
    assert call("get", queue, "/forecast?futures=1").json()["arrivals"] == "known"
    KeptForecast.objects.all().delete()
    queue.source = {"kind": "recording"}
    assert forecasting.settled(queue, ForecastOptions()).continued
    assert not forecasting.settled(queue, ForecastOptions(continued=False)).continued


def test_a_forecast_of_a_simulated_world_is_not_corrected(call, queue):
    answer = call("get", queue, "/forecast?futures=4").json()
    assert answer["correctedBy"] == 0
    assert {one["speaks"] for one in answer["starts"]} == {"model"}
