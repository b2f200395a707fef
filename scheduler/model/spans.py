"""Lengths of time as people write them: fixed, drawn from the seed, or by attempt."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from scheduler.model import durations, streams
from scheduler.model.errors import QuantityError
from scheduler.model.problems import Wanted, expected

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
        """Return whether it never takes any time."""
        return not any(self.values)

    @property
    def fixed_ms(self) -> int | None:
        """Return the length; None where it is drawn, or without end."""
        length = self.values[0] if self.shape == "fixed" else NEVER
        return None if length == NEVER else length

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
    length = durations.span_ms(text)
    if length < 0:
        raise QuantityError(expected(Wanted.LENGTH_OR_MORE.said(least="0"), text))
    return length
