"""Go durations and Kubernetes times, to integers and back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from scheduler.model import streams
from scheduler.model.errors import QuantityError
from scheduler.model.problems import Form, Wanted, expected

_NS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)")
_STAMP = re.compile(
    r"([0-9]{4}-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9])(?:\.([0-9]{1,9}))?(Z|[+-][0-9][0-9]:[0-9][0-9])"
)
_MOST_NS = 2**63  # of Go: 292 years
_NEVER = "0001-01-01T00:00:00Z"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


_LONG = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([dw])")
_HOURS = {"d": 24, "w": 168}


def nanoseconds(text: str) -> int:
    """Return a Go duration ("1m30s", "1.5h", "0") in nanoseconds.

    Raises QuantityError naming the text.
    """
    rest = text.removeprefix("-")
    if rest == "0":
        return 0
    total, at = 0, 0
    while part := _PART.match(rest, at):
        total += round(min(float(part[1]) * _NS[part[2]], _MOST_NS))
        at = part.end()
    if at == 0 or at != len(rest) or total >= _MOST_NS:
        raise QuantityError(
            expected(
                Wanted.DURATION.said(example='"90s" or "1m30s"'), given=f"{text!r:.80}"
            )
        )
    return -total if text.startswith("-") else total


def milliseconds(text: str) -> int:
    """Return a Go duration in milliseconds, rounded to nearest."""
    return round(nanoseconds(text) / 10**6)


def span_ms(text: str) -> int:
    """Return a Go duration in milliseconds that may have days and weeks: "2d", "1w12h".

    For what people write to us; a field of another system is a Go duration. A day is
    24 h. Raises QuantityError naming the text.
    """
    hours = _LONG.sub(lambda part: f"{float(part[1]) * _HOURS[part[2]]:f}h", text)
    try:
        return milliseconds(hours)
    except QuantityError as error:
        wanted = Wanted.DURATION.said(example='"90s" or "1m30s"')
        raise QuantityError(expected(wanted, given=f"{text!r:.80}")) from error


def duration_text(ms: int) -> str:
    """Return milliseconds as Go prints a duration: "1m30s", "250ms"."""
    if ms < 1000:
        return f"{ms}ms" if ms else "0s"
    minutes, rest = divmod(ms, 60_000)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{rest / 1000:g}s"
    if hours:
        return f"{hours}h{minutes}m{seconds}"
    return f"{minutes}m{seconds}" if minutes else seconds


@lru_cache(maxsize=16_384)
def stamp_us(text: str) -> int:
    """Return an RFC 3339 time as microseconds since the Unix epoch.

    Raises QuantityError naming the text. Many objects have the same few: read once.
    """
    match = _STAMP.fullmatch(text)
    if match is None:
        raise QuantityError(
            expected(Wanted.TIME.said(example='"2026-01-31T12:00:00Z"'), text)
        )
    zone = "+00:00" if match[3] == "Z" else match[3]
    try:
        whole = datetime.fromisoformat(match[1] + zone)
    except ValueError as error:
        raise QuantityError(Form.NOT_A_TIME.said(given=repr(text))) from error
    fraction = int((match[2] or "0").ljust(9, "0")[:6])
    return (whole - _EPOCH) // timedelta(microseconds=1) + fraction


def stamp_or_none(text: str | None) -> int | None:
    """Return an RFC 3339 time as `stamp_us` does; None for none, and for Go's zero time.

    What Go never set is written as the first instant of the year 1: no time at all.
    """
    return stamp_us(text) if text and text != _NEVER else None


@lru_cache(maxsize=16_384)
def stamp_text(us: int) -> str:
    """Return microseconds since the Unix epoch as RFC 3339; whole seconds bare."""
    seconds, fraction = divmod(us, 1_000_000)
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    day, hour = divmod(hours, 24)
    text = f"{_date_text(day)}T{hour:02d}:{minute:02d}:{second:02d}"
    return f"{text}.{fraction:06d}".rstrip("0") + "Z" if fraction else f"{text}Z"


@lru_cache(maxsize=4096)
def _date_text(day: int) -> str:
    """Return a day since the Unix epoch as a date; a run has few of them."""
    return (_EPOCH + timedelta(days=day)).date().isoformat()


# ------------------------------------------------------------------------
# Lengths of time as people write them: fixed, drawn from the seed, or by attempt.


#: The length of "never": no run of virtual time gets there.
NEVER = 1 << 52
_CALL = re.compile(r"(exp|uniform|lognormal|quantiles|attempts)\(([^()]*)\)")
#: How many standard deviations the 90th percentile is above the median.
_P90 = 1.2815515655446004
#: What is written in the brackets, and from how many values to how many.
_ARGUMENTS = {
    "exp": ("exp(MEAN)", 1, 1),
    "uniform": ("uniform(LOW,HIGH)", 2, 2),
    "lognormal": ("lognormal(MEDIAN,P90)", 2, 2),
    "quantiles": ("quantiles(MIN,..,MAX)", 2, 201),
    "attempts": ("attempts(FIRST,SECOND,..)", 1, 201),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A length of time, fixed or drawn from the seed; milliseconds.

    `values` are the length, the mean, the two ends, median and 90th percentile of
    a log-normal distribution, equally spaced quantiles
    from the least to the greatest, or the lengths of the attempts, of which the
    last stands for all that follow.
    """

    shape: str  # of _ARGUMENTS, or "fixed"
    values: tuple[int, ...]

    @property
    def zero(self) -> bool:
        """Return whether the duration is always zero."""
        return not any(self.values)

    def draw(self, seed: int, purpose: str, subject: str, n: int = 0) -> int:
        """Return the length for this subject; equal draws for equal arguments.

        `n` counts the draws of one subject; for "attempts" the first is 1.
        """
        values = self.values
        if self.shape == "exp":
            mean = values[0]
            return round(streams.exponential(seed, purpose, subject, n, mean=mean))
        if self.shape == "lognormal":
            median, p90 = values
            z = streams.normal(seed, purpose, subject, n)
            return round(median * (p90 / median) ** (z / _P90)) if median else 0
        if self.shape == "attempts":
            return values[min(max(n, 1), len(values)) - 1]
        if len(values) == 1:
            return values[0]
        share = streams.uniform(seed, purpose, subject, n) * (len(values) - 1)
        low = int(share)
        return round(values[low] + (share - low) * (values[low + 1] - values[low]))


@lru_cache(maxsize=4096)
def read_span(text: str) -> Span:
    """Return the span of "60s", "2d", "never", "exp(60s)", "uniform(10s,60s)" and so on.

    Days and weeks are 24 and 168 hours. "lognormal(median 5m, p90 20m)" may leave out
    its two words.

    Raises QuantityError that says what was expected.
    """
    named = text.replace("(median ", "(").replace("p90 ", "")
    match = _CALL.fullmatch(named.replace(" ", ""))
    if match is None:
        return Span(shape="fixed", values=(_length(text),))
    shape, words = match[1], match[2].split(",")
    form, least, most = _ARGUMENTS[shape]
    if not least <= len(words) <= most or "" in words:
        raise QuantityError(expected(Wanted.LITERAL.said(literal=form), text))
    values = tuple(_length(word) for word in words)
    ordered = shape in ("uniform", "lognormal", "quantiles")
    if ordered and list(values) != sorted(values):
        raise QuantityError(expected(Wanted.ASCENDING, text))
    return Span(shape=shape, values=values)


def _length(text: str) -> int:
    if text.strip() == "never":
        return NEVER
    length = span_ms(text)
    if length < 0:
        raise QuantityError(expected(Wanted.LENGTH_OR_MORE.said(least="0"), text))
    return length
