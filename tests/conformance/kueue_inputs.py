"""What a vector of Kueue gives: objects, settings, a stage at its time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler.engine.kueue.stage import KueueStage
from scheduler.engine.stage import Context
from scheduler.engine.worlds.objects import share_equal_parts
from scheduler.model import durations
from scheduler.model.kueue.configuration import Settings, read_configuration
from scheduler.model.objects import Key, Object

Vector = dict[str, Any]


def settings_of(vector: Vector) -> Settings:
    """Return the settings of a vector's config."""
    config = vector.get("config") or {}
    document = {name: value for name, value in config.items() if value is not None}
    return read_configuration(document)


def objects_of(vector: Vector) -> Iterator[Object]:
    """Yield the objects of a vector."""
    for manifest in vector["objects"]:
        share_equal_parts(manifest)  # as a world does with what it takes
        metadata = manifest["metadata"]
        key = Key(manifest["kind"], metadata.get("namespace", ""), metadata["name"])
        status = manifest.get("status") or {}
        yield Object(key=key, manifest=manifest, status=status)


def stage_of(vector: Vector) -> KueueStage:
    """Return a stage at the vector's time with nothing in it."""
    context = Context(seed=0, epoch_us=durations.stamp_us(vector["now"]))
    stage = KueueStage(context, settings_of(vector))
    stage.handlers.references.watches_nodes = (
        False  # nodes never change, and nobody judges them
    )
    return stage
