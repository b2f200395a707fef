"""What the lifetime of a world keeps: runs, timers, who owns which pod, and where."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from scheduler.engine.latencies import StepTimes
from scheduler.engine.lifetime.admission import owner_key
from scheduler.engine.lifetime.runs import Due, Run, Timers
from scheduler.engine.stage import Context, Stage
from scheduler.model import durations, registry
from scheduler.model.annotations import Timing, read_timing
from scheduler.model.decisions import Checkpoint, Decision, PodSetAdmission
from scheduler.model.durations import NEVER, Span, read_span
from scheduler.model.event_words import Befallen
from scheduler.model.objects import Key, Object
from scheduler.model.policy import Policy, Simulation
from scheduler.model.sentence import Sentence

if TYPE_CHECKING:
    from scheduler.engine.kueue.stage import KueueStage


# ------------------------------------------------------------------------
# What the lifetime of a world keeps: runs, timers, who owns which pod, and where.


WORKLOAD = "Workload"
POD = "Pod"
NODE = "Node"
#: Every kind that enrolled as a job, but Pods, which are theirs.
JOB_KINDS = tuple(
    entry.name for entry in registry.entries("job-kind") if entry.name != POD
)
_JOB_KINDS = frozenset(JOB_KINDS)
_POD = frozenset({POD})
_JOB = frozenset({"Job"})


class LifetimeHost(Protocol):
    """What lifetime needs of the world that it lives in."""

    objects: dict[Key, Object]
    deleting: set[Key]  # still among the objects; their stages are told now
    policy: Policy

    @property
    def kueue(self) -> KueueStage | None:
        """Return the Kueue stage, when the stack has one."""

    @property
    def grows(self) -> bool:
        """Return whether nodes may come by themselves."""

    def runs_elsewhere(self, key: Key) -> bool:
        """Return whether another cluster runs this Workload."""

    def placers(self) -> list[Stage]:
        """Return the stages that place pods."""

    def put(self, obj: Object) -> Object:
        """Take a new object."""

    def delete(self, key: Key) -> None:
        """Remove an object."""

    def get(self, key: Key) -> Object:
        """Return an object with fresh status."""

    def introduce(self, obj: Object) -> None:
        """Show an object to every stage."""


class JobControllers(Protocol):
    """What a run asks of the controllers of its owner."""

    def admitted(self, workload: Object, admissions: Iterable[PodSetAdmission]) -> None:
        """Start what a Workload is of, now or once its pods may come."""

    def replaced(self, workload: Object) -> None:
        """Put pods on the nodes that a running Workload was given anew."""

    def forget(self, key: Key) -> None:
        """Forget a deleted object."""

    def ended(self, owner: Object, run: Run) -> None:
        """Report that an owner's work is done."""

    def is_given(self, pod: Object) -> bool:
        """Return whether a person gave this pod, rather than a run made it."""

    def recreate(self, pod: Object) -> None:
        """Put a replica in the place of a lost one."""

    def replace_pods(self, owner: Object, run: Run) -> None:
        """Make up for the pods that a running owner lost."""

    def serves(self, owner: Object) -> bool:
        """Return whether the owner never ends by itself."""

    def waves(self, owner: Object) -> int:
        """Return how many times the pods of this owner run one after another."""

    def completions_of(self, owner: Object) -> int:
        """Return how many pods of a Job have to succeed."""

    def pods_of_round(self, owner: Object, *, alone: bool = False) -> int | None:
        """Return how many pods of a Job run for themselves; None where they do not."""

    def deadline_of(self, owner: Object) -> int | None:
        """Return how long (s) its Job may be active; None for as long as it takes."""

    def resized(self, owner: Object, *, started: bool) -> None:
        """Write into a job how many pods it was started with, or asked for."""

    def ungate_waiting(
        self, workload: Object, pods: list[Object], pod_sets: list[dict[str, Any]]
    ) -> None:
        """Let pods that waited for their quota be placed."""

    def wait_gated(self, workload: Object) -> None:
        """Make the pods of a set that waits."""

    def pods_served(self, controller: Object) -> list[Key]:
        """Return the pods that a ReplicaSet made, or those of a Deployment's."""

    def served_by(self, pod: Key) -> list[Key]:
        """Return the ReplicaSet that made a pod, and its Deployment."""

    def pod_moved(self, controllers: list[Key]) -> None:
        """Let a Deployment among these go on with its rolling update."""

    def member_ended(self, run: Run, pod: Object, *, unready: bool) -> None:
        """Let a Workload say that one of its pods has ended, or that all have."""

    def put_admitted(self, pod: Object) -> bool:
        """Put a pod that a controller makes; False when it is refused."""

    def refused_for(self, owner: Object, pod: Object) -> int | None:
        """Return in how many ms a pod is tried again that is refused; None for others."""

    def pod_changed(self, pod: Key) -> None:
        """Count anew what pods use of quotas: one came, went or ended."""

    def sync_again(self, controller: Key, at_ms: int) -> None:
        """Let a controller look at what it lacks at this instant."""

    def is_nobodys(self, workload: Object) -> bool:
        """Return whether no job is there that would make the pods of a Workload."""

    def sized(self, workload: Object, count: int) -> int:
        """Return how many pods are made of the count that was admitted."""

    def has_its_pods(self, owner: Object) -> None:
        """Note that an owner has all the pods that it wants; one that stops wants none."""


class RuntimeState:
    """The state, and the small moves that every part of the lifetime makes.

    The parts build on one another: starting, ending, losing, and the stage that
    has them all.
    """

    jobs: JobControllers

    def __init__(self, context: Context, policy: Policy, host: LifetimeHost) -> None:
        self.context = context
        self.host = host
        simulation = policy.spec.simulation
        self.default_runtime_ms = durations.span_ms(simulation.default_runtime)
        self.pod_start_ms = simulation.pod_start_ms
        self.places_pods = simulation.nodes_schedule
        self.steps = StepTimes(context, policy)
        self.checkpoints = Checkpoints(context, simulation)
        self.runs: dict[Key, Run] = {}
        self.timers = Timers()
        self.future: dict[Key, int] = {}  # not arrived yet -> when
        self.fresh: dict[Key, None] = {}  # put, not taken up yet
        self.arrived: set[Key] = set()
        self.owners: dict[Key, Key] = {}  # pod -> owner of its run
        self.placed: dict[Key, str] = {}  # pod -> node
        self.leaving: dict[Key, tuple[int, int]] = {}  # pod -> since, at
        self.terminating: dict[Key, int] = {}  # deleted pod -> ends at
        #: Pods that controllers made; kept by these.
        self.made_by_controllers: Mapping[Key, Any] = {}
        self.expiring: dict[Key, int] = {}  # Job that has ended -> deleted at
        #: Job -> pods that it lost, those in a row, and until when it makes no others.
        self.failed: dict[Key, tuple[int, int, int]] = {}
        #: Pods made with their node, by node, until their kubelets have looked at them.
        self.bound: dict[str, dict[Key, None]] = {}
        self.orphaned: dict[Key, int] = {}  # pod whose node was deleted -> collected at
        #: StatefulSets whose template changed, and pods of theirs that have another.
        self.older: dict[Key, None] = {}
        self.nodes: set[Key] = set()
        #: Workload -> instant -> pods that it does not need from then on.
        self.reclaims: dict[Key, dict[int, int]] = {}
        #: YuniKorn's queues that a Change of this instant gives.
        self.queues: dict[str, Any] | None = None
        self.used: dict[str, int] = {}  # key text -> times the name was freed

    def timing(self, obj: Object) -> Timing:
        """Return the run time settings of the object's annotations."""
        return read_timing(obj.annotations)

    def run_of(self, owner: Key) -> Run:
        """Return the owner's run, a new one if it has none."""
        run = self.runs.get(owner)
        if run is None:
            lost, _, _ = self.failed.get(self.job_key(owner), (0, 0, 0))
            run = self.runs[owner] = Run(owner=owner, lost_pods=lost)
        return run

    def job_key(self, owner: Key) -> Key:
        """Return the Job that the owner of a run is of, else the owner."""
        if owner.kind != WORKLOAD or owner not in self.host.objects:
            return owner
        return owner_key(self.host.objects[owner], _JOB) or owner

    def attach(self, run: Run, pod: Key) -> None:
        """Make a pod part of a run."""
        if pod not in run.pods:
            run.pods.append(pod)
        self.owners[pod] = run.owner
        self._touch(pod)
        self._touch(run.owner)

    def by_members(self, run: Run) -> bool:
        """Return whether a run is that of plain pods, each of which ends by itself."""
        if run.members is None:
            owner = self.host.objects.get(run.owner)
            run.members = (
                owner is not None
                and run.owner.kind == WORKLOAD
                and self.host.kueue is not None
                and owner_key(owner, _POD) is not None
            )
        return run.members and (bool(run.pods) or self.placement())

    def is_ready(self, pod: Key) -> bool:
        """Return whether a pod is ready, as far as its run knows."""
        run = self.runs.get(self.owners.get(pod, pod))
        return run is not None and pod in run.ready

    def placement(self) -> bool:
        """Return whether pods are made and placed on nodes."""
        if self.host.kueue is None:
            return True
        return self.places_pods and (bool(self.nodes) or self.host.grows)

    def expire_at(self, job: Key, at_ms: int) -> None:
        """Let a Job that has ended be deleted at this instant."""
        self.expiring[job] = at_ms
        self.timers.add(at_ms, Due.EXPIRE, job)
        self._touch(job)

    def reclaim_later(self, workload: Key, due: dict[int, int]) -> None:
        """Let a Workload need so many pods less at each of these instants."""
        self.reclaims[workload] = due
        for at in due:
            self.timers.add(at, Due.RECLAIM, workload)
        self._touch(workload)

    def uses(self, key: Key) -> int:
        """Return how often this name was used and freed before."""
        return self.used.get(str(key), 0)

    def next_ordinal(self, key: Key) -> int:
        """Return a number that no replica of this name had before, from 1."""
        text = f"replica {key}"
        self.used[text] = self.used.get(text, 0) + 1
        return self.used[text]

    def give_back_ordinal(self, key: Key) -> None:
        """Let the number that a replica of this name took last be the next again."""
        self.used[f"replica {key}"] -= 1

    def look_at(self, *keys: Key) -> None:
        """Let these objects be taken up at this instant; a stored world does so, too."""
        for key in keys:
            self.fresh[key] = None
            self._touch(key)

    def _touch(self, key: Key) -> None:
        """Note a change; a job's status shows its Workload's run."""
        self.context.journal.touch(key)
        if key in self.made_by_controllers:
            controllers = self.jobs.served_by(key)
            for controller in controllers:
                self.context.journal.touch(controller)
            self.jobs.pod_moved(controllers)
        obj = self.host.objects.get(key) if key.kind == WORKLOAD else None
        job = owner_key(obj, _JOB_KINDS) if obj is not None else None
        if job in self.host.objects:
            self.context.journal.touch(job)

    def free_node(self, pod: Key) -> str:
        """Forget where a pod is; return the name of the node, "" where it had none."""
        node = self.placed.pop(pod, "")
        if node and self.host.kueue is not None:
            self.host.kueue.note_pods_left(node)
        return node

    def runs_on(self, owner: Key, node: str) -> bool:
        """Return whether a run has pods on a node that have not ended."""
        run = self.runs.get(owner)
        return run is not None and any(self.placed.get(p) == node for p in run.pods)

    def _emit(self, decision: Decision) -> None:
        self.context.journal.emit(decision)


# ------------------------------------------------------------------------
# What a stop costs: work since the last checkpoint, and the time to restart.


class Checkpoints:
    """The defaults of the policy, and the arithmetic."""

    def __init__(self, context: Context, simulation: Simulation) -> None:
        self.context = context
        self.every = _span(simulation.checkpoint_every)
        self.restart = _span(simulation.restart_takes)

    def restart_ms(self, run: Run, timing: Timing, pod: Key | None = None) -> int:
        """Return how long work takes to begin again; 0 where none was lost before.

        That is of the whole run, or of a `pod` that runs for itself and goes on.
        """
        span = timing.restart_takes or self.restart
        begun = pod or run.attempt > 1 or run.kept_ms or run.lost_ms
        if span is None or not begun:
            return 0
        subject = str(pod or run.owner)
        return span.draw(self.context.seed, "restart", subject, run.attempt)

    def stop(
        self,
        run: Run,
        timing: Timing,
        cost: tuple[int, int],
        emit: Callable[[Decision], None],
        *,
        by: Key | None = None,
    ) -> None:
        """Count what a stop keeps and throws away (ms).

        What is kept is reported; `by` is the pod that was lost. Where a
        Workload keeps its quota meanwhile, what is lost is reported as well.
        """
        now = self.context.now_ms
        kept, lost = cost
        run.lost_ms += lost
        run.kept_ms += kept
        run.counted_ms = now if by is not None else None
        begins_again = by is not None and run.owner.kind == "Workload"
        if kept or (begins_again and lost):
            said = _sentence(kept, lost)
            if kept and (timing.checkpoint_every or self.every) is None:
                said = Befallen.SUCCEEDED.said(long=kept / 1000)
            emit(
                Checkpoint(
                    at_ms=now,
                    subject=run.owner,
                    by=by,
                    reason="Kept" if kept else "Lost",
                    message=said.text,
                    said=said,
                    kept_ms=kept,
                    lost_ms=lost,
                )
            )

    def stop_pod(
        self,
        run: Run,
        pods: int,
        kept_ms: int,
        lost_ms: int,
        pod: Key,
        emit: Callable[[Decision], None],
    ) -> None:
        """Count what one of so many `pods` that run for themselves keeps and loses.

        Of a Workload that is its share of the work, since the others go on; a stop
        counts no share again.
        """
        if not (kept_ms or lost_ms):
            return
        said = _sentence(kept_ms, lost_ms)
        since = run.started_ms if run.counted_ms is None else run.counted_ms
        run.counted_ms = (since or 0) + lost_ms // pods
        pods = pods if run.owner.kind == WORKLOAD else 1
        run.lost_ms += lost_ms // pods
        if not kept_ms and run.owner.kind != WORKLOAD:
            return
        emit(
            Checkpoint(
                at_ms=self.context.now_ms,
                subject=run.owner,
                by=pod,
                reason="PodKept" if kept_ms else "PodLost",
                message=said.text,
                said=said,
                kept_ms=kept_ms // pods,
                lost_ms=lost_ms // pods,
            )
        )

    def cost(self, run: Run, timing: Timing, since_ms: int) -> tuple[int, int]:
        """Return what checkpoints keep of the time since `since_ms`, and what is lost."""
        kept = max(self._saved(run, timing), self._completed(run)) - run.kept_ms
        lost = self.context.now_ms - max(since_ms, run.counted_ms or 0) - kept
        return kept, lost

    def _completed(self, run: Run) -> int:
        """Return the work of the pods that have completed: a Job counts them for good.

        Source: docs/semantics/kueue-lifecycle.md#status-of-a-job.
        """
        if run.rounds is None:
            return run.kept_ms
        return max(run.kept_ms, run.rounds.ended * run.rounds.each_ms)

    def _saved(self, run: Run, timing: Timing) -> int:
        """Return the work up to the last checkpoint, over all attempts."""
        if run.ready_ms is None:
            return run.kept_ms
        worked = self.context.now_ms - run.ready_ms - self.restart_ms(run, timing)
        return self.saved(run, timing, run.kept_ms, worked)

    def saved(self, run: Run, timing: Timing, before: int, worked: int) -> int:
        """Return the work up to the last checkpoint, `worked` ms after what was before."""
        span = timing.checkpoint_every or self.every
        if span is None or worked <= 0:
            return before
        every = span.draw(self.context.seed, "checkpoint", str(run.owner))
        if every >= NEVER:
            return before
        total = before + worked
        return max(before, total - total % every if every else total)


def _sentence(kept: int, lost: int) -> Sentence:
    if kept:
        return Befallen.KEPT.said(long=kept / 1000)
    return Befallen.LOST.said(long=lost / 1000)


def _span(text: str | msgspec.UnsetType) -> Span | None:
    return None if isinstance(text, msgspec.UnsetType) else read_span(text)
