"""The changes of a what-if as a patch of the files that its world came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sandbox.access import limits
from sandbox.base.errors import Cause, InvalidError
from sandbox.models import KeptWhatIf
from sandbox.whatifs.changes import operation_of
from sandbox.whatifs.work import world_of
from sandbox.world import operations
from sandbox.world.operations import Delete, Lose, Part, Put, SetPolicy, Several
from scheduler.engine.world import World
from scheduler.input.manifests.file_changes import (
    FilesPatch,
    LeftOut,
    Steps,
    patch_files,
)
from scheduler.model.errors import ManifestError
from scheduler.model.objects import Key, stored_key
from scheduler.model.patches import merge


def patch_of(row: KeptWhatIf, files: Sequence[tuple[str, str]]) -> FilesPatch:
    """Return the diff of the files, and what it leaves out.

    Raises InvalidError for changes that cannot be made, and for a text that is no YAML
    with its file and line. Cost: a world of its past, and O(texts).
    """
    world = world_of(row)
    known = operations.from_document(row.operation) if row.operation else None
    operation = (
        known if isinstance(known, Several) else operation_of(world, row.changes)
    )
    objects: dict[Key, tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]] = {}
    policy: dict[str, Any] | None = None
    left: list[LeftOut] = []
    for part in _flat(operation.parts):
        match part:
            case Put(manifests=manifests, statuses=statuses):
                for manifest in manifests:
                    key = stored_key(manifest)
                    status = statuses.get(str(key), {})
                    objects[key] = _sides(world, key, manifest, status)
            case Delete(keys=keys):
                for key in (Key(*one) for one in keys):
                    objects[key] = _before(world, key), None
            case SetPolicy(document=document):
                policy = document["spec"]
            case Lose(node=node):
                one = LeftOut(kind="Node", namespace="", name=node, why="action")
                left.append(one)
            case _:  # instants that are handled: they are in no file
                pass
    before = world.policy.document()["spec"]
    steps = Steps(objects=objects, policy=None if policy is None else (before, policy))
    try:
        found = patch_files(files, steps, limits=limits.of_texts())
    except ManifestError as error:
        file, line = (error.place.file, error.place.line) if error.place else ("", 1)
        cause = Cause(problem=error.problem, field="files", file=file, line=line)
        raise InvalidError(error.said, causes=[cause]) from error
    return FilesPatch(diff=found.diff, files=found.files, left=[*left, *found.left])


def _flat(parts: Sequence[Part | Several]) -> Iterator[Part]:
    for part in parts:
        if isinstance(part, Several):
            yield from _flat(part.parts)
        else:
            yield part


def _before(world: World, key: Key) -> Mapping[str, Any] | None:
    found = world.objects.get(key)
    return None if found is None else found.manifest


def _sides(
    world: World, key: Key, manifest: Mapping[str, Any], status: Mapping[str, Any]
) -> tuple[Mapping[str, Any] | None, Mapping[str, Any]]:
    """Return an object before and after, with its status where that is given too."""
    before = world.objects.get(key)
    if before is None:
        return None, {**manifest, "status": status} if status else manifest
    if not status:
        return before.manifest, manifest
    known = {**before.manifest, "status": before.status}
    return known, {**manifest, "status": merge(before.status, status)}
