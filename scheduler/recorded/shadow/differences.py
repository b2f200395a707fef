"""What differs between a real decision and what the engine decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scheduler.model.objects import Key
from scheduler.recorded.shadow.decisions import Admission, Parts, Preemption, Real
from scheduler.recorded.shadow.engine import Decided


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs, if it is known yet; of a preemption, which victims are equal."""

    what: str = ""
    taken: frozenset[Key] = frozenset()


def difference(
    real: Real, decided: Decided, victims: Mapping[Key, str]
) -> Difference | None:
    """Return None for the same decision, an empty one while it is not complete.

    `victims` are those that the engine has taken for the real preemptor so far.
    """
    if isinstance(real, Admission):
        return _admission(real, decided)
    return _preemption(real, decided, victims)


def _admission(real: Admission, decided: Decided) -> Difference | None:
    if real.workload in decided.preempted:
        return Difference("preempts instead")
    if real.workload not in decided.admitted:
        return Difference()
    queue, parts = decided.admitted[real.workload]
    if queue != real.queue:
        return Difference("another queue")
    if _counts(parts) != _counts(real.parts):
        return Difference("another count")
    return None if parts == real.parts else Difference("another flavor")


def _counts(parts: Parts) -> dict[str, int]:
    return {name: count for name, (count, _) in parts.items()}


def _preemption(
    real: Preemption, decided: Decided, victims: Mapping[Key, str]
) -> Difference | None:
    if victims == real.reasons:
        return None
    if real.preemptor in decided.admitted:
        return Difference("admits instead", frozenset(victims))
    if set(victims) == set(real.victims):
        return Difference("another reason")
    if set(victims) <= set(real.victims):
        return Difference(taken=frozenset(victims))
    return Difference("other victims")
