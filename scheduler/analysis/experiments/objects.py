"""Changes of objects: a manifest with a patch laid over it, read as a file is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from scheduler.analysis.experiments.document import ExperimentError, ObjectChange
from scheduler.assembly import merge
from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.load import take_document
from scheduler.input.manifests.loading.loaded import Loaded
from scheduler.model.annotations import ARRIVAL
from scheduler.model.errors import ManifestError
from scheduler.model.objects import Key, Object
from scheduler.model.problems import Form, RequestProblem, Wanted, expected
from scheduler.model.spans import Span, read_span

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
    raise ExperimentError(
        expected(Wanted.KEY, text),
        "spec.variants.objects",
    )


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
