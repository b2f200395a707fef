"""Who set which field: managedFields, and server-side apply.

A set of fields is written as Kubernetes writes it (FieldsV1): `f:name` of an object,
`k:{...}` of a list by its keys, `v:...` of a list that is a set, "." for the thing
itself.

Source: <https://kubernetes.io/docs/reference/using-api/server-side-apply/>
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from api.cluster import refusals
from scheduler.model import schemas
from scheduler.model.schemas import Field

Document = dict[str, Any]
Fields = dict[str, Any]
Path = tuple[str, ...]
FIRST = "before-first-apply"
_OBJECT = Field(type="any")
_META = Field(type="meta.v1.ObjectMeta", always=True)
#: Of the metadata nobody's: set by the server, or what the object is found by.
_NOBODYS = frozenset(
    {
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generation",
        "managedFields",
        "name",
        "namespace",
        "resourceVersion",
        "selfLink",
        "uid",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Who writes, and when; `type_` is the published type of what is written."""

    manager: str
    version: str  # apiVersion of the request
    time: str
    type_: str
    subresource: str = ""


def _fields_of(document: Mapping[str, Any], type_: str, *, dots: bool) -> Fields:
    """Return the fields of an object; with `dots` as one has them who updates."""
    found: Fields = {}
    for name, value in document.items():
        if name in ("apiVersion", "kind") or value is None:
            continue
        if name == "metadata":
            value = {n: v for n, v in value.items() if n not in _NOBODYS}
            inner = _walk(value, _META, dots=dots, made=False)
        else:
            inner = _walk(value, _field(type_, name), dots=dots, made=False)
        if inner or name not in ("metadata", "spec", "status"):
            found[f"f:{name}"] = inner
    return found


def _field(type_: str, name: str) -> Field:
    return schemas.fields_of(type_).get(name, _OBJECT)


def _walk(value: Any, field: Field, *, dots: bool, made: bool) -> Fields:
    """Return the fields below a value; `made` where its holder is new with it."""
    of = schemas.bare(field.type)
    atomic = field.map_type == "atomic" or field.list_type == "atomic"
    if isinstance(value, Mapping) and not atomic and of != "FieldsV1":
        found: Fields = {}
        is_map = field.type.startswith("map ") or field.type == "any"
        if dots and value and (is_map or made or not field.always):
            found["."] = {}
        for name, inner in value.items():
            if inner is not None:
                below = Field(type=of) if is_map and of != "any" else _field(of, name)
                new = made or is_map or not field.always
                found[f"f:{name}"] = _walk(inner, below, dots=dots, made=new)
        return found
    if isinstance(value, list) and not atomic and field.list_type in ("map", "set"):
        items: Fields = {".": {}} if dots else {}
        item = Field(type=field.type.removeprefix("[]"))
        for one in value:
            keyed = isinstance(one, Mapping) and field.list_type == "map"
            inside = _walk(one, item, dots=dots, made=True) if keyed else {}
            items[_key(one, field)] = {".": {}, **inside} if keyed else {}
        return items
    return {}


def _key(item: Any, field: Field) -> str:
    if field.list_type == "map" and isinstance(item, Mapping):
        keys = {name: item[name] for name in sorted(field.keys) if name in item}
        return f"k:{json.dumps(keys, separators=(',', ':'))}"
    return f"v:{json.dumps(item)}"


def _leaves(fields: Fields, above: Path = ()) -> Iterator[Path]:
    for name, inner in fields.items():
        if name == "." or not inner:
            yield (*above, name)
        else:
            yield from _leaves(inner, (*above, name))


def _of_leaves(leaves: set[Path]) -> Fields:
    found: Fields = {}
    for path in sorted(leaves):
        holder = found
        for name in path:
            holder = holder.setdefault(name, {})
    return found


def _at(value: Any, path: Path) -> Any:
    """Return what stands at a path of a set of fields; None where nothing does."""
    for name in path:
        if name == ".":
            return value if value is None else True
        if name.startswith("f:"):
            value = value.get(name[2:]) if isinstance(value, Mapping) else None
        elif isinstance(value, list):
            value = next((one for one in value if _matches(one, name)), None)
        else:
            value = None
        if value is None:
            return None
    return value


def _matches(item: Any, name: str) -> bool:
    wanted = json.loads(name[2:])
    if name.startswith("k:"):
        return isinstance(item, Mapping) and all(
            item.get(key) == value for key, value in wanted.items()
        )
    return bool(item == wanted)


def updated(
    entries: list[Document], before: Document | None, after: Document, writer: Writer
) -> list[Document]:
    """Return managedFields after a create, an update or a patch."""
    mine = set(_leaves(_fields_of(after, writer.type_, dots=True)))
    changed = mine
    if before is not None:
        changed = {path for path in mine if _at(before, path) != _at(after, path)}
    there = mine | set(_leaves(_fields_of(after, writer.type_, dots=False)))
    kept: list[Document] = []
    own: set[Path] = set()
    for entry in entries:
        leaves = set(_leaves(entry["fieldsV1"]))
        is_own = _is_of(entry, writer, "Update")
        left = {path for path in leaves if path in there} - (
            set() if is_own else changed
        )
        if is_own and changed:
            own = left
        elif left == leaves:
            kept.append(entry)
        elif left:
            kept.append({**entry, "fieldsV1": _of_leaves(left)})
    if changed:
        kept.append(_entry(writer, "Update", changed | own))
    return _in_order(kept)


def _is_of(entry: Document, writer: Writer, operation: str) -> bool:
    return (
        entry.get("manager"),
        entry.get("operation"),
        entry.get("apiVersion"),
        entry.get("subresource", ""),
    ) == (writer.manager, operation, writer.version, writer.subresource)


def _entry(writer: Writer, operation: str, leaves: set[Path]) -> Document:
    entry = {
        "manager": writer.manager,
        "operation": operation,
        "apiVersion": writer.version,
        "time": writer.time,
        "fieldsType": "FieldsV1",
        "fieldsV1": _of_leaves(leaves),
    }
    return {**entry, "subresource": writer.subresource} if writer.subresource else entry


def _in_order(entries: list[Document]) -> list[Document]:
    """Return Apply before Update, the oldest first."""
    return sorted(
        entries, key=lambda e: (e["operation"], e.get("time", ""), e["manager"])
    )


def applied(
    entries: list[Document],
    live: Document,
    given: Document,
    writer: Writer,
    *,
    force: bool,
) -> tuple[Document, list[Document]]:
    """Return an object with what one manager wants of it, and its managedFields.

    Raises RefusalError for fields that others hold with other values.
    """
    entries = entries or _held_before(live, writer)
    wanted = set(_leaves(_fields_of(given, writer.type_, dots=False)))
    mine = next((e for e in entries if _is_of(e, writer, "Apply")), None)
    others = [entry for entry in entries if entry is not mine]
    changed = {path for path in wanted if _at(live, path) != _at(given, path)}
    taken = [(entry, changed & set(_leaves(entry["fieldsV1"]))) for entry in others]
    before = _last_applied(live) if writer.manager == _KUBECTL else None
    own = _settled(before, live, writer) if before is not None else set()
    conflicts = [(e, sorted(paths - own)) for e, paths in taken if paths - own]
    if conflicts and not force:
        raise _conflict(conflicts)
    merged = _merged(live, given, writer.type_)
    if before is not None:  # kubectl goes on from what it applied by itself before
        text = msgspec.json.encode(_plainly(given)).decode()
        merged["metadata"]["annotations"][LAST_APPLIED] = f"{text}\n"
    had = set(_leaves(mine["fieldsV1"])) if mine else set()
    held = {path for entry in others for path in _leaves(entry["fieldsV1"])}
    for path in sorted(had - wanted - held, key=len, reverse=True):
        _remove(merged, path)
    kept = []
    for entry, paths in taken:
        left = set(_leaves(entry["fieldsV1"])) - paths
        if left and paths:
            entry = {**entry, "fieldsV1": _of_leaves(left)}
        if left:
            kept.append(entry)
    if mine is not None and had == wanted and not changed:
        kept.append(mine)
    elif wanted:
        kept.append(_entry(writer, "Apply", wanted))
    return merged, _in_order(kept)


LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_KUBECTL = "kubectl"


def _last_applied(live: Document) -> Document | None:
    """Return what kubectl applied by itself before; None where it says nothing."""
    text = (live.get("metadata", {}).get("annotations") or {}).get(LAST_APPLIED)
    try:
        found = msgspec.json.decode(text) if text else None
    except (msgspec.DecodeError, TypeError):
        return None
    return found if isinstance(found, dict) else None


def _settled(before: Document, live: Document, writer: Writer) -> set[Path]:
    """Return the fields that are as kubectl applied them: it may change them."""
    leaves = set(_leaves(_fields_of(before, writer.type_, dots=False)))
    return {path for path in leaves if _at(live, path) == _at(before, path)}


def _plainly(given: Document) -> Document:
    """Return a configuration with its names in order, as it is noted."""
    ordered = {name: given[name] for name in sorted(given)}
    metadata = ordered.get("metadata") or {}
    kept = {n: metadata[n] for n in sorted(metadata) if n != "managedFields"}
    return {**ordered, "metadata": kept}


def _held_before(live: Document, writer: Writer) -> list[Document]:
    """Return who holds what was there before anybody applied."""
    leaves = set(_leaves(_fields_of(live, writer.type_, dots=True)))
    first = Writer(
        manager=FIRST, version=writer.version, time=writer.time, type_=writer.type_
    )
    return [_entry(first, "Update", leaves)] if leaves else []


def _conflict(conflicts: list[tuple[Document, list[Path]]]) -> refusals.RefusalError:
    causes = []
    lines = []
    for entry, paths in conflicts:
        by = f'"{entry["manager"]}"'
        if entry["operation"] != "Apply":
            by += f" using {entry['apiVersion']}"
        shown = [_shown(path) for path in paths]
        causes += [
            {
                "reason": "FieldManagerConflict",
                "message": f"conflict with {by}",
                "field": field,
            }
            for field in shown
        ]
        if len(shown) == 1:
            lines.append(f"conflict with {by}: {shown[0]}")
        else:
            listed = "".join(f"\n- {field}" for field in shown)
            lines.append(f"conflicts with {by}:{listed}")
    count = len(causes)
    said = "conflict" if count == 1 else "conflicts"
    newline = "\n"
    message = f"Apply failed with {count} {said}: {newline.join(lines)}"
    return refusals.RefusalError(409, "Conflict", message, {"causes": causes})


def _shown(path: Path) -> str:
    found = ""
    for name in path:
        if name.startswith("f:"):
            found += f".{name[2:]}"
        elif name.startswith("k:"):
            keys = json.loads(name[2:])
            listed = ",".join(f"{key}={json.dumps(v)}" for key, v in keys.items())
            found += f"[{listed}]"
        elif name.startswith("v:"):
            found += f"[={name[2:]}]"
    return found


def _merged(live: Document, given: Document, type_: str) -> Document:
    found = dict(live)
    for name, value in given.items():
        field = _field(type_, name)
        if name == "metadata":
            field = _META
        found[name] = _laid(live.get(name), value, field)
    return copy.deepcopy(found)


def _laid(live: Any, given: Any, field: Field) -> Any:
    of = schemas.bare(field.type)
    atomic = field.map_type == "atomic" or field.list_type == "atomic"
    if isinstance(given, Mapping) and isinstance(live, Mapping) and not atomic:
        is_map = field.type.startswith("map ") or field.type == "any"
        found = dict(live)
        for name, value in given.items():
            below = Field(type=of) if is_map else _field(of, name)
            found[name] = _laid(live.get(name), value, below)
        return found
    if isinstance(given, list) and isinstance(live, list) and not atomic:
        if field.list_type == "set":
            return [*live, *(one for one in given if one not in live)]
        if field.list_type == "map":
            return _laid_items(live, given, field)
    return given


def _laid_items(live: list[Any], given: list[Any], field: Field) -> list[Any]:
    """Return the items of both by their keys: those given first, in their order."""
    item = Field(type=field.type.removeprefix("[]"))
    there = {_key(one, field): one for one in live}
    found = [_laid(there.pop(_key(one, field), None), one, item) for one in given]
    return [*found, *there.values()]


def _remove(document: Any, path: Path) -> None:
    """Take away what stands at a path, and what is empty above it."""
    *above, last = path
    holder = document
    for name in above:
        holder = _below(holder, name)
        if holder is None:
            return
    if last == ".":
        if above and not holder:
            _remove(document, tuple(above))
    elif last.startswith("f:") and isinstance(holder, dict):
        holder.pop(last[2:], None)
        if not holder and above and above[-1] not in ("f:metadata", "f:spec"):
            _remove(document, tuple(above))
    elif isinstance(holder, list):
        holder[:] = [one for one in holder if not _matches(one, last)]


def _below(holder: Any, name: str) -> Any:
    if name.startswith("f:"):
        return holder.get(name[2:]) if isinstance(holder, dict) else None
    if isinstance(holder, list):
        return next((one for one in holder if _matches(one, name)), None)
    return None
