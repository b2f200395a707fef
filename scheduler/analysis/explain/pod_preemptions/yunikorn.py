"""A preemption of YuniKorn: its tick again, the laws asked once more with a trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler.analysis.explain.asks import amounts_of, headrooms
from scheduler.analysis.explain.shapes import (
    CandidateQueue,
    Cost,
    PodPreemption,
    TriedNode,
    TriedPod,
    Victim,
)
from scheduler.engine.tick import run_tick
from scheduler.engine.world import World, fork
from scheduler.engine.yunikorn.explain import verdict
from scheduler.engine.yunikorn.objects.model import Ask, Queue
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.objects.preemption_laws import PreemptionPlan
from scheduler.engine.yunikorn.preemption import attempts, guaranteed_documented
from scheduler.engine.yunikorn.preemption.attempts import scope_of
from scheduler.model.decisions import Preempt
from scheduler.model.errors import SchedulerError
from scheduler.model.problems.files import Unshown

#: Of the nodes at most this many are returned, in the order of the partition.
MOST = 200

Values = Mapping[str, Any]


def explain(world_before: World, decision: Preempt) -> PodPreemption:
    """Return the checks that preceded the choice of a victim, node by node.

    Raises SchedulerError when the tick does not decide that. Costs a copy, the
    tick, and the choice once more.
    """
    world = fork(world_before)
    stage = world.yunikorn
    assert stage is not None
    assert decision.by is not None
    stage.due()  # finishes restoring
    steps = _Steps(stage.partition, decision)
    stage.partition.trace = steps
    decisions = run_tick(world)
    if steps.found is None:
        raise SchedulerError(
            Unshown.NOT_THIS.said(
                at=world_before.context.now_ms, first=decision.by, last=decision.subject
            )
        )
    lost = {
        str(other.subject): other.work_lost_ms
        for other in decisions
        if isinstance(other, Preempt) and other.by == decision.by
    }
    for victim in steps.found.targets:
        victim.work_lost_ms = lost.get(victim.workload, 0)
    steps.found.tick = world.tick
    return steps.found


class _Steps:
    """Waits for the choice, and reads the partition before it is carried out."""

    def __init__(self, partition: Partition, decision: Preempt) -> None:
        self.partition = partition
        self.decision = decision
        self.found: PodPreemption | None = None

    def step(self, name: str, **numbers: Any) -> None:
        """Take one step of a cycle; only the traced preemption matters."""
        assert self.decision.by is not None
        if numbers.get("ask") != self.decision.by.path or "victims" not in numbers:
            return
        if self.decision.subject.path not in numbers["victims"]:
            return
        reader = _Reader(self.partition, numbers)
        if name == "preemption":
            reader.read_laws()
        else:
            reader.read_required()
        self.found = reader.answer(self.decision)


class _Notes:
    """The steps of a choice, node by node."""

    def __init__(self) -> None:
        self.nodes: dict[str, dict[str, Any]] = {}
        self.additional: list[str] = []

    def step(self, name: str, **numbers: Any) -> None:
        """Take one step; a node that is tried again begins anew."""
        row = self.nodes.setdefault(numbers["node"], {"pods": [], "plan": None})
        match name:
            case "tried":
                row.update(pods=[], missing=numbers["missing"])
            case "candidate":
                row["pods"].append((numbers["pod"], numbers["verdict"]))
            case "plan":
                row["plan"] = numbers["victims"]
            case "compared":
                row.update(numbers)
            case _:
                self.additional = numbers["victims"]


class _Reader:
    """Reads one choice of victims in the partition as it stands."""

    def __init__(self, partition: Partition, numbers: Values) -> None:
        self.partition = partition
        self.ask = partition.asks[numbers["ask"]]
        self.node = str(numbers["node"])
        self.victims = list(numbers["victims"])
        self.nodes_tried = bool(numbers.get("nodesTried"))
        self.rules: list[str] = []
        self.nodes: list[TriedNode] = []
        self.sources: list[CandidateQueue] = []

    def read_laws(self) -> None:
        """Ask the laws once more, with a trace: choosing changes nothing."""
        notes = _Notes()
        plan = self.partition.laws.choose(
            self.partition, self.ask, nodes_tried=self.nodes_tried, trace=notes
        )
        assert isinstance(plan, PreemptionPlan)
        best = notes.nodes.get(self.node, {}).get("cost") or {}
        self.rules = list(best)
        for node in self.partition.nodes:
            row = notes.nodes.get(node.name)
            if row is None:
                why = verdict(node, self.ask)
                self.nodes.append(
                    TriedNode(node=node.name, outcome=_idle(why), why=why)
                )
            else:
                self.nodes.append(self._node(node.name, row, best))
        self._add_additional(notes.additional)
        self.sources = list(self._sources(notes))

    def _node(self, name: str, row: Values, best: Mapping[str, int]) -> TriedNode:
        planned = set(row["plan"] or ())
        node = TriedNode(node=name, outcome="doesNotFit")
        node.missing = amounts_of(row.get("missing") or {})
        node.pods = [
            self._pod(key, self._verdict(found, planned, key))
            for key, found in row["pods"]
        ]
        node.victims = [f"Pod/{key}" for key in row["plan"] or ()]
        cost = row.get("cost")
        if name == self.node:
            node.outcome, node.victims = "chosen", self._chosen_victims()
        elif row.get("refused"):
            node.outcome, node.why = "refused", row["refused"]
        elif cost is not None:
            node.outcome = "lost"
            worse = (rule for rule, value in cost.items() if value > best[rule])
            node.lost_by = next(worse, "order")
        elif row["plan"]:
            node.outcome = "notTried"
        node.costs = [Cost(rule=rule, value=n) for rule, n in (cost or {}).items()]
        return node

    def _chosen_victims(self) -> list[str]:
        return [f"Pod/{key}" for key in self.victims]

    def _verdict(self, found: str, planned: set[str], key: str) -> str:
        if found != "considered":
            return found
        return "taken" if key in planned else "spared"

    def _add_additional(self, keys: list[str]) -> None:
        """Add pods beyond the node's plan, and spare those that were trimmed off."""
        chosen = next(node for node in self.nodes if node.node == self.node)
        known = {pod.pod for pod in chosen.pods}
        chosen.pods += [
            self._pod(key, "taken")
            for key in keys
            if f"Pod/{key}" not in known and self._counts(key)
        ]
        for pod in chosen.pods:
            if pod.verdict in ("taken", "spared"):
                key = pod.pod.removeprefix("Pod/")
                pod.verdict = "taken" if key in self.victims else "spared"

    def _counts(self, key: str) -> bool:
        node = self.partition.asks[key].node
        return key in self.victims or (node is not None and node.name == self.node)

    def read_required(self) -> None:
        """Read a preemption on the one node that a pod must run on."""
        node = self.partition.nodes.by_name[self.node]
        daemons = self.partition.laws.name == "documented"
        pods = attempts.victims_of_node(node, self.ask, daemons=daemons)
        tried = TriedNode(node=self.node, outcome="chosen")
        tried.victims = self._chosen_victims()
        tried.pods = [
            self._pod(p.key, "taken" if p.key in self.victims else "spared")
            for p in pods
        ]
        self.nodes = [tried]

    def _pod(self, key: str, found: str) -> TriedPod:
        pod = self.partition.asks[key]
        return TriedPod(
            pod=f"Pod/{key}",
            kind="candidate",
            verdict=found,
            queue=pod.app.queue.path,
            priority=pod.priority,
            since_ms=pod.create_ms,
            held=amounts_of(pod.resource),
            opted_out=not pod.allow_self,
            originator=pod.originator,
        )

    def _sources(self, notes: _Notes) -> Iterator[CandidateQueue]:
        tried = {key for row in notes.nodes.values() for key, _ in row["pods"]}
        scope, counts = self._scope(), dict[str, int]()
        for key in tried:
            path = self.partition.asks[key].app.queue.path
            counts[path] = counts.get(path, 0) + 1
        for leaf in self.partition.root.leaves():
            if not leaf.allocated and leaf is not self.ask.app.queue:
                continue
            number = counts.get(leaf.path, 0)
            why = "" if number else self._why_none(leaf, scope)
            yield CandidateQueue(queue=leaf.path, candidates=number, why=why)

    def _scope(self) -> Queue:
        if self.partition.laws.name == "documented":
            return guaranteed_documented.scope_of(self.ask)
        by_next = self.partition.rules.fenced_by_next
        return scope_of(self.ask, fenced_by_next=by_next)[0]

    def _why_none(self, leaf: Queue, scope: Queue) -> str:
        if leaf is self.ask.app.queue:
            return "own"
        if scope not in leaf.route:
            return "outOfScope"
        disabled = guaranteed_documented.policy_of(leaf) == "disabled"
        return "disabled" if disabled else "none"

    def answer(self, decision: Preempt) -> PodPreemption:
        """Return what was read; the tick and the lost work are still to be set."""
        ask = self.ask
        return PodPreemption(
            scheduler="YuniKorn",
            strategy=decision.strategy,
            laws=self.partition.laws.name,
            preemptor=str(decision.by),
            queue=ask.app.queue.path,
            priority=ask.priority,
            at_ms=decision.at_ms,
            tick=0,
            requests=amounts_of(ask.resource),
            node=self.node,
            rules=self.rules,
            nodes=self.nodes[:MOST],
            total_nodes=len(self.partition.nodes.by_name),
            path=[
                row for queue in ask.app.queue.route for row in headrooms(queue, ask)
            ],
            sources=self.sources,
            targets=[
                _victim(self.partition.asks[key], decision) for key in self.victims
            ],
            reason=decision.reason,
            message=decision.message,
        )


def _idle(why: str) -> str:
    """Return what became of a node that was not tried."""
    return "noCandidates" if why == "" or why.startswith("short of") else "notHelpful"


def _victim(pod: Ask, decision: Preempt) -> Victim:
    return Victim(
        workload=f"Pod/{pod.key}",
        queue=pod.app.queue.path,
        reason=decision.reason,
        priority=pod.priority,
        held=amounts_of(pod.resource),
        message=decision.message,
        at_ms=decision.at_ms,
    )
