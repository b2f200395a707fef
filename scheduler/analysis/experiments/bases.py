"""Where a run begins: files at virtual time 0, or a world in the middle of its life."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from scheduler.analysis.experiments.document import (
    ExperimentError,
    ObjectChange,
    Variant,
)
from scheduler.assembly import Prepared, merge, prepare
from scheduler.engine.world import World
from scheduler.engine.worlds.encoding import Header, decode_world
from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.load import take_document
from scheduler.input.manifests.loading.loaded import Loaded
from scheduler.input.manifests.run_times import said_of_run_times
from scheduler.model import durations
from scheduler.model.annotations import ARRIVAL
from scheduler.model.durations import Span, read_span
from scheduler.model.errors import ManifestError
from scheduler.model.objects import Key, Object
from scheduler.model.policy import Stack, read_policy
from scheduler.model.problems import Form, RequestProblem, Wanted, expected
from scheduler.model.texts.values import DEFAULT_LIMITS, Limits

DEFAULT_HORIZON_MS = 3_600_000


class RunBase(Protocol):
    """What can begin a run, any number of times."""

    def world(self, variant: Variant, seed: int) -> World:
        """Return a fresh world of this variant and seed.

        Raises SchedulerError that says what of the variant cannot be.
        """

    def seed(self) -> int:
        """Return the seed of the world as it is given."""

    def horizon_ms(self) -> int:
        """Return how long a run lasts when nothing is said of it."""


class FileBase:
    """Files, a scenario folder for example. The variant is part of the files."""

    def __init__(self, prepared: Prepared) -> None:
        self.prepared = prepared
        self._latest: tuple[int, Prepared] | None = None  # of the last seed

    @classmethod
    def read(
        cls,
        sources: Sequence[tuple[str, str]],
        limits: Limits = DEFAULT_LIMITS,
        *,
        stack: Stack | None = None,
    ) -> FileBase:
        """Read (name, text) of files, run by `stack` or by the one that they are for."""
        prepared = prepare(sources, limits=limits, stack=stack)
        if stack is not None:
            prepared.loaded.policy["stack"] = stack
        return cls(prepared)

    def world(self, variant: Variant, seed: int) -> World:
        """Return the world at virtual time 0."""

        def change(loaded: Loaded) -> None:
            change_loaded(loaded, variant.objects)
            for obj in loaded.objects:
                hurry(obj.manifest, variant.arrivals)

        prepared = self._with_arrivals(seed)
        return prepared.assemble(seed=seed, policy=variant.policy, change=change).world

    def assumed(self, seed: int) -> list[str]:
        """Return a sentence per kind of work whose run time is assumed or read."""
        world = self.world(Variant(name=""), seed)
        span = world.policy.spec.simulation.default_runtime
        return [
            str(said) for said, _ in said_of_run_times(world.objects.values(), span)
        ]

    def _with_arrivals(self, seed: int) -> Prepared:
        """Return the files with a seed's arrivals, which all variants share."""
        if self._latest is None or self._latest[0] != seed:
            self._latest = seed, self.prepared.with_arrivals(seed)
        return self._latest[1]

    def seed(self) -> int:
        """Return the scenario's seed, or 1."""
        scenario = self.prepared.scenario
        return 1 if scenario is None else scenario.spec.seed

    def horizon_ms(self) -> int:
        """Return the scenario's horizon, or an hour."""
        scenario = self.prepared.scenario
        if scenario is None:
            return DEFAULT_HORIZON_MS
        return durations.span_ms(scenario.spec.horizon)


class WorldBase:
    """A stored world. The variant is edits of it, and draws to come follow the seed."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def world(self, variant: Variant, seed: int) -> World:
        """Return the world at its own time, edited."""
        header, objects = decode_world(self.data)
        header = msgspec.structs.replace(header, seed=seed)
        if variant.arrivals != 1.0:
            for obj in objects:
                _hurry(obj, header, variant.arrivals)
        world = World.load(header, objects)
        if variant.policy:
            spec = merge(header.policy["spec"], variant.policy)
            world.set_policy(read_policy({"spec": spec}))
        self._change(world, variant)
        world.take()
        return world

    def _change(self, world: World, variant: Variant) -> None:
        for change in variant.objects:
            key = key_of(change.object) if change.object else None
            before = world.objects.get(key) if key is not None else None
            if key is not None and before is None:
                problem = Form.NOT_IN_BASE.said(key=key)
                raise ExperimentError(problem, "spec.variants.objects")
            if key is not None and change.delete:
                world.delete(key)
            else:
                world.put(read_changed(before, change))

    def seed(self) -> int:
        """Return the seed that the world had so far."""
        return decode_world(self.data)[0].seed

    def horizon_ms(self) -> int:
        """Return an hour."""
        return DEFAULT_HORIZON_MS


def _hurry(obj: Object, header: Header, factor: float) -> None:
    """Let what is still to come come sooner; it was created when it comes."""
    state = obj.state.get("lifetime") or {}
    if "arrives" not in state:
        return
    now = header.now_ms
    at = round(now + (state["arrives"] - now) / factor)
    state["arrives"] = at
    obj.manifest["metadata"].setdefault("annotations", {})[ARRIVAL] = f"{at}ms"
    start = header.policy["spec"]["simulation"]["startTime"]
    stamp = durations.stamp_text(durations.stamp_us(start) + at * 1000)
    obj.manifest["metadata"]["creationTimestamp"] = stamp


# ------------------------------------------------------------------------
# Changes of objects: a manifest with a patch laid over it, read as a file is.


_STEP = re.compile(r"([^.\[\]]+)|\[([0-9]+)\]")


def change_loaded(loaded: Loaded, changes: Sequence[ObjectChange]) -> None:
    """Change what was loaded, as if the files had said so.

    What is wrong becomes a finding. Raises ExperimentError for an object that
    does not exist and a path that leads nowhere.
    """
    for change in changes:
        if change.create:
            take_document(loaded, Document(file="variant", data=dict(change.create)))
            continue
        at = _index(loaded, key_of(change.object))
        before = loaded.objects.pop(at)
        del loaded.places[before.key]
        if change.delete:
            continue
        held = loaded.objects[at:]
        del loaded.objects[at:]
        data = changed(before, change)
        take_document(loaded, Document(file=f"variant: {before.key}", data=data))
        loaded.objects += held


def _index(loaded: Loaded, key: Key) -> int:
    for at, obj in enumerate(loaded.objects):
        if obj.key == key:
            return at
    raise ExperimentError(Form.NOT_IN_BASE.said(key=key), "spec.variants.objects")


def key_of(text: str) -> Key:
    """Return the key of "Kind/namespace/name" or "Kind/name"."""
    parts = text.split("/")
    if len(parts) == 2:
        return Key(parts[0], "", parts[1])
    if len(parts) == 3:
        return Key(*parts)
    raise ExperimentError(expected(Wanted.KEY, text), "spec.variants.objects")


def changed(before: Object, change: ObjectChange) -> dict[str, Any]:
    """Return the manifest with the change; a node's status is part of it."""
    data: dict[str, Any] = msgspec.to_builtins(before.manifest)
    if before.status and before.key.kind == "Node":
        data["status"] = msgspec.to_builtins(before.status)
    data = merge(data, change.patch)
    for path, value in change.set.items():
        _set(data, path, value)
    return data


def read_changed(before: Object | None, change: ObjectChange) -> Object:
    """Return the changed object, checked. Raises ManifestError naming the field."""
    data = dict(change.create) if before is None else changed(before, change)
    loaded = Loaded()
    take_document(loaded, Document(file="variant", data=data))
    if loaded.errors:
        error = loaded.errors[0]
        raise ManifestError(error.said, place=error.place)
    return loaded.objects[0]


def _set(data: dict[str, Any], path: str, value: Any) -> None:
    steps = [int(match[2]) if match[2] else match[1] for match in _STEP.finditer(path)]
    place: Any = data
    try:
        for step in steps[:-1]:
            place = place[step] if isinstance(step, int) else _inner(place, step)
        place[steps[-1]] = value
    except (IndexError, KeyError, TypeError, AttributeError) as error:
        raise ExperimentError(
            RequestProblem.NOWHERE.said(path=repr(path)), "spec.variants.objects.set"
        ) from error


def _inner(place: dict[str, Any], step: str) -> Any:
    return place.setdefault(step, {})


def hurry(manifest: dict[str, Any], factor: float) -> None:
    """Let the object arrive sooner by this factor."""
    annotations = (manifest.get("metadata") or {}).get("annotations") or {}
    if factor != 1.0 and ARRIVAL in annotations:
        span = read_span(annotations[ARRIVAL])
        annotations[ARRIVAL] = _scaled(span, factor)


def _scaled(span: Span, factor: float) -> str:
    texts = [f"{round(ms / factor)}ms" for ms in span.values]
    return texts[0] if span.shape == "fixed" else f"{span.shape}({','.join(texts)})"
