"""A policy that overrides everything and decides as the release does."""

from __future__ import annotations

from collections.abc import Sequence

from quotalab.policies import (
    FittingNode,
    Policy,
    Queue,
    WaitingPod,
    Work,
    YunikornQueue,
    proposal,
)


@proposal("Repeats", label="Repeats", help="As the release.")
class Repeats(Policy):
    """Every method, with the answer of the release."""

    def precedence(self, work: Work, queue: Queue, now_ms: int) -> float:
        return 0

    def weight(self, queue: Queue, now_ms: int) -> float:
        return queue.weight

    def flavors(self, work: Work, names: Sequence[str]) -> Sequence[str]:
        return [*names]

    def strict(self, queue: str, strict: bool) -> bool:
        return strict

    def hold_until(self, work: Work, queue: Queue, now_ms: int) -> float:
        return now_ms

    def spare_until(self, victim: Work, by: Work, now_ms: int) -> float:
        return now_ms

    def victim_order(self, victim: Work, by: Work, now_ms: int) -> float:
        return 0

    def pod_order(self, pod: WaitingPod) -> float:
        return 0

    def node_order(self, pod: WaitingPod, node: FittingNode, now_ms: int) -> float:
        return 0

    def queue_order(self, queue: YunikornQueue, now_ms: int) -> float:
        return 0

    def preempted(self, victim: Work, by: Work, now_ms: int) -> None:
        pass
