"""A preemption of kube-scheduler: its tick again, with the search written down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scheduler.analysis.explain.shapes import (
    Amount,
    Budget,
    Cost,
    PodPreemption,
    TriedNode,
    TriedPod,
    Victim,
)
from scheduler.engine.kube.framework.plugin import Candidate
from scheduler.engine.kube.plugins.default_preemption import DefaultPreemption
from scheduler.engine.kube.preemption import dry_run
from scheduler.engine.kube.preemption.dry_run import TracedSearch, guards
from scheduler.engine.kube.stage import KubeStage
from scheduler.engine.tick import run_tick
from scheduler.engine.world import World, fork
from scheduler.model.decisions import Decision, Preempt
from scheduler.model.errors import SchedulerError
from scheduler.model.pod import Pod
from scheduler.model.problems.files import Unshown


def explain(world_before: World, decision: Preempt) -> PodPreemption:
    """Return the dry runs behind a victim, node by node.

    Raises SchedulerError when the tick does not decide that, or by another plug-in
    than DefaultPreemption. Costs a copy and the tick.
    """
    if decision.strategy not in ("", DefaultPreemption.name):
        raise SchedulerError(
            Unshown.OTHER_PLUGIN.said(
                name=decision.strategy,
                other=DefaultPreemption.name,
                first=decision.by,
                last=decision.subject,
            )
        )
    world = fork(world_before)
    assert world.kube is not None
    searches = _listen(world.kube)
    decisions = run_tick(world)
    for search in searches:
        chosen = _chosen(search, decision)
        if chosen is not None:
            return _Reader(world, search, chosen).answer(decision, decisions)
    raise SchedulerError(
        Unshown.NOT_THIS.said(
            at=world_before.context.now_ms, first=decision.by, last=decision.subject
        )
    )


def _listen(stage: KubeStage) -> list[TracedSearch]:
    searches: list[TracedSearch] = []
    for scheduler in stage.schedulers:
        for framework in scheduler.frameworks.values():
            plugin = framework.plugins.get("DefaultPreemption")
            if isinstance(plugin, DefaultPreemption):
                plugin.trace = searches
    return searches


def _chosen(search: TracedSearch, decision: Preempt) -> Candidate | None:
    """Return the candidate of a search whose victim this is; a pod has one node."""
    if search.pod is None or search.pod.key != decision.by:
        return None
    for candidate in search.tied:
        if any(victim.key == decision.subject for victim in candidate.victims):
            return candidate
    return None


class _Reader:
    """Makes an answer of one search; its times are virtual."""

    def __init__(self, world: World, search: TracedSearch, chosen: Candidate) -> None:
        self.context = world.context
        self.tick = world.tick
        self.search = search
        self.chosen = chosen
        self.best = self._costs(chosen)

    def answer(self, decision: Preempt, decisions: Sequence[Decision]) -> PodPreemption:
        """Return the whole search; its victims with what they lost."""
        search, pod = self.search, self.search.pod
        assert pod is not None
        budgets = search.budgets.items()
        return PodPreemption(
            scheduler="kube-scheduler",
            strategy=decision.strategy,
            preemptor=str(pod.key),
            priority=pod.priority,
            at_ms=decision.at_ms,
            tick=self.tick,
            requests=_amounts(pod),
            node=self.chosen.node,
            rules=list(search.rules()),
            nodes=list(self._nodes())[: dry_run.MOST],
            total_nodes=len(search.cluster.node_infos),
            wanted=search.wanted,
            tied=sorted(candidate.node for candidate in search.tied),
            budgets=[Budget(name=key.path, allowed=n) for key, n in budgets],
            targets=[
                _victim(victim, decisions, decision) for victim in self.chosen.victims
            ],
            reason=decision.reason,
            message=decision.message,
        )

    def _nodes(self) -> Iterator[TriedNode]:
        """Yield the nodes: those tried in their order, then those that cannot help."""
        for name in self.search.names:
            yield self._node(name)
        for name, why in self.search.unhelped.items():
            yield TriedNode(node=name, outcome="notHelpful", why=why)

    def _node(self, name: str) -> TriedNode:
        node = TriedNode(node=name, outcome="notTried")
        tried = self.search.nodes.get(name)
        failed = self.search.run.failed.get(name) if self.search.run else None
        if failed is not None:
            node.outcome = "noCandidates" if tried is None else "doesNotFit"
            node.why = ", ".join(failed.reasons)
        if tried is not None:
            node.pods = list(self._pods(tried))
            if isinstance(tried.result, Candidate):
                self._compare(node, tried.result)
        return node

    def _compare(self, node: TriedNode, found: Candidate) -> None:
        """Say how a candidate stands beside the chosen one."""
        offered = next((c for c in self.search.compared if c.node == node.node), None)
        found = offered or found
        node.victims = [str(victim.key) for victim in found.victims]
        node.violations = found.violations
        if offered is None:
            node.outcome = "refused"
            return
        costs = self._costs(offered)
        node.costs = [Cost(rule=rule, value=value) for rule, value in costs.items()]
        node.outcome = "chosen" if offered is self.chosen else "lost"
        if node.outcome == "lost":
            worse = (rule for rule, value in costs.items() if value > self.best[rule])
            node.lost_by = next(worse, "draw")

    def _costs(self, candidate: Candidate) -> dict[str, int]:
        costs = {name: rule(candidate) for name, rule in self.search.rules().items()}
        # Of starts the latest is best: minus its time, here in virtual milliseconds.
        costs["latestStart"] = -self.context.ms(-costs["latestStart"])
        return costs

    def _pods(self, tried: dry_run.NodeTrial) -> Iterator[TriedPod]:
        for pod in tried.removed:
            yield self._pod(tried, pod, "candidate", "removed")
        for pod, status in tried.put_back:
            verdict = "spared" if status.ok else "needed"
            row = self._pod(tried, pod, "putBack", verdict)
            row.why = ", ".join(status.reasons)
            yield row

    def _pod(
        self, tried: dry_run.NodeTrial, pod: Pod, kind: str, verdict: str
    ) -> TriedPod:
        started = pod.started_us
        protected = any(other.key == pod.key for other in tried.protected)
        return TriedPod(
            pod=str(pod.key),
            kind=kind,
            verdict=verdict,
            priority=pod.priority,
            since_ms=None if started is None else self.context.ms(started),
            held=_amounts(pod),
            budgets=self._budgets(pod) if protected else [],
        )

    def _budgets(self, pod: Pod) -> list[str]:
        budgets = self.search.cluster.budgets.items()
        return [key.path for key, budget in budgets if guards(budget, pod)]


def _amounts(pod: Pod) -> list[Amount]:
    asked = pod.shape.requests.asked
    return [Amount(resource=name, amount=str(n)) for name, n in sorted(asked.items())]


def _victim(pod: Pod, decisions: Sequence[Decision], decision: Preempt) -> Victim:
    lost = next(
        (
            other.work_lost_ms
            for other in decisions
            if isinstance(other, Preempt)
            and other.subject == pod.key
            and other.by == decision.by
        ),
        0,
    )
    return Victim(
        workload=str(pod.key),
        queue="",
        reason=decision.reason,
        priority=pod.priority,
        held=_amounts(pod),
        message=decision.message,
        at_ms=decision.at_ms,
        work_lost_ms=lost,
    )
