"""Which pods of a leaf end after its quota was lowered."""

from __future__ import annotations

from typing import Any

from scheduler.engine.yunikorn.objects.model import Ask, Queue
from scheduler.model.yunikorn import resources
from scheduler.model.yunikorn.resources import Amounts

_HOUR_MS = 3_600_000
_ORIGINATOR = 2**33
_OPTED_OUT = 2**34


def choose(leaf: Queue, wanted: Amounts) -> list[Ask]:
    """Return pods of a leaf that together do not exceed the amount.

    Types that the amount does not name are free.
    Source: docs/semantics/yunikorn.md#quota-change-victims
    """
    total: Amounts = {}
    victims: list[Ask] = []
    for pod in sorted(
        _candidates(leaf, wanted), key=lambda pod: _order(pod, leaf, wanted)
    ):
        new = resources.plus(total, pod.resource)
        if all(new.get(name, 0) <= value for name, value in wanted.items()):
            total = new
            victims.append(pod)
    return victims


def _candidates(leaf: Queue, wanted: Amounts) -> list[Ask]:
    return [
        pod
        for app in leaf.apps.values()
        for pod in app.allocations.values()
        if pod.required_node is None
        and not (pod.preempted or pod.released)
        and resources.share_any(pod.resource, wanted)
    ]


def _order(pod: Ask, leaf: Queue, wanted: Amounts) -> tuple[Any, ...]:
    """Order as released code has it: opted-out pods and originators come first."""
    matching = sum(name in wanted for name in pod.resource)
    score = 100 * matching / len(pod.resource)
    score += _ORIGINATOR * pod.originator + _OPTED_OUT * (not pod.allow_self)
    limit = leaf.max or {}
    shares = tuple(
        sorted(
            (
                pod.resource[t] / limit[t]
                for t in wanted
                if t in pod.resource and limit.get(t)
            ),
            reverse=True,
        )
    )
    return (-score, pod.priority, -(pod.create_ms // _HOUR_MS), shares, pod.key)
