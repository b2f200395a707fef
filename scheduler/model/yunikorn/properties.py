"""Queue properties: how they spread down the tree, and what their values mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from scheduler.model import durations
from scheduler.model.errors import QuantityError
from scheduler.model.problems import Wanted, expected, in_field
from scheduler.model.sentence import Sentence, plain

SORT_POLICY = "application.sort.policy"
SORT_PRIORITY = "application.sort.priority"
PRIORITY_POLICY = "priority.policy"
PRIORITY_OFFSET = "priority.offset"
PREEMPTION_POLICY = "preemption.policy"
PREEMPTION_DELAY = "preemption.delay"
QUOTA_DELAY = "quota.preemption.delay"
BACKOFF = "application.unschedasks.backoff"
BACKOFF_DELAY = "application.unschedasks.backoff.delay"

MIN_PRIORITY = -(2**31)
MAX_PRIORITY = 2**31 - 1
DEFAULT_DELAY_MS = 30_000

Preemption = Literal["default", "fence", "disabled"]
_POLICIES: dict[str, Preemption] = {
    "default": "default",
    "fence": "fence",
    "disabled": "disabled",
}


#: Property -> the values that it takes, and what stands for any other.
_CHOICES: dict[str, tuple[tuple[str, ...], str]] = {
    SORT_POLICY: (("fifo", "fair", "stateaware"), "fifo"),
    SORT_PRIORITY: (("enabled", "disabled"), "enabled"),
    PRIORITY_POLICY: (("default", "fence"), "default"),
    PREEMPTION_POLICY: (tuple(_POLICIES), "default"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Properties:
    """What the properties of one queue come to, inheritance included."""

    sort_policy: str = "fifo"
    by_priority: bool = True  # application.sort.priority
    priority_fence: bool = False
    priority_offset: int = 0
    preemption: Preemption = "default"
    delay_ms: int = DEFAULT_DELAY_MS
    quota_delay_ms: int = 0  # 0 is off
    backoff_count: int = 0  # unschedulable asks per visit; 0 is off
    backoff_delay_ms: int = DEFAULT_DELAY_MS


def inherit(parent: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """Return a queue's properties: its parent's, overridden by its own.

    Priority policy and offset never spread; of preemption.policy only
    `disabled` does. Source: docs/semantics/yunikorn.md#queue-properties
    """
    spread = dict(parent)
    spread.pop(PRIORITY_POLICY, None)
    spread.pop(PRIORITY_OFFSET, None)
    if spread.get(PREEMPTION_POLICY, "").lower() != "disabled":
        spread.pop(PREEMPTION_POLICY, None)
    return {**spread, **own}


def read(texts: Mapping[str, str]) -> Properties:
    """Return what the texts mean; a bad value falls back to its default.

    Source: docs/semantics/yunikorn.md#queue-properties
    """
    delay = _duration(texts.get(PREEMPTION_DELAY, ""))
    pause = _duration(texts.get(BACKOFF_DELAY, ""))
    return Properties(
        sort_policy=texts.get(SORT_POLICY, "fifo").lower(),
        by_priority=texts.get(SORT_PRIORITY, "").lower() != "disabled",
        priority_fence=texts.get(PRIORITY_POLICY, "").lower() == "fence",
        priority_offset=_int32(texts.get(PRIORITY_OFFSET, "")),
        preemption=_POLICIES.get(texts.get(PREEMPTION_POLICY, "").lower(), "default"),
        delay_ms=delay if delay > 0 else DEFAULT_DELAY_MS,
        quota_delay_ms=max(0, _duration(texts.get(QUOTA_DELAY, ""))),
        backoff_count=max(0, _int32(texts.get(BACKOFF, ""))),
        backoff_delay_ms=pause if pause > 0 else DEFAULT_DELAY_MS,
    )


def problems(texts: Mapping[str, str]) -> Iterator[Sentence]:
    """Yield which of a queue's own properties are not taken, and what counts instead.

    YuniKorn logs them and goes on. Source: docs/semantics/yunikorn.md#queue-properties
    """
    for name, (known, instead) in _CHOICES.items():
        given = texts.get(name, "")
        if given and given.lower() not in known:
            yield (
                in_field(
                    name,
                    expected(
                        Wanted.ONE_OF.said(known=", ".join(known)),
                        given=f"{given!r}; {instead} is used",
                    ),
                )
            )
    for name in (PREEMPTION_DELAY, BACKOFF_DELAY):
        given = texts.get(name, "")
        if given and _duration(given) <= 0:
            yield plain(
                f"{name}: expected a duration above 0 such as 10s, got {given!r}; "
                f"{durations.duration_text(DEFAULT_DELAY_MS)} is used"
            )
    given = texts.get(PRIORITY_OFFSET, "")
    if given and str(_int32(given)) != given.lstrip("+"):
        yield plain(
            f"{PRIORITY_OFFSET}: expected a whole number of 32 bits, got {given!r}; "
            f"{_int32(given)} is used"
        )


def _duration(text: str) -> int:
    try:
        return durations.milliseconds(text)
    except QuantityError:
        return 0


def _int32(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        return 0
    return value if MIN_PRIORITY <= value <= MAX_PRIORITY else 0


def clamp_priority(value: int) -> int:
    """Return the priority held inside int32."""
    return max(MIN_PRIORITY, min(MAX_PRIORITY, value))
