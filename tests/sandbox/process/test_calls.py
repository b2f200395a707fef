"""Calls to workers: never more in the queue than parts wait, whoever sends and how often."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.experiments import work as experiments
from sandbox.forecasts import parts
from sandbox.forecasts.work import WORK
from sandbox.models import ForecastPart, KeptForecast
from sandbox.process import calls
from sandbox.process.celery import EXPERIMENTS
from sandbox.process.idle_flag import LOOKED

pytestmark = pytest.mark.django_db(transaction=True)

DAY_S = 86_400.0


@pytest.fixture
def sandbox(make):
    return make()


def begin(sandbox, futures: int, *, wanted_s: float = DAY_S) -> KeptForecast:
    """Store a forecast of so many futures, each a part of its own."""
    now = time.time()
    number = KeptForecast.objects.filter(sandbox=sandbox).count()
    kept = KeptForecast.objects.create(
        sandbox=sandbox,
        revision=0,
        tick=0,
        now_ms=0,
        options={"futures": futures},
        asked_as=f"seed={number}",
        world=b"",
        until=now + DAY_S,
        wanted_until=now + wanted_s,
    )
    parts.split(kept, futures)
    return kept


def look(bus) -> None:
    """Look as the clock does a second later."""
    bus.delete(LOOKED)
    calls.look((experiments.WORK, WORK))


def not_ended() -> int:
    running = KeptForecast.objects.filter(state=KeptForecast.RUNNING)
    return ForecastPart.objects.filter(forecast__in=running, futures=None).count()


def test_sixty_forecasts_at_which_nobody_looks_leave_a_queue_that_does_not_grow(
    sandbox, valkey
):
    bus = valkey.client()
    for _ in range(60):
        begin(sandbox, 200)
    for _ in range(10):
        look(bus)
    assert bus.llen(EXPERIMENTS) == calls.MOST_CALLS


def test_looks_within_a_second_are_one_look(sandbox, valkey, django_assert_num_queries):
    begin(sandbox, 4)
    look(valkey.client())
    with django_assert_num_queries(0):
        calls.look((experiments.WORK, WORK))


def test_a_call_sends_nothing_while_somebody_else_sends(sandbox, valkey):
    begin(sandbox, 4)
    valkey.client().set(calls.SENDING.format(WORK.task), "another")
    assert WORK.call() == 0


def test_a_visit_that_came_to_nothing_calls_nobody(sandbox, valkey):
    assert WORK.visit() == 0
    assert valkey.client().llen(EXPERIMENTS) == 0


def test_what_nobody_wants_any_more_is_ended_by_one_update_of_whoever_looks(
    sandbox, valkey, django_assert_max_num_queries
):
    for _ in range(20):
        begin(sandbox, 4, wanted_s=-1)
    with django_assert_max_num_queries(12):
        look(valkey.client())
    states = set(KeptForecast.objects.values_list("state", flat=True))
    assert states == {KeptForecast.CANCELLED}
    assert not ForecastPart.objects.exists()
    assert valkey.client().llen(EXPERIMENTS) == 0


def test_a_bus_that_is_away_is_no_error(sandbox, settings, tmp_path):
    settings.BUS_URL = f"unix://{tmp_path / 'nobody.sock'}"
    begin(sandbox, 4)
    calls.look((experiments.WORK, WORK))
    assert WORK.call() == 0


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["begin", "look", "call", "take", "end", "lose", "lapse"]),
        st.integers(1, 30),
    ),
    min_size=1,
    max_size=25,
)


@given(steps=STEPS)
@settings(
    max_examples=40,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
    ],
)
def test_no_more_messages_are_in_flight_than_parts_are_under_way(
    sandbox, valkey, steps
):
    bus = valkey.client()
    bus.flushall()
    KeptForecast.objects.all().delete()
    held: list[parts.PartClaim] = []
    for step, count in steps:
        before = bus.llen(EXPERIMENTS)
        if step == "begin":
            begin(sandbox, count)
        elif step == "look":
            look(bus)
        elif step == "call":
            WORK.call()
        elif step == "take" and bus.lpop(EXPERIMENTS) and (claim := parts.take()):
            held.append(claim)
        elif step == "end" and held:
            parts.finish(held.pop(), [])
        elif step == "lose" and held:
            ForecastPart.objects.filter(pk=held.pop().part_id).update(lease_until=0)
        elif step == "lapse":
            KeptForecast.objects.update(wanted_until=0)
        if bus.llen(EXPERIMENTS) > before:
            most = max(
                not_ended(), KeptForecast.objects.filter(state="running").count()
            )
            assert bus.llen(EXPERIMENTS) <= min(most, calls.MOST_CALLS)
