"""Which predicate a pod gets: none, of the node alone, or among other pods."""

from __future__ import annotations

from scheduler.engine.stage import Context
from scheduler.engine.yunikorn.objects.model import Predicate
from scheduler.engine.yunikorn.shim.node_predicates import NodePredicate, predicate_of
from scheduler.engine.yunikorn.shim.pod_predicates import PredicateContext
from scheduler.engine.yunikorn.shim.shim_state import ShimState
from scheduler.model.hierarchy import PartitionSpec
from scheduler.model.pod import Pod
from scheduler.model.policy import Policy


class PredicateSelection(ShimState):
    """Gives pods the cheapest predicate that decides for them."""

    def __init__(self, context: Context, policy: Policy, spec: PartitionSpec) -> None:
        super().__init__(context, policy, spec)
        self.tainted = False  # some node has a taint
        self._by_shape: dict[int, NodePredicate] = {}
        #: From the first pod on that needs predicates among pods.
        self.predicate_context: PredicateContext | None = None

    def _use_taints(self) -> None:
        """Give every pod a predicate, from the first tainted node on."""
        self.tainted = True
        for ask in self.partition.asks.values():
            if ask.pod is not None and ask.predicate is None:
                ask.predicate = self._predicate(self.records[ask.key])

    def _use_pod_predicates(self) -> None:
        """Give every pod predicates among pods, from the first on that needs them."""
        found = self.predicate_context = PredicateContext(self.partition, self.records)
        self._update_namespaces()
        for node in self.partition.nodes.by_name.values():
            if node.record is not None:
                found.put_node(node.record)
        for key, (name, _) in self.foreign.items():
            found.put_foreign_pod(self.records[key.path], name)
        for ask in self.partition.asks.values():
            if ask.pod is not None:
                ask.predicate = found.predicate(self.records[ask.key])

    def _update_namespaces(self) -> None:
        if self.predicate_context is not None:
            self.predicate_context.put_namespaces(self.namespaces)
            self.partition.changed()

    def _predicate(self, pod: Pod) -> Predicate | None:
        if self.predicate_context is not None:
            return self.predicate_context.predicate(pod)
        shape = pod.shape
        if predicate_of(shape, tainted=self.tainted) is None:
            return None
        return self._by_shape.setdefault(shape.ordinal, NodePredicate(shape))
