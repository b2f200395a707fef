"""A team's week: working hours, a quieter weekend, bursts, deadlines, a ramp."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import msgspec

from scheduler.input.arrivals import Coming, length_ms
from scheduler.model import streams
from scheduler.model.errors import PolicyError
from scheduler.model.problems import Wanted, expected
from scheduler.model.registry import register

_HOUR = 3_600_000
_DAY, _WEEK = 24 * _HOUR, 168 * _HOUR
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MOMENT = re.compile(r"([a-z]{3}) ([0-9]{1,2})(?::([0-5][0-9]))?")
_HOURS = re.compile(r"([0-9]{1,2})-([0-9]{1,2})")

Share = Annotated[float, msgspec.Meta(ge=0.0)]  # of others; over 1 is more than they
Count = Annotated[int, msgspec.Meta(ge=1)]


class Batch(msgspec.Struct, forbid_unknown_fields=True):
    """How many come at once, evenly between the two, and how far apart."""

    least: Count = 1
    most: Count | None = None  # None is as many as the least
    apart: str = "1s"


class Deadline(msgspec.Struct, forbid_unknown_fields=True):
    """Before a moment of the week so many times as much comes."""

    at: str  # such as "fri 17:00"
    before: str = "24h"
    times: Share = 3.0


class Ramp(msgspec.Struct, forbid_unknown_fields=True):
    """The load grows, or falls, to so many times as much over a time, and stays."""

    to: Share
    over: str


class Week(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """`perDay` objects on a working day, until `until`; time 0 is `begins`.

    `hours` have all but `outside` of a working day, the days that are none `weekend`
    of one. `hourly` (24 numbers) and `daily` (7, Monday first) say it in full instead.
    """

    per_day: Share
    until: str = "1w"
    begins: str = "mon 0:00"
    days: list[str] = msgspec.field(default_factory=lambda: list(_DAYS[:5]))
    hours: str = "9-18"
    outside: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] = 0.1
    weekend: Share = 0.1
    hourly: list[Share] = []
    daily: list[Share] = []
    batch: Batch = msgspec.field(default_factory=Batch)
    deadlines: list[Deadline] = []
    ramp: Ramp | None = None


@register(
    "arrival",
    "week",
    label="A team's week",
    help="Working hours, a quieter weekend, bursts, deadlines and a ramp, drawn from "
    "the seed of the run.",
    parameters=Week,
)
def week(
    parameters: Week, *, seed: int, subject: str, files: dict[str, str]
) -> Iterator[Coming]:
    """Yield arrivals; the expected number of a working day is `perDay`.

    Raises PolicyError for what is no day, hour or length of time. Cost: O(arrivals +
    hours).
    """
    rates = _Rates.of(parameters)
    apart = length_ms(parameters.batch.apart, "arrival week: batch.apart")
    least = parameters.batch.least
    most = parameters.batch.most or least
    if most < least:
        raise _wrong("batch.most", str(most), f"{least}, as many as `least`")
    mean = (least + most) / 2
    at, number = 0.0, 0
    while True:
        # The time until the next batch, as work of a process of rate 1.
        step = streams.exponential(seed, "week", subject, number, mean=mean)
        found = rates.after(at, step)
        if found is None:
            return
        at = found
        count = least + streams.choose(
            seed, "week-batch", subject, number, among=most - least + 1
        )
        for one in range(count):
            yield Coming(at_ms=round(at) + one * apart)
        number += 1


@dataclass(frozen=True, slots=True)
class _Rates:
    """Objects per ms in each hour of a week, and what changes them."""

    by_hour: list[float]
    offset_ms: int  # of time 0 in the week
    end_ms: int
    deadlines: list[tuple[int, int, float]]  # at in the week, before, times
    ramp: tuple[float, int] | None

    @classmethod
    def of(cls, given: Week) -> _Rates:
        hourly, daily = _hourly(given), _daily(given)
        working = max(daily) or 1.0
        scale = given.per_day / (sum(hourly) * working or 1.0)
        return cls(
            by_hour=[scale * d * h / _HOUR for d in daily for h in hourly],
            offset_ms=_moment(given.begins, "begins"),
            end_ms=length_ms(given.until, "arrival week: until"),
            deadlines=[
                (
                    _moment(one.at, f"deadlines[{n}].at"),
                    length_ms(one.before, f"arrival week: deadlines[{n}].before"),
                    one.times,
                )
                for n, one in enumerate(given.deadlines)
            ],
            ramp=None
            if given.ramp is None
            else (
                given.ramp.to,
                max(length_ms(given.ramp.over, "arrival week: ramp.over"), 1),
            ),
        )

    def after(self, at: float, work: float) -> float | None:
        """Return the time by which `work` more objects are expected; None after the end."""
        while at < self.end_ms:
            left = min(self._steady_ms(at), self.end_ms - at)
            rate = self._rate(at)
            if rate * left >= work:
                return at + work / rate
            work -= rate * left
            at += left
        return None

    def _steady_ms(self, at: float) -> float:
        """Return for how long the rate stays: to the hour, or to a deadline's time."""
        here = at + self.offset_ms
        left = _HOUR - here % _HOUR
        for moment, before, _ in self.deadlines:
            left = min(left, _until(moment, here), _until(moment - before, here))
        return max(left, 1.0)  # less may be lost in the sum of two floats

    def _rate(self, at: float) -> float:
        here = at + self.offset_ms
        rate = self.by_hour[int(here // _HOUR) % 168]
        for moment, before, times in self.deadlines:
            if _until(moment, here) <= before:
                rate *= times
        if self.ramp is not None:
            to, over = self.ramp
            rate *= 1.0 + (to - 1.0) * min(at / over, 1.0)
        return rate


def _until(moment: int, here: float) -> float:
    """Return how long it is until a moment of the week comes next; never 0."""
    return _WEEK - (here - moment) % _WEEK


def _hourly(given: Week) -> list[float]:
    if given.hourly:
        return _numbers(given.hourly, 24, "hourly")
    match = _HOURS.fullmatch(given.hours)
    first, last = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 0 <= first < last <= 24:
        raise _wrong("hours", given.hours, '"9-18"')
    inside, outside = last - first, 24 - (last - first)
    share = given.outside if outside else 0.0
    return [
        (1 - share) / inside if first <= hour < last else share / outside
        for hour in range(24)
    ]


def _daily(given: Week) -> list[float]:
    if given.daily:
        return _numbers(given.daily, 7, "daily")
    for day in given.days:
        if day not in _DAYS:
            raise _wrong("days", day, ", ".join(_DAYS))
    return [1.0 if day in given.days else given.weekend for day in _DAYS]


def _numbers(given: list[float], count: int, place: str) -> list[float]:
    if len(given) != count or not any(given):
        raise _wrong(place, f"{len(given)} numbers", f"{count} numbers, not all 0")
    return given


def _moment(text: str, place: str) -> int:
    """Return a moment of the week in ms, "fri 17:30"."""
    match = _MOMENT.fullmatch(text)
    if match is None or match[1] not in _DAYS:
        raise _wrong(place, text, '"fri 17:00"')
    of_day = int(match[2]) * _HOUR + int(match[3] or 0) * _HOUR // 60
    if of_day > _DAY:
        raise _wrong(place, text, '"fri 17:00"')
    return _DAYS.index(match[1]) * _DAY + of_day


def _wrong(place: str, given: str, example: str) -> PolicyError:
    said = expected(Wanted.LIKE.said(example=example), given=repr(given))
    return PolicyError(said, f"arrival week: {place}")
