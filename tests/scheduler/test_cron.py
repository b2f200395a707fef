"""Cron expressions name the minutes that the real controller starts Jobs at."""

from __future__ import annotations

from zoneinfo import ZoneInfoNotFoundError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.model import cron
from scheduler.model.cron import read_schedule
from scheduler.model.durations import stamp_text, stamp_us
from scheduler.model.errors import QuantityError


@pytest.mark.parametrize(
    ("text", "zone", "at", "then"),
    [
        ("* * * * *", "", "2026-03-01T10:00:00Z", "2026-03-01T10:01:00Z"),
        ("*/15 * * * *", "", "2026-03-01T10:50:01Z", "2026-03-01T11:00:00Z"),
        ("5/20 9-17 * * *", "", "2026-03-01T17:45:00Z", "2026-03-02T09:05:00Z"),
        ("0 0 13 * FRI", "", "2026-03-01T00:00:00Z", "2026-03-06T00:00:00Z"),
        ("0 0 */2 * mon", "", "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"),
        ("0 0 29 feb ?", "", "2026-03-01T00:00:00Z", "2028-02-29T00:00:00Z"),
        ("@weekly", "", "2026-03-01T00:00:00Z", "2026-03-08T00:00:00Z"),
        ("0 9 * * *", "Asia/Kolkata", "2026-03-01T00:00:00Z", "2026-03-01T03:30:00Z"),
        # New York: 2:00 to 3:00 is left out, and later 1:00 to 2:00 comes twice.
        (
            "30 2 * * *",
            "America/New_York",
            "2026-03-08T05:00:00Z",
            "2026-03-09T06:30:00Z",
        ),
        (
            "0 1 * * *",
            "America/New_York",
            "2026-11-01T05:00:00Z",
            "2026-11-01T06:00:00Z",
        ),
    ],
)
def test_the_next_time_of_a_schedule(text, zone, at, then):
    assert stamp_text(read_schedule(text, zone).after(stamp_us(at))) == then


def test_a_day_that_never_comes_has_no_next_time():
    assert read_schedule("0 0 30 2 *").after(stamp_us("2026-03-01T00:00:00Z")) is None


@pytest.mark.parametrize(
    ("text", "zone", "problem"),
    [
        ("* * * *", "", "five fields"),
        ("@every 5m", "", "five fields"),
        ("TZ=UTC 0 * * * *", "", "five fields"),
        ("60 * * * *", "", "minute: expected 0 to 59"),
        ("* * * * 7", "", "day of the week: expected 0 to 6"),
        ("9-5 * * * *", "", "minute"),
        ("*/0 * * * *", "", "minute"),
        ("x * * * *", "", "expected a number"),
        ("* * * * *", "Mars/Olympus", "time zone"),
    ],
)
def test_what_is_no_schedule_is_refused_by_its_part(text, zone, problem):
    with pytest.raises(QuantityError, match=problem):
        read_schedule(text, zone)


SCHEDULES = st.sampled_from(["7,30 1-3 * * *", "0 2 */3 * sun", "*/40 * 8 mar,nov *"])
MINUTES = st.integers(29_539_000, 29_935_000)  # of 2026, March to November


@given(SCHEDULES, st.sampled_from(["UTC", "America/New_York"]), MINUTES)
def test_the_latest_before_the_next_is_not_later_than_now(text, zone, minute):
    schedule = read_schedule(text, zone)
    at = minute * 60_000_000
    following = schedule.after(at)
    latest = schedule.latest(at - 400 * 86_400_000_000, following - 1)
    assert latest is not None
    assert latest <= at < following
    assert schedule.after(latest) == following
    assert schedule.latest(latest, following - 1) is None


def test_utc_is_known_without_time_zone_data(monkeypatch):
    def nothing(name):
        raise ZoneInfoNotFoundError(name)

    monkeypatch.setattr(cron, "ZoneInfo", nothing)
    schedule = read_schedule("0 * * * *", "")
    assert schedule.after(0) == read_schedule("0 * * * *", "Etc/UTC").after(0)
    with pytest.raises(QuantityError, match="expected a time zone"):
        read_schedule("0 * * * *", "Europe/Berlin")
