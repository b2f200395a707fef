"""The moment of a decision: its tick is run again on a copy, and one object listened to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scheduler.analysis.explain import changes
from scheduler.analysis.explain.asks import explanation_of
from scheduler.analysis.explain.changes import check_of_manager, fork_yunikorn, kueue_of
from scheduler.analysis.explain.film import kube, kueue, yunikorn
from scheduler.analysis.explain.film.reel import Room
from scheduler.analysis.explain.flavor_options import traced_flavors
from scheduler.analysis.explain.pod_preemptions import kube as kube_victims
from scheduler.analysis.explain.pod_preemptions import yunikorn as yunikorn_victims
from scheduler.analysis.explain.pods import rows_of, scorers_of
from scheduler.analysis.explain.searches import Reader, decisive
from scheduler.analysis.explain.shapes import (
    Amount,
    AskExplanation,
    Change,
    Edit,
    PodPreemption,
)
from scheduler.analysis.explain.shapes.film import Film
from scheduler.analysis.explain.topology.searches import topology_searches
from scheduler.analysis.explain.workloads import explain
from scheduler.engine.kube.framework.framework import Framework, PluginCall
from scheduler.engine.kube.framework.status import Code
from scheduler.engine.kube.plugins.coscheduling import Coscheduling
from scheduler.engine.kube.plugins.gang_scheduling import GangScheduling
from scheduler.engine.kube.scheduling.scheduler import Scheduler, table
from scheduler.engine.kueue.trace import Trace
from scheduler.engine.tick import run_tick
from scheduler.engine.world import World, fork
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.model.decisions import Bind, Decision, Fail, PermitWait, Preempt
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key
from scheduler.model.pod import Pod
from scheduler.model.problems import RequestProblem, Wanted, expected
from scheduler.model.problems.files import Unshown

Values = Mapping[str, Any]
#: Of the pods on a node this many are cards.
_MOST_ON_NODE = 6
_CONFIGURATION = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
}
_ADMITTED = ("Admit", "ReserveQuota")


def film_of(
    world_before: World, subject: Key, decision: Decision | None = None
) -> Film:
    """Return the cycle that decides about an object in the tick after `world_before`.

    `subject` is a Workload or a Pod; of several cycles the one of `decision` counts,
    else the last. Raises SchedulerError when no cycle of the tick is about it.
    Costs a copy and the tick; of a preemption of pods twice that.
    """
    check_of_manager(subject)
    if subject.kind == "Workload":
        return _of_workload(world_before, subject, decision)
    if subject.kind != "Pod":
        raise SchedulerError(expected(Wanted.POD, given=subject))
    if world_before.yunikorn is not None:
        return _of_ask(world_before, subject, decision)
    return _of_pod(world_before, subject, decision)


def other_strategy(world: World) -> World:
    """Return a copy that decides by the other strategy, as far as there is one.

    Kueue: fair sharing in place of classical preemption, or the other way round.
    YuniKorn: the documented laws in place of the released ones, or the other way round.
    kube-scheduler: nodes that are full first in place of empty ones, or the other way round.
    """
    other = fork(world)
    changes.apply(other, Change(edits=[_policy(_other(world))]))
    return other


def _policy(spec: dict[str, Any]) -> Edit:
    return Edit(kind=changes.POLICY, namespace="", name="", patch={"spec": spec})


def _other(world: World) -> dict[str, Any]:
    document = world.policy.document()["spec"]
    if world.kueue is not None:
        fair = (document.get("kueue") or {}).get("fairSharing")
        strategies = ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]
        new = None if fair else {"preemptionStrategies": strategies}
        return {"kueue": {"fairSharing": new}}
    if world.yunikorn is not None:
        now = world.yunikorn.partition.laws.name
        return {"yunikorn": {"laws": "documented" if now == "released" else "released"}}
    return {"kubeScheduler": _other_scoring(document.get("kubeScheduler") or {})}


def _other_scoring(given: dict[str, Any]) -> dict[str, Any]:
    profiles = [dict(one) for one in given.get("profiles") or [{}]]
    for profile in profiles:
        known = [dict(one) for one in profile.get("pluginConfig") or ()]
        fit = next(
            (one for one in known if one.get("name") == "NodeResourcesFit"), None
        )
        if fit is None:
            fit = {"name": "NodeResourcesFit"}
            known.append(fit)
        args = dict(fit.get("args") or {})
        scoring = dict(args.get("scoringStrategy") or {})
        most = scoring.get("type") == "MostAllocated"
        scoring["type"] = "LeastAllocated" if most else "MostAllocated"
        scoring.pop("requestedToCapacityRatio", None)
        fit["args"] = {**args, "scoringStrategy": scoring}
        profile["pluginConfig"] = known
    return {**_CONFIGURATION, **given, "profiles": profiles}


# ---- Kueue


def _of_workload(world_before: World, subject: Key, decision: Decision | None) -> Film:
    kueue_of(world_before)
    world = fork(world_before)
    stage = kueue_of(world)
    stage.traced, stage.trace = subject, Trace()
    run_tick(world)
    cycle = _chosen(list(_cycles(stage.trace.steps)), decision)
    if cycle is None:
        raise SchedulerError(
            Unshown.NO_CYCLE.said(at=world_before.context.now_ms, subject=subject)
        )
    entry = cycle[-1]
    searches = Reader(stage).searches(cycle)
    targets = [(key, reason) for key, reason in entry["targets"]]
    index = decisive(searches, targets) if entry["status"] != "admitted" else None
    known = world.objects.get(subject)
    spec = known.spec if known is not None else {}
    return kueue.film(
        kueue.QuotaCycle(
            subject=str(subject),
            queue=entry["queue"],
            at_ms=decision.at_ms if decision is not None else world.context.now_ms,
            tick=world.tick,
            law=stage.settings.preemption,
            priority=int(spec.get("priority") or 0),
            heads=[str(key) for key in cycle[0]["heads"]],
            flavors=traced_flavors(cycle),
            search=None if index is None else searches[index],
            topology=topology_searches(cycle),
            status=entry["status"],
            message=entry["message"],
        )
    )


def _cycles(steps: Sequence[Values]) -> Iterable[list[Values]]:
    """Yield the steps of each cycle that decided about the traced one, that last."""
    cycle: list[Values] = []
    for step in steps:
        if step["step"] == "cycle":
            cycle = []
        cycle.append(step)
        if step["step"] == "decided" and step["traced"]:
            yield list(cycle)


def _chosen(
    cycles: list[list[Values]], decision: Decision | None
) -> list[Values] | None:
    """Return the cycle that decided that; without a decision the last one."""
    for cycle in reversed(cycles):
        entry = cycle[-1]
        kind = type(decision).__name__
        if isinstance(decision, Preempt):
            if str(decision.subject) in [key for key, _ in entry["targets"]]:
                return cycle
        elif kind in _ADMITTED:
            if entry["status"] == "admitted":
                return cycle
        elif kind != "Wait" or entry["status"] != "admitted":
            return cycle
    return None


def film_now(world: World, key: Key) -> Film:
    """Return the cycle in which a Workload or Pod would be tried now, as it waits.

    Raises SchedulerError for what would not be tried, with the reason. Costs a copy.
    """
    check_of_manager(key)
    if key.kind == "Workload":
        return _workload_now(world, key)
    if key.kind != "Pod":
        raise SchedulerError(expected(Wanted.POD, given=key))
    if world.yunikorn is not None:
        partition = fork_yunikorn(world, "asks").partition
        steps = _Steps(world, partition, key)
        if key.path not in partition.asks:
            raise SchedulerError(RequestProblem.UNPLACED.said(key=key))
        steps.step("request", ask=key.path)
        return _of_looks(steps, 0, "", None, world.tick)
    own = fork(world).kube
    assert own is not None
    pod = own.pods.get(key)
    scheduler = own.responsible(pod) if pod is not None else None
    if pod is None or scheduler is None or key in scheduler.cluster.placed:
        raise SchedulerError(RequestProblem.UNPLACED.said(key=key))
    heard = kube_heard(world, scheduler, pod)
    heard.node = heard.best[0] if heard.best else ""
    return kube.film(heard)


def _workload_now(world: World, key: Key) -> Film:
    found = explain(world, key)
    if not found.attempt.ran:
        raise SchedulerError(found.attempt.said or found.attempt.message)
    search = None if found.decisive is None else found.searches[found.decisive]
    queue = next((one.name for one in found.chain if one.kind == "ClusterQueue"), "")
    return kueue.film(
        kueue.QuotaCycle(
            subject=str(key),
            queue=queue,
            at_ms=found.at_ms,
            tick=found.tick,
            law=kueue_of(world).settings.preemption,
            priority=found.priority,
            heads=found.attempt.heads,
            flavors=found.flavors,
            search=None if found.attempt.status == "admitted" else search,
            topology=found.topology,
            status=found.attempt.status,
            message=found.attempt.message,
        )
    )


# ---- kube-scheduler


class _Ears:
    """Hears the cycles of one pod: the table before each, and what Permit said."""

    def __init__(self, world: World, subject: Key) -> None:
        assert world.kube is not None
        self.world = world
        self.subject = subject
        self.cycles: list[kube.PodCycle] = []
        self.open = False
        for scheduler in world.kube.schedulers:
            for framework in scheduler.frameworks.values():
                framework.trace = self._ear(scheduler, framework)

    def _ear(self, scheduler: Scheduler, framework: Framework) -> Any:
        def hear(call: PluginCall) -> None:
            if call.pod.key != self.subject:
                return
            if call.point == "PreFilter":
                if not self.open:
                    self.open = True
                    self.cycles.append(kube_heard(self.world, scheduler, call.pod))
                return
            self.open = False
            if call.point == "Permit" and self.cycles:
                self.cycles[-1].permits.append(_permit(framework, call))
                self.cycles[-1].node = call.node

        return hear


def kube_heard(world: World, scheduler: Scheduler, pod: Pod) -> kube.PodCycle:
    """Return how everything stands before a pod's cycle."""
    found = table(scheduler, pod)
    infos = scheduler.cluster.node_infos
    refused = found.problem
    if not found.pre_filter.ok:
        refused = f"{found.pre_filter.plugin}: {found.pre_filter.message}"
    order = [info.node.name for info in scheduler.cluster.node_table.node_infos]
    rows = {row.node: row for row in rows_of(found)}
    return kube.PodCycle(
        subject=str(pod.key),
        at_ms=world.context.now_ms,
        tick=world.tick + 1,
        law=pod.scheduler_name,
        priority=pod.priority,
        asked=dict(sorted(pod.shape.requests.asked.items())),
        rooms=[
            kube.NodeRoom(
                node=name,
                has=dict(infos[name].node.allocatable),
                holds=dict(infos[name].requested),
                pods=[
                    (str(other.key), other.priority, _amounts(other))
                    for other in list(infos[name].pods.values())[:_MOST_ON_NODE]
                ],
            )
            for name in order
        ],
        nodes=[rows[name] for name in order if name in rows],
        scorers=scorers_of(found),
        refused=refused,
        best=found.best if found.feasible else [],
        nominated=scheduler.nominations.node(pod.key) or "",
    )


def _amounts(pod: Pod) -> list[Amount]:
    asked = pod.shape.requests.asked
    return [Amount(resource=name, amount=str(n)) for name, n in sorted(asked.items())]


def _permit(framework: Framework, call: PluginCall) -> kube.PermitCall:
    """Return what a plug-in said at Permit, with the count of a gang."""
    status = call.status
    verdict = "ok" if status.ok else "refused"
    if status.code is Code.WAIT:
        verdict = "wait"
    found = kube.PermitCall(plugin=call.plugin, verdict=verdict, message=status.message)
    plugin = framework.plugins[call.plugin]
    if isinstance(plugin, Coscheduling | GangScheduling):
        counted = plugin.standing(call.pod)
        if counted is not None:
            found.members, found.minimum = counted
    return found


def _of_pod(world_before: World, subject: Key, decision: Decision | None) -> Film:
    world = fork(world_before)
    ears = _Ears(world, subject)
    decisions = run_tick(world)
    heard = _cycle_of(ears.cycles, decision, decisions, subject)
    if heard is None:
        raise SchedulerError(
            Unshown.NO_CYCLE.said(at=world_before.context.now_ms, subject=subject)
        )
    heard.bound = any(
        isinstance(one, Bind) and one.subject == subject and one.node == heard.node
        for one in decisions
    )
    victim = _victim(decisions, subject) if not heard.node else None
    if victim is not None:
        heard.preemption = _searched(world_before, victim)
    return kube.film(heard)


def _searched(world_before: World, victim: Preempt) -> PodPreemption | None:
    """Return the search behind a victim; None where another plug-in made it."""
    try:
        return kube_victims.explain(world_before, victim)
    except SchedulerError:
        return None


def _victim(decisions: Sequence[Decision], subject: Key) -> Preempt | None:
    return next(
        (d for d in decisions if isinstance(d, Preempt) and d.by == subject), None
    )


def _cycle_of(
    cycles: list[kube.PodCycle],
    decision: Decision | None,
    decisions: Sequence[Decision],
    subject: Key,
) -> kube.PodCycle | None:
    """Return the cycle that a decision is of: which got the node, or found none."""
    for cycle in cycles:
        if not cycle.node:
            # No plug-in is asked at Permit: the node is the one that it was bound to.
            bound = [
                d for d in decisions if isinstance(d, Bind) and d.subject == subject
            ]
            if bound and cycle is cycles[-1]:
                cycle.node = bound[0].node
    for cycle in reversed(cycles):
        if isinstance(decision, Bind | PermitWait):
            if cycle.node == decision.node:
                return cycle
        elif isinstance(decision, Preempt):
            if not cycle.node:
                return cycle
        else:
            return cycle
    return None


# ---- YuniKorn


class _Steps:
    """Hears the cycles of one ask: how everything stood before each."""

    def __init__(self, world: World, partition: Partition, subject: Key) -> None:
        self.world = world
        self.partition = partition
        self.subject = subject
        self.looks: list[tuple[AskExplanation, dict[str, Room], int]] = []
        self.nodes: dict[int, str] = {}
        self.reading = False

    def step(self, name: str, **numbers: Any) -> None:
        """Take one step of a cycle."""
        if self.reading or numbers.get("ask") != self.subject.path:
            return
        if name == "request":
            self.reading = True
            ask = self.partition.asks[self.subject.path]
            now = self.world.context.now_ms
            found = explanation_of(self.partition, ask, now)
            self.looks.append((found, self._rooms(), now))
            self.reading = False
        elif name == "node" and numbers["node"]:
            self.nodes[len(self.looks) - 1] = numbers["node"]

    def _rooms(self) -> dict[str, Room]:
        return {
            node.name: Room(
                has=dict(node.capacity),
                holds={
                    name: total - node.available.get(name, 0)
                    for name, total in node.capacity.items()
                },
            )
            for node in self.partition.nodes
        }


def _of_ask(world_before: World, subject: Key, decision: Decision | None) -> Film:
    world = fork(world_before)
    stage = world.yunikorn
    assert stage is not None
    stage.due()  # finishes restoring
    steps = _Steps(world, stage.partition, subject)
    stage.partition.trace = steps
    decisions = run_tick(world)
    if not steps.looks:
        raise SchedulerError(
            Unshown.NO_CYCLE.said(at=world_before.context.now_ms, subject=subject)
        )
    placed = max(steps.nodes, default=None)
    victim = decision if isinstance(decision, Preempt) else _victim(decisions, subject)
    wants_node = not isinstance(decision, Preempt) and placed is not None
    index = placed if wants_node and placed is not None else len(steps.looks) - 1
    if isinstance(decision, Preempt):
        index = max(
            (i for i, look in enumerate(steps.looks) if look[2] == decision.at_ms),
            default=index,
        )
    preemption = None
    if not wants_node and victim is not None:
        preemption = yunikorn_victims.explain(world_before, victim)
    node = steps.nodes.get(index, "")
    message = decision.message if isinstance(decision, Fail) else ""
    return _of_looks(steps, index, node, preemption, world.tick, message)


def _of_looks(
    steps: _Steps,
    index: int,
    node: str,
    preemption: PodPreemption | None,
    tick: int,
    message: str = "",
) -> Film:
    ask, rooms, at_ms = steps.looks[index]
    known = steps.partition.asks.get(steps.subject.path)
    return yunikorn.film(
        yunikorn.AskCycle(
            subject=str(steps.subject),
            at_ms=at_ms,
            tick=tick,
            law=steps.partition.laws.name,
            priority=known.priority if known is not None else 0,
            ask=ask,
            rooms=rooms,
            node=node,
            preemption=preemption,
            message=message
            or next((one.detail for one in ask.checks if not one.holds), ""),
        )
    )
