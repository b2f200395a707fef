"""The world of a recording: at t=0, or going on from one of its snapshots."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping
from typing import Any

from scheduler.assembly import prepare
from scheduler.engine.world import World
from scheduler.input.manifests.documents import read_documents
from scheduler.input.manifests.dumps.run_times import time_of
from scheduler.input.manifests.loading.loaded import Loaded
from scheduler.model import durations, registry
from scheduler.model.amounts import is_whole
from scheduler.model.annotations import ARRIVAL, PREFIX, READY_AFTER
from scheduler.model.objects import Key, Object
from scheduler.model.reasons import condition
from scheduler.recorded.followed import CONFIGURATION
from tests.recorded.recording import Arrival, Recording
from tests.recorded.steps import PodTimes, Stopwatch, job_of, measure

# ------------------------------------------------------------------------
# The world of a recording: at t=0, or going on from one of its snapshots.


Source = tuple[str, str]  # name, text

#: What the player of a recording's nodes does not let get ready.
_READY = "example.com/ready"


def since_start(world: World, recording: Recording) -> int:
    """Return when the world begins, in milliseconds since t=0."""
    return (world.context.epoch_us - recording.start_us) // 1000


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
                set_arrival(obj, arrivals[obj.key.namespace, obj.key.name])

    made = prepare(recording.sources).assemble(
        seed=seed, policy=policy, change=change, newest=False
    )
    for pod in recording.standing:
        metadata = pod["metadata"]
        key = Key("Pod", metadata.get("namespace", ""), metadata["name"])
        manifest = copy.deepcopy(pod)  # the world writes into what it takes
        status = manifest.pop("status", {})
        made.world.put(Object(key=key, manifest=manifest, status=status))
    return made.world, _put_workloads(made.world, arrivals, made.world.keys("Job"))


def go_on(
    recording: Recording, snapshot: Source, simulation: Mapping[str, Any], seed: int
) -> tuple[World, dict[Key, str]]:
    """Return the world of a snapshot, with the arrivals that came after it.

    Virtual time begins at the `startTime` of `simulation`, else at the instant of the
    newest object of the snapshot. What it holds keeps its place and time, or what the
    watch says of it until that instant; attempts are counted as in the recording.
    """
    arrivals = {(row.namespace, row.name): row for row in recording.arrivals}
    config = [one for one in recording.sources if one[0] == CONFIGURATION]
    prepared = prepare([*config, snapshot])
    versions = read_versions(*snapshot)
    begin_us = _instant(prepared.loaded.objects, versions, recording, simulation)
    passed = (begin_us - recording.start_us) // 1000
    later = [row for row in recording.arrivals if round(row.seen_at * 1000) > passed]
    coming = {Key("Job", row.namespace, row.name) for row in later}
    watch = measure(recording, until_ms=passed)

    def change(loaded: Loaded) -> None:
        standing = brought_to(loaded.objects, versions, recording, passed)
        coming.difference_update(_with_workload(standing))
        given = prepare(recording.sources).loaded.objects
        loaded.objects = [obj for obj in standing if obj.key not in coming]
        note_receipt(loaded.objects, watch, recording)
        loaded.objects += [job for job in given if job.key in coming]
        for job in loaded.objects:
            row = arrivals.get((job.key.namespace, job.key.name))
            if job.key.kind == "Job" and row is not None:
                set_arrival(job, row, passed if job.key in coming else None)

    start = {"startTime": durations.stamp_text(begin_us)}
    policy = {"stack": "kueue", "simulation": {**simulation, **start}}
    world = prepared.assemble(
        seed=seed, policy=policy, change=change, newest=False
    ).world
    jobs = {
        key: f"{key.namespace}/{owner}"
        for key in world.keys("Workload")
        if (owner := job_of(world.objects[key].manifest))
    }
    number_attempts(world, watch, jobs)
    there = [key for key in sorted(coming) if key in world.objects]
    return world, jobs | _put_workloads(world, arrivals, there)


def _with_workload(objects: Iterable[Object]) -> set[Key]:
    """Return the Jobs that have their Workload."""
    return {
        Key("Job", obj.key.namespace, job_of(obj.manifest))
        for obj in objects
        if obj.key.kind == "Workload"
    }


def _instant(
    objects: Iterable[Object],
    versions: Versions,
    recording: Recording,
    simulation: Mapping[str, Any],
) -> int:
    """Return when a run on from these objects begins, in microseconds."""
    if given := simulation.get("startTime"):
        return durations.stamp_us(given)
    at = received(recording, versions)
    return durations.stamp_us(time_of(objects) or recording.start) if at is None else at


def number_attempts(world: World, watch: Stopwatch, jobs: Mapping[Key, str]) -> None:
    """Count the attempts of what goes on as the recording does."""
    for key, name in jobs.items():
        namespace, job = name.split("/", 1)
        seen = watch.attempts.get((namespace, job))
        if seen is not None:
            counted = seen.started is not None and seen.has_stopped()
            world.lifetime.run_of(key).attempt = seen.number - 1 + counted


def set_arrival(job: Object, row: Arrival, begin: int | None = 0) -> None:
    """Give a Job its time (ms), and its readiness in the words of our annotations."""
    annotations = job.metadata.setdefault("annotations", {})
    if begin is not None:
        at = max(0, round(row.seen_at * 1000) - begin)
        annotations[ARRIVAL] = f"{at}ms"
    ready = annotations.get(_READY, "")
    if ready == "never":
        annotations[READY_AFTER] = "never"
    elif ready.startswith("attempt-"):
        first = ["never"] * (int(ready.removeprefix("attempt-")) - 1)
        annotations[READY_AFTER] = f"attempts({','.join([*first, '0s'])})"


def _put_workloads(
    world: World, arrivals: Mapping[tuple[str, str], Arrival], jobs: Iterable[Key]
) -> dict[Key, str]:
    """Put each Job's Workload with the identity it had: UIDs break ties."""
    around = world.lifetime.job_stage.surroundings()
    kind = registry.lookup("job-kind", "Job")
    found = {}
    for key in jobs:
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


# ------------------------------------------------------------------------
# The objects of a snapshot at one instant, as the watch shows what changed until
# then.


Item = dict[str, Any]
Versions = Mapping[Key, str]  # object -> resourceVersion


def brought_to(
    objects: Iterable[Object], versions: Versions, recording: Recording, until_ms: int
) -> list[Object]:
    """Return the objects as the watch shows them at an instant (ms since t=0).

    What a list holds newer than the watch, by `versions`, stays; so does what has none.
    Cost: the events until then.
    """
    found = {obj.key: obj for obj in objects}
    newest: dict[Key, tuple[str, Item]] = {}
    for event in recording.events:
        if recording.ms(event.at) <= until_ms:
            newest[_key(event.object)] = event.type, event.object
    news = []
    for key, (change, item) in newest.items():
        if key in found and not _is_newer(item, versions.get(key)):
            continue
        if change == "DELETED":
            found.pop(key, None)
        else:
            news.append(item)
    return list((found | {obj.key: obj for obj in _loaded(news)}).values())


def note_receipt(
    objects: Iterable[Object], watch: Stopwatch, recording: Recording
) -> None:
    """Write into pods when the watch showed their conditions: seconds are too coarse."""
    for obj in objects:
        if obj.key.kind == "Pod" and obj.uid in watch.pods:
            seen, _ = watch.pods[obj.uid]
            for name, at in _times(seen):
                known = condition(obj.status, name)
                if known is not None and at is not None:
                    us = recording.start_us + 1000 * at
                    _set_time(obj, name, durations.stamp_text(us))


def read_versions(name: str, text: str) -> Versions:
    """Return the resourceVersions of a snapshot's objects; loading drops them."""
    found = {}
    for document in read_documents(text, file=name):
        version = (document.data.get("metadata") or {}).get("resourceVersion")
        if version:
            found[_key(document.data)] = str(version)
    return found


def received(recording: Recording, versions: Versions) -> int | None:
    """Return when (us) the watch showed the newest of these objects; None for none."""
    found = (
        durations.stamp_us(event.at)
        for event in recording.events
        if _version(event.object) == versions.get(_key(event.object))
    )
    return max(found, default=None)


def _times(seen: PodTimes) -> list[tuple[str, int | None]]:
    ready = seen.ready if seen.succeeded is None else seen.succeeded
    return [("PodScheduled", seen.bound), ("Ready", ready)]


def _set_time(obj: Object, name: str, text: str) -> None:
    obj.status["conditions"] = [
        {**one, "lastTransitionTime": text} if one.get("type") == name else one
        for one in obj.status["conditions"]
    ]


def _key(item: Item) -> Key:
    metadata = item["metadata"]
    return Key(item["kind"], metadata.get("namespace", ""), metadata["name"])


def _version(item: Item) -> str:
    return str(item["metadata"].get("resourceVersion") or "")


def _is_newer(item: Item, known: str | None) -> bool:
    """Return whether a resourceVersion comes after the known one; they are numbers."""
    version = _version(item)
    if known is None or not (is_whole(version) and is_whole(known)):
        return False
    return int(version) > int(known)


def _loaded(items: list[Item]) -> list[Object]:
    """Return objects as a file of them would be loaded."""
    if not items:
        return []
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    return prepare([("watch.json", text)]).loaded.objects
