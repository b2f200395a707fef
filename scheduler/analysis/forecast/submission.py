"""When work would start that does not exist yet, and in which queue soonest.

Each future of the world is run once per queue with the work in it, so queues are
compared under equal run times and arrivals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import msgspec

from scheduler.analysis.forecast.present import (
    Check,
    ForecastWorld,
    future_of,
    present_of,
    random_of,
    starts_in,
)
from scheduler.analysis.forecast.starts import (
    StartForecast,
    SubmissionForecast,
    start_forecast,
)
from scheduler.analysis.forecast.workloads import work_of
from scheduler.analysis.forecast.world import (
    basis_of,
    check_futures,
    run_futures,
    some_of,
)
from scheduler.assembly import InputError
from scheduler.engine.tick import settle, simulate
from scheduler.engine.world import World, fork
from scheduler.input.manifests.chosen_run_times import (
    NO_CHOICE,
    RunTimeChoice,
    take_chosen_run_times,
)
from scheduler.input.manifests.load import load
from scheduler.input.manifests.references import check_references
from scheduler.model.annotations import ARRIVAL
from scheduler.model.errors import SchedulerError
from scheduler.model.jobs import QUEUE
from scheduler.model.objects import Key, Object
from scheduler.model.problems import Form, RequestProblem, Wanted
from scheduler.model.reasons import condition
from scheduler.model.texts.values import DEFAULT_LIMITS, Limits

#: What stands for every LocalQueue of the world.
ALL = "all"
MOST_QUEUES = 50
_MADE_WITHIN_MS = 60_000  # the Workload of a job

#: Per queue: when it started (ms), and what it waits for where it did not.
_Outcome = tuple[int | None, str]


def read_submission(
    world: World,
    files: Sequence[tuple[str, str]],
    *,
    limits: Limits = DEFAULT_LIMITS,
    run_times: RunTimeChoice = NO_CHOICE,
) -> list[Object]:
    """Return the objects of a manifest that is to be submitted to `world`.

    `run_times` says how long work takes that nobody gave a run time.

    Raises InputError with every finding for what cannot be taken.
    """
    loaded = load(files, limits=limits)
    manifests = {key: obj.manifest for key, obj in world.objects.items()}
    manifests |= {obj.key: obj.manifest for obj in loaded.objects}
    stack = world.policy.spec.stack
    loaded.findings += check_references(manifests, loaded.places, stack=stack)
    take_chosen_run_times(loaded, run_times)
    if loaded.errors:
        raise InputError(loaded)
    return loaded.objects


def forecast_submission(
    world: World,
    objects: Sequence[Object],
    *,
    queues: Sequence[str] = (),
    futures: int,
    seed: int,
    horizon_ms: int,
    go_on: Callable[[], bool] = lambda: True,
    continued: bool = False,
    within_ms: Sequence[int] = (),
) -> SubmissionForecast:
    """Return when the one Workload among `objects` would start if submitted now.

    `objects` are those of a manifest as it is read: the work, its Workload, and what
    belongs to it. `queues` are LocalQueues, `name` or `namespace/name`; none is the
    manifest's own, "all" is every one of the world. Raises SchedulerError for objects
    that are there already, for no or several Workloads, for unknown queues, and as
    `forecast` does. Cost: `futures` times queues copies.
    """
    check_futures(futures)
    present = present_of(world, continued=continued)
    check_new(world, objects)
    candidates = {
        queue: _workload(world, objects, queue)
        for queue in _candidates(world, objects, queues)
    }
    one = partial(_one, present, objects, candidates, seed, horizon_ms)
    found = some_of(run_futures(range(futures), one, go_on))
    begin = world.context.now_ms
    starts = [
        start_forecast(
            str(work.key),
            queue.path,
            [at - begin for at, _ in outcomes if at is not None],
            futures=len(found),
            horizon_ms=horizon_ms,
            basis=present.history.given(work_of(world, work), begin).step,
            within_ms=within_ms,
            message=_message(outcomes),
        )
        for (queue, work), outcomes in zip(
            candidates.items(), zip(*found, strict=True), strict=True
        )
    ]
    return SubmissionForecast(
        **basis_of(present, seed),
        asked=futures,
        futures=len(found),
        horizon_ms=horizon_ms,
        starts=sorted(starts, key=_soon),
        soonest=_soonest(starts),
    )


def check_new(world: World, objects: Sequence[Object]) -> None:
    """Raise SchedulerError that names those of the objects that are there already."""
    there = [str(obj.key) for obj in objects if obj.key in world.objects]
    if there:
        raise SchedulerError(RequestProblem.SUBMISSION.said(name=", ".join(there)))


def _workload(world: World, objects: Sequence[Object], queue: Key) -> Object:
    """Return the one Workload that comes of the objects in that queue."""
    copy, without = fork(world), fork(world)
    for obj in submitted(objects, queue):
        copy.put(obj)
    settle(copy)
    settle(without)
    if not _new(without, copy):
        for one in (copy, without):
            simulate(one, until_ms=world.context.now_ms + _MADE_WITHIN_MS)
    found = _new(without, copy)
    if len(found) != 1:
        got = ", ".join(map(str, found)) or "none"
        raise SchedulerError(RequestProblem.ONE_JOB.said(label=QUEUE, given=got))
    return copy.get(found[0])


def _new(without: World, copy: World) -> list[Key]:
    """Return the Workloads that are only there because of the submission."""
    return [key for key in copy.keys("Workload") if key not in without.objects]


def _candidates(
    world: World, objects: Sequence[Object], queues: Sequence[str]
) -> list[Key]:
    """Return the LocalQueues to try; SchedulerError for those that do not exist."""
    there = world.keys("LocalQueue")
    if ALL in queues:
        found = there
    else:
        named = queues or [_own_queue(objects)]
        namespace = next((o.key.namespace for o in objects if o.key.namespace), "")
        found = list(dict.fromkeys(_queue(name, namespace) for name in named))
    missing = [queue.path for queue in found if queue not in there]
    if missing or not found:
        known = ", ".join(queue.path for queue in there) or "none"
        raise SchedulerError(
            RequestProblem.FORECAST_QUEUES.said(name=", ".join(missing), known=known)
        )
    if len(found) > MOST_QUEUES:
        raise SchedulerError(
            RequestProblem.TOO_MANY_QUEUES.said(count=len(found), most=MOST_QUEUES)
        )
    return found


def _own_queue(objects: Sequence[Object]) -> str:
    """Return the queue that the manifest names."""
    for obj in objects:
        name = obj.labels.get(QUEUE)
        if obj.key.kind == "Workload":
            name = str(obj.spec.get("queueName") or "")
        if name:
            return name
    raise SchedulerError(
        Form.GOT_NEITHER.said(wanted=Wanted.MANIFEST_QUEUE.said(name=QUEUE))
    )


def _queue(name: str, namespace: str) -> Key:
    given, slash, bare = name.partition("/")
    return Key("LocalQueue", *((given, bare) if slash else (namespace, name)))


def submitted(objects: Sequence[Object], queue: Key | None) -> Iterator[Object]:
    """Yield copies of the objects as they are when sent to that LocalQueue now.

    Who sends it to a queue of another namespace sends it to that namespace. None
    leaves each where it says.
    """
    bare = not any(QUEUE in obj.labels for obj in objects)
    for obj in objects:
        manifest = msgspec.convert(msgspec.to_builtins(obj.manifest), dict)
        metadata, key = manifest["metadata"], obj.key
        (metadata.get("annotations") or {}).pop(ARRIVAL, None)
        if queue is not None and key.namespace:
            key = Key(key.kind, queue.namespace, key.name)
            metadata["namespace"] = queue.namespace
        if queue is None:
            pass
        elif key.kind == "Workload":
            manifest["spec"]["queueName"] = queue.name
        elif QUEUE in obj.labels or (bare and key.namespace):
            metadata["labels"] = {**obj.labels, QUEUE: queue.name}
        yield Object(key=key, manifest=manifest, status=dict(obj.status))


def _one(
    present: ForecastWorld,
    objects: Sequence[Object],
    candidates: Mapping[Key, Object],
    seed: int,
    horizon_ms: int,
    number: int,
    check: Check,
) -> list[_Outcome]:
    """Return what comes of it in each queue in one future."""
    until = present.world.context.now_ms + horizon_ms
    found: list[_Outcome] = []
    for queue, work in candidates.items():
        copy = future_of(present, random_of(present, number, seed), until)
        for obj in submitted(objects, queue):
            copy.put(obj)
        starts = starts_in(copy, [work.key], until, check)
        found.append((starts.get(work.key), _waits_for(copy, work.key)))
    return found


def _waits_for(copy: World, key: Key) -> str:
    """Return the message of its condition QuotaReserved."""
    if key not in copy.objects:
        return ""
    found = condition(copy.get(key).status, "QuotaReserved") or {}
    return str(found.get("message") or "")


def _message(outcomes: Sequence[_Outcome]) -> str:
    """Return what it waits for where no future lets it in."""
    if any(at is not None for at, _ in outcomes):
        return ""
    return next((message for _, message in outcomes if message), "")


def _soon(one: StartForecast) -> tuple[float, float, float, str]:
    """Return what queues sort by: the median, the 90% bound, the chance, the name."""
    beyond = float("inf")
    middle = beyond if one.p50_ms is None else one.p50_ms
    high = beyond if one.p90_ms is None else one.p90_ms
    return middle, high, -one.chances[-1].chance, one.queue


def _soonest(starts: Sequence[StartForecast]) -> str | None:
    """Return the queue in which it starts soonest; None when it starts in none."""
    best = min(starts, key=_soon)
    return best.queue if best.chances[-1].chance > 0 else None
