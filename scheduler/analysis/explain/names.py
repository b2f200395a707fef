"""Which Workload is meant by a name that a person knows: its own, or that of its job."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.engine.world import World
from scheduler.model.conditions import is_true
from scheduler.model.objects import Key, Object

_WORKLOAD = "Workload"


def meant(world: World, key: Key) -> Key | None:
    """Return the key of the object that is asked about; None where there is none.

    An object of this very key comes first. Else it is the Workload of the owner with this
    namespace and name: of any kind for a Workload's key, of the key's kind for another.
    Of several Workloads of one owner it is one that has not ended. O(objects).
    """
    if key.kind in ("Pod", _WORKLOAD) and key in world.objects:
        return key
    found = [
        one
        for one in _owned(world, key.kind, key.name)
        if one.key.namespace == key.namespace
    ]
    if not found:
        return key if key in world.objects else None
    return min(found, key=_ended).key


def named(world: World, name: str) -> Key | None:
    """Return the Workload of `NAME`, `NAMESPACE/NAME`, `job/NAME` or `job/NAMESPACE/NAME`.

    As `meant`; a name without namespace is looked for in all of them. O(objects).
    """
    kind, rest = _WORKLOAD, name
    head, slash, tail = name.partition("/")
    if slash and head.lower() == "job":
        kind, rest = "Job", tail
    namespace, slash, own = rest.rpartition("/")
    found = [
        *(
            obj
            for key, obj in world.objects.items()
            if key.kind == _WORKLOAD and key.name == own and kind == _WORKLOAD
        ),
        *_owned(world, kind, own),
    ]
    found = [one for one in found if not slash or one.key.namespace == namespace]
    return min(found, key=_ended).key if found else None


def _owned(world: World, kind: str, name: str) -> Iterator[Object]:
    for key, obj in world.objects.items():
        if key.kind != _WORKLOAD:
            continue
        for owner in obj.metadata.get("ownerReferences") or ():
            if owner.get("name") == name and kind in (_WORKLOAD, owner.get("kind")):
                yield obj
                break


def _ended(obj: Object) -> tuple[bool, Key]:
    return is_true(obj.status, "Finished"), obj.key
