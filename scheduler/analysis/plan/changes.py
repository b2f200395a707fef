"""What differs between two sides: each field with the file and line where it stands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from scheduler.analysis.plan.sides import Side
from scheduler.model.errors import SourceLocation
from scheduler.model.objects import Key, Object

_METADATA = ("labels", "annotations")
_MOST_TEXT = 60
_NAMES = {
    "kueue": "Configuration",
    "kubeScheduler": "KubeSchedulerConfiguration",
    "yunikorn": "queues.yaml",
}
_ABSENT = object()


class Change(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One field that differs, or an object that one side lacks.

    `object` is "Kind/name" or "Kind/namespace/name"; `before` and `after` are short
    texts, "" where there is nothing. `file` and `line` are of the changed side, of
    the base for what is gone.
    """

    object: str
    what: Literal["added", "removed", "changed"]
    field: str = ""
    before: str = ""
    after: str = ""
    file: str = ""
    line: int = 1

    def __str__(self) -> str:
        if self.what != "changed":
            return f"{self.object}: {self.what}"
        before, after = self.before or "nothing", self.after or "nothing"
        return f"{self.object}: {self.field}: {before} to {after}"


def changes(base: Side, changed: Side) -> list[Change]:
    """Return the differences by object. Equal sides give nothing."""
    found: list[Change] = []
    for key in sorted(set(base.objects) | set(changed.objects)):
        before, after = base.objects.get(key), changed.objects.get(key)
        if after is None:
            found.append(_whole(base, key, "removed"))
        elif before is None:
            found.append(_whole(changed, key, "added"))
        else:
            found += _fields(changed, key, _manifest(before), _manifest(after))
    return [*found, *_configuration(base, changed)]


def name_of(key: Key) -> str:
    """Return "Kind/name", with the namespace where there is one."""
    return f"{key.kind}/{key.path}"


def _manifest(obj: Object) -> dict[str, Any]:
    """Return what decides: no status, and of the metadata what people write."""
    metadata = {n: obj.metadata[n] for n in _METADATA if obj.metadata.get(n)}
    rest = {n: v for n, v in obj.manifest.items() if n not in ("status", "apiVersion")}
    node = {"status": obj.status} if obj.key.kind == "Node" and obj.status else {}
    return {**rest, "metadata": metadata, **node}


def _whole(side: Side, key: Key, what: Literal["added", "removed"]) -> Change:
    place = side.loaded.places[key].place()
    return Change(object=name_of(key), what=what, file=place.file, line=place.line)


def _fields(
    side: Side, key: Key, before: dict[str, Any], after: dict[str, Any]
) -> Iterator[Change]:
    document = side.loaded.places[key]
    for path, old, new in _differences("", before, after):
        yield _field(name_of(key), path, old, new, document.place(path))


def _configuration(base: Side, changed: Side) -> Iterator[Change]:
    for section in sorted(set(base.policy) | set(changed.policy)):
        name = _NAMES.get(section, f"Policy.{section}")
        old, new = base.policy.get(section), changed.policy.get(section)
        for path, was, now in _differences("", old, new):
            yield _field(name, path, was, now, _place(base, changed, section, path))


def _place(base: Side, changed: Side, section: str, path: str) -> SourceLocation:
    held = changed.configurations.get(section) or base.configurations.get(section)
    if held is None:
        return SourceLocation(file="", line=1)
    document, stem = held
    if not document.kind:  # a bare queues.yaml is the section's one field
        path = path.removeprefix("queues").removeprefix(".")
    return document.place(f"{stem}.{path}".strip("."))


def _field(name: str, path: str, old: Any, new: Any, place: SourceLocation) -> Change:
    return Change(
        object=name,
        what="changed",
        field=path or "(whole)",
        before=_text(old),
        after=_text(new),
        file=place.file,
        line=place.line,
    )


def _text(value: Any) -> str:
    if value is _ABSENT or value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}…"


def _differences(path: str, old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield (path, old, new) of the deepest parts that differ, paths of the new."""
    if old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted(set(old) | set(new), key=str):
            inner = f"{path}.{name}" if path else str(name)
            yield from _differences(
                inner, old.get(name, _ABSENT), new.get(name, _ABSENT)
            )
    elif isinstance(old, list) and isinstance(new, list):
        yield from _items(path, old, new)
    else:
        yield path, old, new


def _items(path: str, old: list[Any], new: list[Any]) -> Iterator[tuple[str, Any, Any]]:
    """Pair items by their names where all have one, else by their places."""
    known, given = _by_name(old), _by_name(new)
    if known is None or given is None:
        if len(old) != len(new):
            yield path, old, new
            return
        for at, (was, now) in enumerate(zip(old, new, strict=True)):
            yield from _differences(f"{path}[{at}]", was, now)
        return
    for at, (name, item) in enumerate(given.items()):
        yield from _differences(f"{path}[{at}]", known.get(name, _ABSENT), item)
    for name in [n for n in known if n not in given]:
        yield path, known[name], _ABSENT
    if list(known) != list(given) and known.keys() == given.keys():
        yield path, list(known), list(given)


def _by_name(items: list[Any]) -> dict[str, Any] | None:
    named = {
        str(item["name"]): item
        for item in items
        if isinstance(item, dict) and "name" in item
    }
    return named if len(named) == len(items) else None
