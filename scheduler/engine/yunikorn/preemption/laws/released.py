"""The released laws: what yunikorn-core really decides."""

from __future__ import annotations

from scheduler.engine.yunikorn.objects.model import Ask, Queue, SchedulingNode, Trace
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.objects.preemption_laws import PreemptionPlan
from scheduler.engine.yunikorn.preemption import attempts, guaranteed
from scheduler.model.registry import register
from scheduler.model.yunikorn import resources

_SORTS = ("fifo", "fair")


@register(
    "laws",
    "released",
    label="Released",
    help="Preempts as yunikorn-core really does; default for what is imported.",
)
class Released:
    """The laws of yunikorn-core; its comparing of queue paths as text is left out.

    Source: docs/semantics/yunikorn.md#preemption-for-guarantees
    """

    name = "released"
    positional = True
    starting = False
    daemons_beyond_cluster = False

    def sort_name(self, given: str) -> str:
        """Return fair or fifo; anything else, stateaware too, is fifo."""
        return given if given in _SORTS else "fifo"

    def delay_ms(self, leaf: Queue) -> int:
        """Return the leaf's delay, inherited from above when not its own."""
        return leaf.properties.delay_ms

    def choose(
        self,
        partition: Partition,
        ask: Ask,
        *,
        nodes_tried: bool,
        trace: Trace | None = None,
    ) -> PreemptionPlan | str:
        """Return victims and their node for an ask, or why there are none."""
        return guaranteed.choose(partition, ask, nodes_tried=nodes_tried, trace=trace)

    def required_victims(
        self, partition: Partition, node: SchedulingNode, ask: Ask
    ) -> list[Ask]:
        """Return the first candidates whose own sum covers the ask.

        What is free on the node is not counted then, only at the end.
        Source: docs/semantics/yunikorn.md#required-node-preemption
        """
        total: dict[str, int] = {}
        victims: list[Ask] = []
        for pod in attempts.victims_of_node(node, ask):
            if attempts.covers(total, ask.resource):
                break
            resources.add_to(total, pod.resource)
            victims.append(pod)
        with_available = resources.plus(total, node.available)
        return victims if attempts.covers(with_available, ask.resource) else []
