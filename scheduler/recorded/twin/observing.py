"""What was seen of a real cluster, put into a world as it is.

Such a world decides nothing: its time goes on, its objects are those of the cluster,
and the decisions in its journal are those that the cluster took. At every instant it
is what an import of the cluster would be: a copy of it can run on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from scheduler.engine.world import World
from scheduler.input.manifests import kinds
from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.loading.checking import checked, served
from scheduler.input.manifests.loading.identity import kind_of
from scheduler.input.manifests.loading.loaded import rank
from scheduler.model.annotations import ARRIVAL
from scheduler.model.decisions import Decision
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key, Object
from scheduler.recorded.twin.real_decisions import Owners, decisions_of

Manifest = dict[str, Any]
#: Kinds whose status a scheduler's controllers write: it comes with the object.
_REPLACED = frozenset({"Pod", "Workload"}) | {
    kind.kind for kind in kinds.TABLE if kind.group in ("batch", "jobset.x-k8s.io")
}

#: Under which an object keeps what following it needs, beside the schedulers' state.
_STATE = "twin"


class ObservedChange(msgspec.Struct, frozen=True, array_like=True):
    """One change of the cluster: when (virtual ms), and the object after it.

    `gone` says that it was deleted; the object then only names it.
    """

    at_ms: int
    object: Manifest
    gone: bool = False


def observe(
    world: World, seen: Sequence[ObservedChange], *, tick: int, now_ms: int
) -> list[str]:
    """Put the changes into the world, and set its tick and its time.

    The world's journal has the decisions that they show. Returns a sentence for each
    object that the importer refuses; it is left out. Cost: the changes, and a look at
    each Workload where pods came.
    """
    journal = world.context.journal
    problems: list[str] = []
    found: list[Decision] = []
    owners = Owners(world)
    for one in _in_order(seen):
        key = key_of(one.object)
        known = world.objects.get(key)
        before = (
            None if known is None else (known.manifest, dict(world.get(key).status))
        )
        after = None if one.gone else read_object(one.object, problems)
        if after is None and not one.gone:
            continue
        found += decisions_of(world.context, one.at_ms, key, before, after, owners)
        _put(world, key, after)
        if after is not None:
            owners.came(after)
            if version := one.object["metadata"].get("resourceVersion"):
                world.objects[key].state[_STATE] = {"version": str(version)}
    owners.link()
    world.context.now_ms = now_ms
    world.tick = tick
    if world.kueue is not None:
        world.kueue.settle()
    journal.take_decisions()
    for decision in found:
        journal.emit(decision)
    journal.heard = len(journal.decisions)
    return problems


def key_of(manifest: Mapping[str, Any]) -> Key:
    """Return the key of a document as the API gives it."""
    metadata = manifest["metadata"]
    return Key(manifest["kind"], metadata.get("namespace", ""), metadata["name"])


def is_shown(manifest: Mapping[str, Any]) -> bool:
    """Return whether a world shows objects of this kind; a Change is no cluster's."""
    kind = kinds.BY_KIND.get(manifest["kind"])
    return kind is not None and kind.level == "simulated" and kind.kind != "Change"


def read_object(manifest: Manifest, problems: list[str]) -> Object | None:
    """Return the object as the importer takes it; None where it refuses it."""
    document = Document(file="", data=dict(manifest))
    try:
        kind = kind_of(document)
        if kind is None or kind.level != "simulated":
            return None
        key, given = checked(document, kind)
    except SchedulerError as error:
        problems.append(f"{key_of(manifest)}: left out: {error}")
        return None
    status = given.pop("status", None) or manifest.get("status") or {}
    # What stands in the cluster has arrived, whatever its annotation says.
    annotations = (given.get("metadata") or {}).get("annotations")
    if annotations and ARRIVAL in annotations:
        rest = {name: text for name, text in annotations.items() if name != ARRIVAL}
        given["metadata"] = {**given["metadata"], "annotations": rest}
    own: Object = Object(
        key=key,
        manifest=msgspec.to_builtins(served(given, key, kind)),
        status=msgspec.to_builtins(status),
    )
    return own


def _in_order(seen: Sequence[ObservedChange]) -> Iterable[ObservedChange]:
    """Return the changes by their time; of one instant, what others name first."""

    def place(one: ObservedChange) -> tuple[int, Any]:
        key = key_of(one.object)
        return one.at_ms, rank(Object(key=key, manifest={}))

    return sorted(seen, key=place)


def version_of(obj: Object) -> str:
    """Return the resourceVersion at which an object was seen last; "" for none."""
    return str((obj.state.get(_STATE) or {}).get("version", ""))


def _put(world: World, key: Key, after: Object | None) -> None:
    """Show the object to the schedulers as an import would; nothing is decided.

    Work is taken away and put again: a world keeps the status that it wrote itself.
    """
    if key in world.objects and (after is None or key.kind in _REPLACED):
        world.lifetime.owners.pop(key, None)
        world.delete(key)
        # An object of the cluster has its own UID: no name is used twice here.
        world.lifetime.used.pop(str(key), None)
    if after is not None:
        world.put(after)
