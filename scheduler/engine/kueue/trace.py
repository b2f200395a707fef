"""What a decision looked at, step by step: filled only when somebody asks.

Every step is a dict of plain values that JSON can hold; amounts are texts of
canonical integers. Nothing here decides, and nothing here is called when no
trace is given.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

from scheduler.engine.kueue.tree.quota import (
    DRS,
    available_non_negative,
    dominant_resource_share,
)
from scheduler.engine.kueue.tree.tree import (
    ClusterQueue,
    Cohort,
    FlavorResource,
    QuotaNode,
    Rank,
    ResourceNode,
)
from scheduler.engine.kueue.workload.info import WorkloadInfo

Values = dict[str, Any]
#: What became of a candidate.
Verdict = Literal["taken", "refused", "skipped"]
#: By what a candidate was judged.
Question = Literal["share", "priority", "withinNominal"]
#: Why nobody of a ClusterQueue is a candidate.
Excluded = Literal["reclaimNever", "withinNominal", "inactive", "borrowsNone"]
_INFINITE = math.inf


class Trace:
    """The steps of a cycle for one workload, in order, as plain values."""

    def __init__(self) -> None:
        self.steps: list[Values] = []
        self._test: Values | None = None  # of the candidate that is looked at

    def note(self, step: str, **values: Any) -> None:
        """Append one step."""
        self.steps.append({"step": step, **values})

    # ---- flavors ----

    def flavor(
        self,
        pod_set: str,
        resource_node: ResourceNode,
        amount: int,
        assigned: int,
        mode: str,
        borrow: int,
        reason: str,
    ) -> None:
        """Append what one flavor offers for one resource, and its arithmetic.

        `assigned` is the part of `amount` that earlier podsets ask.
        """
        self.note(
            "flavor",
            podSet=pod_set,
            requested=str(amount),
            assigned=str(assigned),
            mode=mode,
            borrow=borrow,
            reason=reason,
            **arithmetic(resource_node, amount),
        )

    # ---- searches for victims ----

    def search(
        self,
        purpose: str,
        requests: Mapping[ResourceNode, int],
        needed: Collection[FlavorResource],
    ) -> None:
        """Append the start of a search: for one resource, or for the whole assignment."""
        self.note(
            "search",
            purpose=purpose,
            requests=[
                _amount(resource_node, amount)
                for resource_node, amount in requests.items()
            ],
            needed=[list(each) for each in sorted(needed)],
            quota=quota_checks(requests, borrowing=True),
            shares=shares(
                next((resource_node.node for resource_node in requests), None)
            ),
        )

    def source(
        self,
        queue: ClusterQueue,
        relation: str,
        policy: str,
        ranks: Iterable[Rank],
        needed: Collection[FlavorResource],
        code: Excluded | None = None,
    ) -> None:
        """Append where candidates may come from; `code` says why nobody of it may."""
        holders = [
            w
            for w in queue.admitted.workloads
            if not w.flavor_resources.isdisjoint(needed)
        ]
        self.note(
            "source",
            queue=queue.name,
            relation=relation,
            policy=policy,
            holders=len(holders),
            candidates=sum(1 for _ in ranks),
            code=code or "",
            cells=[_standing(queue, each) for each in sorted(needed)],
        )

    def excluded(
        self,
        queue: ClusterQueue,
        visited: Collection[ClusterQueue],
        policy: str,
        needed: Collection[FlavorResource],
        code: Excluded,
    ) -> None:
        """Append the queues of the tree that no candidate was looked for in."""
        root = queue.root
        others = root.subtree() if isinstance(root, Cohort) else ()
        for other in others:
            if other is not queue and other not in visited:
                self.source(other, "other", policy, (), needed, code)

    def compare(
        self, rule: int, ours: QuotaNode, theirs: QuotaNode, values: Sequence[DRS]
    ) -> None:
        """Keep the comparison of shares that the next candidate is judged by.

        `values`: the preemptor's share, the target's before and after.
        """
        new, old, after = values
        self._keep(
            "share",
            rule=rule,
            ours=name_of(ours),
            theirs=name_of(theirs),
            preemptorShare=share_of(new),
            targetShareBefore=share_of(old),
            targetShareAfter=share_of(after),
        )

    def limit(
        self, priority: int, below: int | None, threshold: int | None = None
    ) -> None:
        """Keep the priority that the next candidate would have to be below.

        `threshold` is the maxPriorityThreshold that sets it; None where the preemptor's
        priority does.
        """
        given = {} if threshold is None else {"threshold": threshold}
        self._keep("priority", priority=priority, below=below, **given)

    def idle(
        self, nodes: Iterable[QuotaNode], needed: Collection[FlavorResource]
    ) -> None:
        """Keep that one of these nodes uses no more than its own quota now."""
        self._keep(
            "withinNominal",
            cells=[_standing(node, each) for node in nodes for each in sorted(needed)],
        )

    def _keep(self, kind: Question, **values: Any) -> None:
        self._test = {"kind": kind, **values}

    def candidate(
        self, work: WorkloadInfo, relation: str, verdict: Verdict, **values: Any
    ) -> None:
        """Append one candidate in the order looked at, and what became of it."""
        reserved = work.conditions.get("QuotaReserved")
        self.note(
            "candidate",
            workload=str(work.key),
            queue=work.cluster_queue.name if work.cluster_queue is not None else "",
            relation=relation,
            verdict=verdict,
            priority=work.priority,
            evicted=work.evicted,
            reservedUs=reserved.since_us if reserved is not None else None,
            held=[
                _amount(resource_node, amount) for resource_node, amount in work.usage
            ],
            test=self._test,
            **values,
        )
        self._test = None

    def put_back(
        self,
        work: WorkloadInfo,
        requests: Mapping[ResourceNode, int],
        *,
        borrowing: bool,
        fits: bool,
    ) -> None:
        """Append a try to spare a target; its usage is back in the tree now."""
        self.note(
            "putBack",
            workload=str(work.key),
            queue=work.cluster_queue.name if work.cluster_queue is not None else "",
            held=[
                _amount(resource_node, amount) for resource_node, amount in work.usage
            ],
            quota=quota_checks(requests, borrowing=borrowing),
            fits=fits,
            shares=shares(work.cluster_queue),
        )


def name_of(node: QuotaNode) -> Values:
    """Return kind and name of a node of the quota tree."""
    return {"kind": node.kind, "name": node.name}


def share_of(share: DRS) -> float | None:
    """Return a share's value; None is infinite."""
    return None if share.value == _INFINITE else share.value


def shares(queue: QuotaNode | None) -> list[Values]:
    """Return the weighted share of every node in a queue's tree that has one."""
    if queue is None or not isinstance(queue.root, Cohort):
        return []
    found, waiting = [], [queue.root]
    while waiting:
        cohort = waiting.pop(0)
        waiting += cohort.cohorts
        for node in cohort.children():
            value, borrowing = dominant_resource_share(node)
            share = {"share": share_of(value), "borrowing": borrowing}
            found.append({**name_of(node), **share, "weight": node.weight})
    return found


def quota_checks(
    requests: Mapping[ResourceNode, int], *, borrowing: bool
) -> list[Values]:
    """Return, per resource asked, what is free for the request in the present state."""
    return [
        {
            **_amount(resource_node, amount),
            "available": str(available_non_negative(resource_node)),
            "withinNominal": None
            if borrowing
            else str(resource_node.nominal - resource_node.usage),
        }
        for resource_node, amount in requests.items()
    ]


def arithmetic(resource_node: ResourceNode, amount: int) -> Values:
    """Return what a resource node and all above it have for `amount`."""
    flavor, resource = resource_node.flavor_resource
    free = available_non_negative(resource_node)
    return {
        "flavor": flavor,
        "resource": resource,
        "available": str(free),
        "potential": str(resource_node.potential_available),
        "shortfall": str(max(0, amount - free)),
        "chain": chain(resource_node),
    }


def chain(resource_node: ResourceNode) -> list[Values]:
    """Return quota and usage of a resource node and all above it, nearest first."""
    rows = []
    at: ResourceNode | None = resource_node
    while at is not None:
        rows.append(_row(at))
        at = at.parent
    return rows


def _row(resource_node: ResourceNode) -> Values:
    numbers = {
        "nominal": resource_node.nominal,
        "subtree": resource_node.subtree_quota,
        "used": resource_node.usage,
        "borrowed": max(0, resource_node.usage - resource_node.subtree_quota),
        "lendable": max(0, resource_node.subtree_quota - resource_node.local_quota),
        "borrowingLimit": resource_node.borrowing_limit,
        "lendingLimit": resource_node.lending_limit,
    }
    texts = {name: _text(amount) for name, amount in numbers.items()}
    return {**name_of(resource_node.node), **texts}


def _text(amount: int | None) -> str | None:
    return None if amount is None else str(amount)


def _amount(resource_node: ResourceNode, amount: int) -> Values:
    flavor, resource = resource_node.flavor_resource
    return {"flavor": flavor, "resource": resource, "amount": str(amount)}


def _standing(node: QuotaNode, flavor_resource: FlavorResource) -> Values:
    flavor, resource = flavor_resource
    resource_node = node.resource_nodes.get(flavor_resource)
    used, quota = (
        (resource_node.usage, resource_node.subtree_quota)
        if resource_node is not None
        else (0, 0)
    )
    numbers = {"used": str(used), "quota": str(quota)}
    return {**name_of(node), "flavor": flavor, "resource": resource, **numbers}
