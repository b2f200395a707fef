"""How a forecast is asked for, and when work would start that is not submitted yet."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from sandbox.access import limits
from sandbox.base.errors import InvalidError
from sandbox.base.refusals import NotTaken
from sandbox.models import Sandbox
from sandbox.world import history, worlds
from sandbox.world.findings import causes_of
from scheduler.analysis.explain.would import Would, would
from scheduler.analysis.forecast.starts import SubmissionForecast
from scheduler.analysis.forecast.submission import forecast_submission, read_submission
from scheduler.assembly import InputError
from scheduler.engine.world import World
from scheduler.input.manifests.chosen_run_times import NO_CHOICE, RunTimeChoice
from scheduler.model.objects import Object
from scheduler.recorded.twin.going_on import running_now

FUTURES = 20
MOST_FUTURES = 200
HORIZON_MS = 3_600_000
MOST_HORIZON_MS = 86_400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastOptions:
    """How many futures, how far, drawn from which seed, for how long of the wall."""

    futures: int = FUTURES
    seed: int = 1
    horizon_ms: int = HORIZON_MS
    seconds: float = 20.0
    continued: bool | None = None  # arrivals go on as they came; None: see `settled`
    within_ms: Sequence[int] = ()  # further times to give the chance of

    def go_on(self) -> Callable[[], bool]:
        """Return what says whether the seconds, from now on, are not over yet."""
        deadline = time.monotonic() + self.seconds
        return lambda: time.monotonic() < deadline


def settled(sandbox: Sandbox, options: ForecastOptions) -> ForecastOptions:
    """Return the options with what was left open decided.

    Beside a real cluster arrivals go on as they came, for there somebody submits; of
    a simulated world all that comes is known.
    """
    if options.continued is not None:
        return options
    return dataclasses.replace(options, continued=sandbox.is_real)


def forecast_submit(
    sandbox: Sandbox,
    tick: int | None,
    files: Sequence[tuple[str, str]],
    queues: Sequence[str],
    options: ForecastOptions,
) -> SubmissionForecast:
    """Return when a manifest would start if it were submitted, in each queue.

    `queues` as `forecast_submission` takes them. Nothing is kept. Raises
    InvalidError with every finding of the texts, and SchedulerError as above.
    """
    world, revision = world_and_revision(sandbox, tick)
    options = settled(sandbox, options)
    objects = _submission(world, files)
    found = forecast_submission(
        world,
        objects,
        queues=queues,
        futures=options.futures,
        seed=options.seed,
        horizon_ms=options.horizon_ms,
        go_on=options.go_on(),
        continued=bool(options.continued),
        within_ms=options.within_ms,
    )
    return msgspec.structs.replace(found, revision=revision)


def would_submit(
    sandbox: Sandbox,
    tick: int | None,
    files: Sequence[tuple[str, str]],
    horizon_ms: int,
    run_times: RunTimeChoice = NO_CHOICE,
) -> Would:
    """Return whether a manifest would start if it were submitted, as `would` does.

    Nothing is kept. Raises InvalidError with every finding of the texts, and
    SchedulerError as `would`.
    """
    world, _ = world_and_revision(sandbox, tick)
    submission = _submission(world, files, run_times)
    return would(world, submission, horizon_ms=horizon_ms)


def _submission(
    world: World,
    files: Sequence[tuple[str, str]],
    run_times: RunTimeChoice = NO_CHOICE,
) -> list[Object]:
    """Return the objects of a manifest, within the operator's limits."""
    limits.check_bytes(files)
    try:
        objects = read_submission(
            world, files, limits=limits.of_texts(), run_times=run_times
        )
    except InputError as error:
        causes = causes_of(error.loaded.findings)
        raise InvalidError(NotTaken.MANIFEST.said(), causes=causes) from error
    limits.check_objects(len(objects))
    return objects


def world_and_revision(sandbox: Sandbox, tick: int | None) -> tuple[World, int]:
    """Return a copy of the world, now or at a tick, and the revision that it is of."""
    if tick is None or tick == sandbox.tick:
        world, row = worlds.copy_of(sandbox.pk)
        if tick is None or tick == row.tick:  # it may have ticked on meanwhile
            return _left_alone(sandbox, world), row.revision
    revision = history.revision_at(sandbox, tick)
    return world_of(sandbox, revision), revision


def world_of(sandbox: Sandbox, revision: int) -> World:
    """Return a copy of the world at a revision, the newest or one before."""
    if Sandbox.objects.filter(pk=sandbox.pk, revision=revision).exists():
        world, row = worlds.copy_of(sandbox.pk)
        if row.revision == revision:
            return _left_alone(sandbox, world)
    return _left_alone(sandbox, history.world_at(sandbox, revision))


def _left_alone(sandbox: Sandbox, world: World) -> World:
    """Return a world in which, of a real cluster, what runs there goes on by itself."""
    return running_now(world) if sandbox.is_real else world
