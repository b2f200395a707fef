"""A world's documents for another stack: Kueue to YuniKorn and back, losses named."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from scheduler.analysis.conversion import Converted, Loss, from_kueue, to_kueue
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Object
from scheduler.model.policy import Policy, PolicySpec
from scheduler.model.problems import RequestProblem

__all__ = ["Converted", "Loss", "convert"]


def convert(objects: Iterable[Object], policy: Policy, *, stack: str) -> Converted:
    """Return objects and policy for the stack `kueue` or `yunikorn`.

    Nothing given is changed; what could not be carried over is in `losses`.
    Nominal quota becomes guaranteed, nominal + borrowing limit the max, a
    cohort a parent queue, and the other way round. Statuses are left behind:
    the new world starts from its manifests. Raises SchedulerError when the
    policy's stack is not the other one.
    """
    spec: PolicySpec = policy.spec
    match spec.stack, stack:
        case "kueue", "yunikorn":
            return from_kueue.convert(list(objects), spec)
        case "yunikorn", "kueue":
            return to_kueue.convert(list(objects), spec)
        case given, wanted:
            raise SchedulerError(
                RequestProblem.KINDS.said(first=given, given=repr(wanted))
            )


def report(converted: Converted) -> list[dict[str, Any]]:
    """Return the losses as plain rows: what, of which object, and its sentence."""
    return [
        {
            "subject": loss.subject,
            "lost": loss.lost,
            "said": msgspec.to_builtins(loss.said),
        }
        for loss in converted.losses
    ]
