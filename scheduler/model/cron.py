"""Cron expressions: which minutes of a time zone's calendar they name."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from scheduler.model.amounts import is_whole
from scheduler.model.errors import QuantityError
from scheduler.model.problems import Wanted, expected

_MONTHS = (
    *("jan", "feb", "mar", "apr", "may", "jun"),
    *("jul", "aug", "sep", "oct", "nov", "dec"),
)
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
#: Name, least and greatest value, and the names of values, in the order as written.
_FIELDS: tuple[tuple[str, int, int, dict[str, int]], ...] = (
    ("minute", 0, 59, {}),
    ("hour", 0, 23, {}),
    ("day of the month", 1, 31, {}),
    ("month", 1, 12, {name: at for at, name in enumerate(_MONTHS, 1)}),
    ("day of the week", 0, 6, {name: at for at, name in enumerate(_DAYS)}),
)
_MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_UTC = frozenset({"", "UTC", "Etc/UTC"})
_MINUTE_US = 60_000_000
_DAY = 24 * 60
_FARTHEST = timedelta(days=5 * 366)  # a day that never comes is not looked for longer


@dataclass(frozen=True, slots=True, kw_only=True)
class CronSchedule:
    """A cron expression that was read, in its time zone.

    Times are microseconds since the Unix epoch. Each minute whose local time
    matches counts: one that daylight saving leaves out never comes, one that it
    repeats comes twice. Source: docs/semantics/controllers.md#schedule.
    """

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool  # a star for one of the two days: both must match, else one
    zone: tzinfo

    def after(self, at_us: int) -> int | None:
        """Return the first match later than this; None within five years."""
        return self._search(at_us // _MINUTE_US + 1, step=1)

    def latest(self, since_us: int, until_us: int) -> int | None:
        """Return the last match later than `since_us`, no later than `until_us`."""
        found = self._search(until_us // _MINUTE_US, step=-1, least_us=since_us)
        return found if found is not None and found > since_us else None

    def _search(self, minute: int, *, step: int, least_us: int = 0) -> int | None:
        moment = datetime.fromtimestamp(minute * 60, UTC)
        end = moment + step * _FARTHEST
        while (moment < end) if step > 0 else (moment > end):
            at_us = int(moment.timestamp()) * 1_000_000
            if step < 0 and at_us <= least_us:
                return None
            skipped = self._minutes_to_skip(moment.astimezone(self.zone), step)
            if not skipped:
                return at_us
            moment = self._jump(moment, skipped, step)
        return None

    def _minutes_to_skip(self, local: datetime, step: int) -> int:
        """Return how many minutes cannot match from here on; 0 when this one does."""
        passed = local.hour * 60 + local.minute
        if not self._has_day(local):
            return _DAY - passed if step > 0 else passed + 1
        if local.hour not in self.hours:
            return 60 - local.minute if step > 0 else local.minute + 1
        return 0 if local.minute in self.minutes else 1

    def _has_day(self, local: datetime) -> bool:
        if local.month not in self.months:
            return False
        day = local.day in self.days
        weekday = local.isoweekday() % 7 in self.weekdays
        return (day and weekday) if self.any_day else (day or weekday)

    def _jump(self, moment: datetime, minutes: int, step: int) -> datetime:
        """Go on by so many minutes; by one where the clock is changed between."""
        there = moment + timedelta(minutes=step * minutes)
        before, after = moment.astimezone(self.zone), there.astimezone(self.zone)
        if before.utcoffset() == after.utcoffset():
            return there
        return moment + timedelta(minutes=step)


def read_schedule(text: str, zone: str = "") -> CronSchedule:
    """Return the schedule of five fields, or a name such as @daily, in this zone.

    The zone is UTC when left out. Raises QuantityError naming the part.
    """
    fields = _MACROS.get(text, text).split()
    if len(fields) != len(_FIELDS):
        raise QuantityError(expected(Wanted.SCHEDULE, text))
    values = [
        _values(part, *field) for part, field in zip(fields, _FIELDS, strict=True)
    ]
    return CronSchedule(
        minutes=values[0],
        hours=values[1],
        days=values[2],
        months=values[3],
        weekdays=values[4],
        any_day=_has_star(fields[2]) or _has_star(fields[4]),
        zone=_zone(zone),
    )


def _zone(name: str) -> tzinfo:
    if name in _UTC:
        return UTC  # known on a machine without time zone data, too
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise QuantityError(
            expected(Wanted.TIME_ZONE.said(example='"Europe/Berlin"'), name)
        ) from error


def _has_star(text: str) -> bool:
    """Return whether a day is left open; a star with a step above 1 is not."""
    return any(part in ("*", "?", "*/1", "?/1") for part in text.split(","))


def _values(
    text: str, name: str, least: int, most: int, names: dict[str, int]
) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        span, slash, step_text = part.partition("/")
        step = _number(step_text, name, {}) if slash else 1
        first, last = _span(span, name, least, most, names)
        if slash and "-" not in span and span not in ("*", "?"):
            last = most
        if not least <= first <= last <= most or step < 1:
            raise QuantityError(
                expected(Wanted.RANGE.said(least=least, most=most), part), name
            )
        found.update(range(first, last + 1, step))
    return frozenset(found)


def _span(
    text: str, name: str, least: int, most: int, names: dict[str, int]
) -> tuple[int, int]:
    if text in ("*", "?"):
        return least, most
    first, dash, last = text.partition("-")
    start = _number(first, name, names)
    return start, _number(last, name, names) if dash else start


def _number(text: str, name: str, names: dict[str, int]) -> int:
    if text.lower() in names:
        return names[text.lower()]
    if not is_whole(text):
        raise QuantityError(expected(Wanted.NUMBER, text), name)
    return int(text)
