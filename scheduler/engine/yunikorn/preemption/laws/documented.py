"""The documented laws: what the design text promises, all seven of them."""

from __future__ import annotations

from scheduler.engine.yunikorn.objects.model import Ask, Queue, SchedulingNode, Trace
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.objects.preemption_laws import PreemptionPlan
from scheduler.engine.yunikorn.preemption import attempts, guaranteed_documented
from scheduler.model.registry import register
from scheduler.model.yunikorn import resources

_SORTS = ("fifo", "fair", "stateaware")


@register(
    "laws",
    "documented",
    label="Documented",
    help="Keeps the seven laws of the preemption design to the letter.",
)
class Documented:
    """No real system decides so. Source: docs/semantics/yunikorn.md#documented-laws"""

    name = "documented"
    positional = False
    starting = True
    daemons_beyond_cluster = True

    def sort_name(self, given: str) -> str:
        """Return the sort as named; an unknown one is fifo."""
        return given if given in _SORTS else "fifo"

    def delay_ms(self, leaf: Queue) -> int:
        """Return the leaf's own delay; one on a parent has no effect."""
        return leaf.own_delay_ms

    def choose(
        self,
        partition: Partition,
        ask: Ask,
        *,
        nodes_tried: bool,
        trace: Trace | None = None,
    ) -> PreemptionPlan | str:
        """Return victims and their node for an ask, or why there are none."""
        return guaranteed_documented.choose(partition, ask, trace)

    def required_victims(
        self, partition: Partition, node: SchedulingNode, ask: Ask
    ) -> list[Ask]:
        """Return the first candidates that, with what is free, cover the ask.

        Opted-out pods come after the plain ones; DaemonSet pods last of all,
        and only of lower priority, or two of them would evict each other for
        ever.
        """
        available = dict(node.available)
        victims: list[Ask] = []
        for pod in attempts.victims_of_node(node, ask, daemons=True):
            if attempts.covers(available, ask.resource):
                break
            if pod.required_node is not None and pod.priority >= ask.priority:
                continue
            resources.add_to(available, pod.resource)
            victims.append(pod)
        return victims if attempts.covers(available, ask.resource) else []
