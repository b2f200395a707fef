"""A recording run again from t=0: its queues, nodes, arrivals and run times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler import registry
from scheduler.decisions import Admit, Decision, Evict, Preempt
from scheduler.errors import SchedulerError
from scheduler.manifests.load import Loaded
from scheduler.recordings.latencies import RecordedTimes
from scheduler.recordings.recording import Arrival, Recording
from scheduler.records.annotations import ARRIVAL, PREFIX, READY_AFTER
from scheduler.records.objects import Key, Object
from scheduler.scenarios import prepare
from scheduler.simulation import simulate
from scheduler.world import World

#: What the player of a recording's nodes does not let get ready.
_READY = "example.com/ready"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    """A run beside the recording. Times are seconds since t=0."""

    admissions: int
    in_order: int
    evictions: int
    recorded_evictions: int
    errors: list[float]  # of first admissions, ascending

    def quantile(self, share: float) -> float:
        """Return the error that this share of the first admissions keeps below."""
        if not self.errors:
            return 0.0
        return self.errors[min(len(self.errors) - 1, int(len(self.errors) * share))]

    def __str__(self) -> str:
        return (
            f"{self.admissions} admissions, {self.in_order} in the recorded order, "
            f"{self.evictions} evictions ({self.recorded_evictions} recorded), "
            f"first-admission error median {self.quantile(0.5):.1f} s, "
            f"p90 {self.quantile(0.9):.1f} s"
        )


def rerun(
    recording: Recording,
    simulation: Mapping[str, Any],
    *,
    measured: bool = False,
    seed: int = 1,
) -> Rerun:
    """Run a recording's input under these settings of `simulation`.

    With `measured`, steps take as long as they took in the recording. Raises as
    assembling a world does. Cost: that of the run.
    """
    world, jobs = build(recording, simulation, seed)
    if measured:
        use_times(world, recording, jobs)
    outcome = simulate(world, until_ms=recording.end_ms)
    return compare(recording, outcome.decisions, jobs)


def use_times(world: World, recording: Recording, jobs: Mapping[Key, str]) -> None:
    """Let the steps of this world take what they took in the recording."""
    waiting = world.kueue.settings.waiting if world.kueue is not None else None
    times = RecordedTimes(
        world.context,
        world.policy,
        recording,
        world.lifetime,
        {
            str(key): (key.namespace, name.split("/", 1)[1])
            for key, name in jobs.items()
        },
        blocking=waiting is not None and waiting.block,
    )
    world.lifetime.steps = times
    if world.kueue is not None:
        world.kueue.pace.steps = times


def build(
    recording: Recording, simulation: Mapping[str, Any], seed: int
) -> tuple[World, dict[Key, str]]:
    """Return the world at t=0, and the name of each of its Workloads' Jobs."""
    policy = {
        "stack": "kueue",
        "simulation": {"startTime": recording.start, **simulation},
    }
    arrivals = {(row.namespace, row.name): row for row in recording.arrivals}

    def change(loaded: Loaded) -> None:
        loaded.objects = [
            obj
            for obj in loaded.objects
            if obj.key.kind != "Job" or (obj.key.namespace, obj.key.name) in arrivals
        ]
        for obj in loaded.objects:
            if obj.key.kind == "Job":
                _arrive(obj, arrivals[obj.key.namespace, obj.key.name])

    made = prepare(recording.sources).assemble(seed=seed, policy=policy, change=change)
    for pod in recording.standing:
        metadata = pod["metadata"]
        key = Key("Pod", metadata.get("namespace", ""), metadata["name"])
        made.world.put(Object(key=key, manifest=pod, status=pod.pop("status", {})))
    return made.world, _put_workloads(made.world, arrivals)


def _arrive(job: Object, row: Arrival) -> None:
    """Give a Job its time, and its readiness in the words of our annotations."""
    annotations = job.metadata.setdefault("annotations", {})
    annotations[ARRIVAL] = f"{round(row.seen_at * 1000)}ms"
    ready = annotations.get(_READY, "")
    if ready == "never":
        annotations[READY_AFTER] = "never"
    elif ready.startswith("attempt-"):
        first = ["never"] * (int(ready.removeprefix("attempt-")) - 1)
        annotations[READY_AFTER] = f"attempts({','.join([*first, '0s'])})"


def _put_workloads(
    world: World, arrivals: Mapping[tuple[str, str], Arrival]
) -> dict[Key, str]:
    """Put each Job's Workload with the identity it had: UIDs break ties."""
    around = world.lifetime.jobs.surroundings()
    kind = registry.lookup("job-kind", "Job")
    found = {}
    for key in world.keys("Job"):
        job, row = world.objects[key], arrivals[key.namespace, key.name]
        [manifest] = kind.workloads(job.manifest, around)
        metadata = manifest["metadata"]
        metadata["uid"] = row.uid
        metadata["creationTimestamp"] = row.creation_timestamp
        metadata["annotations"] = {
            name: value
            for name, value in job.annotations.items()
            if name.startswith(PREFIX)
        }
        workload = Key("Workload", key.namespace, metadata["name"])
        world.put(Object(key=workload, manifest=manifest))
        found[workload] = f"{key.namespace}/{key.name}"
    return found


def compare(
    recording: Recording, decisions: Sequence[Decision], jobs: Mapping[Key, str]
) -> Rerun:
    """Hold what was decided against what was recorded."""
    ours = [
        (decision.at_ms / 1000, jobs[decision.subject])
        for decision in decisions
        if isinstance(decision, Admit) and decision.subject in jobs
    ]
    theirs = sorted(
        (admission.at, f"{row.namespace}/{row.name}")
        for row in recording.arrivals
        for admission in row.admissions
    )
    first, recorded = _first(ours), _first(theirs)
    return Rerun(
        admissions=len(ours),
        in_order=_common([name for _, name in ours], [name for _, name in theirs]),
        evictions=sum(
            isinstance(decision, Preempt | Evict) and decision.subject in jobs
            for decision in decisions
        ),
        recorded_evictions=sum(len(row.evictions) for row in recording.arrivals),
        errors=sorted(
            abs(first[name] - at) for name, at in recorded.items() if name in first
        ),
    )


def _first(admissions: Sequence[tuple[float, str]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for at, name in admissions:
        found.setdefault(name, at)
    return found


def _common(ours: Sequence[str], theirs: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    row = [0] * (len(theirs) + 1)
    for mine in ours:
        diagonal = 0
        for i, other in enumerate(theirs, start=1):
            above = row[i]
            row[i] = diagonal + 1 if mine == other else max(above, row[i - 1])
            diagonal = above
    return row[-1]


__all__ = ["Rerun", "SchedulerError", "build", "compare", "rerun"]
