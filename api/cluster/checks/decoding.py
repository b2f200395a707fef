"""Whether the fields of an object are of the types that Go decodes them into."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from api.cluster import json_words, refusals
from api.cluster import json_words as base64_words
from api.cluster.resources import Resource
from scheduler.input.manifests.kinds import KUEUE
from scheduler.model import schemas
from scheduler.model.schemas.faults import is_quantity

QUANTITY = r"^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$"
_PLAIN: dict[str, tuple[Any, str]] = {
    "string": (str, "string"),
    "int32": (int, "int32"),
    "int64": (int, "int64"),
    "double": ((int, float), "float64"),
    "bool": (bool, "bool"),
    "bytes": (str, "[]uint8"),
    "Time": (str, "string"),
    "MicroTime": (str, "string"),
}


def problem_of(document: Mapping[str, Any], type_: str) -> str | None:
    """Return why the first field that cannot be decoded cannot; None when all can."""
    return next(_of_object(document, type_, ""), None)


def check(document: Mapping[str, Any], type_: str, resource: Resource) -> None:
    """Raise the 400 of the first field that cannot be decoded."""
    problem = problem_of(document, type_)
    if problem is not None:
        raise refusals.UndecodableError(resource.kind.kind, resource.version, problem)


def unknown_fields(value: Any, type_: str, path: str = "") -> Iterator[str]:
    """Yield the paths of what a published type does not have."""
    fields = schemas.fields_of(type_)
    if not fields or not isinstance(value, Mapping):
        return
    for name, inner in value.items():
        place = f"{path}.{name}" if path else str(name)
        field = fields.get(name)
        if field is None:
            yield place
            continue
        for step, item, of in _inside(inner, field.type):
            yield from unknown_fields(item, of, f"{place}{step}")


def _by_number(item: Any, number: int) -> str:
    del item
    return str(number)


def _inside(
    value: Any, type_: str, named: Callable[[Any, int], str] = _by_number
) -> Iterator[tuple[str, Any, str]]:
    """Yield (step of the path, value, type) of what a field holds, or of itself."""
    if type_.startswith("[]") and isinstance(value, list):
        for n, item in enumerate(value):
            yield f"[{named(item, n)}]", item, type_[2:]
    elif type_.startswith("map ") and isinstance(value, Mapping):
        for key, item in value.items():
            yield f".{key}", item, type_[4:]
    else:
        yield "", value, type_


def without_unknown(value: Any, type_: str, *, empty: bool = False) -> Any:
    """Return a value without fields that its published type does not have.

    Unless `empty`, as of custom resources, empty lists and maps go too where a server
    leaves them out.
    """
    fields = schemas.fields_of(type_)
    if not fields or not isinstance(value, Mapping):
        return value
    found = {}
    for name, inner in value.items():
        field = fields.get(name)
        if field is None:
            continue
        of = field.type
        if of.startswith(("[]", "map ")) and not (inner or field.always or empty):
            continue
        if of.startswith("[]") and isinstance(inner, list):
            inner = [without_unknown(item, of[2:], empty=empty) for item in inner]
        elif of.startswith("map ") and isinstance(inner, Mapping):
            inner = {
                key: without_unknown(item, of[4:], empty=empty)
                for key, item in inner.items()
            }
        elif isinstance(inner, Mapping):
            inner = without_unknown(inner, of, empty=empty)
        found[name] = inner
    return found


def untyped(value: Any, type_: str, path: str = "") -> Iterator[str]:
    """Yield what of a value is not of a published type, as an apply says it."""
    fields = schemas.fields_of(type_)
    if not fields:
        wanted = _PLAIN.get(type_, (None, ""))[1]
        shown = json_words.as_go(value)
        if wanted == "string" and not isinstance(value, str):
            yield f"{path}: expected string, got &value.valueUnstructured{{Value:{shown}}}"
        elif wanted == "bool" and not isinstance(value, bool):
            yield f"{path}: expected boolean, got &{{{shown}}}"
        elif wanted in ("int32", "int64", "float64") and not _is_number(value):
            yield f"{path}: expected numeric (int or float), got &{{{shown}}}"
        return
    if not isinstance(value, Mapping):
        return
    for name, inner in sorted(value.items()):
        place = f"{path}.{name}"
        field = fields.get(name)
        if field is None:
            yield f"{place}: field not declared in schema"
        elif inner is not None:
            for step, item, of in _inside(inner, field.type, _key):
                yield from untyped(item, of, f"{place}{step}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _key(item: Any, number: int) -> str:
    """Return how an item of a list is named: by its name, else by its place."""
    name = item.get("name") if isinstance(item, Mapping) else None
    return str(number) if name is None else f"name={json.dumps(name)}"


def _of_object(value: Any, type_: str, path: str) -> Iterator[str]:
    for name, field in schemas.fields_of(type_).items():
        given = value.get(name)
        if given is not None and name:
            inner = f"{path}.{name}" if path else name
            yield from _of_field(given, field.type, inner, type_)


def _of_field(value: Any, type_: str, path: str, holder: str) -> Iterator[str]:
    if type_.startswith("[]"):
        if not isinstance(value, list):
            yield _wrong(value, holder, path, _go(type_))
            return
        for item in value:
            if item is not None:
                yield from _of_field(item, type_[2:], path, holder)
    elif type_.startswith("map "):
        if not isinstance(value, Mapping):
            yield _wrong(value, holder, path, _go(type_))
            return
        for item in value.values():
            if item is not None:
                yield from _of_field(item, type_[4:], path, holder)
    elif type_ == "Quantity":
        if not is_quantity(value):
            yield f"quantities must match the regular expression '{QUANTITY}'"
    elif type_ == "IntOrString":
        if isinstance(value, bool) or not isinstance(value, int | str):
            yield _wrong(value, holder, path, "int32")
    elif schemas.fields_of(type_):
        if isinstance(value, Mapping):
            yield from _of_object(value, type_, path)
        else:
            yield _wrong(value, holder, path, _go(type_))
    elif type_ in _PLAIN:
        expected, name = _PLAIN[type_]
        if not isinstance(value, expected) or (
            isinstance(value, bool) and expected is not bool
        ):
            yield _wrong(
                value, holder, path, _named(path) if name == "string" else name
            )
        elif type_ == "bytes" and (at := base64_words.fault_of(value)) is not None:
            yield base64_words.illegal(at)


#: Fields of text that Go has types of their own for.
_TYPED = {
    "completionMode": "v1.CompletionMode",
    "concurrencyPolicy": "v1.ConcurrencyPolicy",
    "dnsPolicy": "v1.DNSPolicy",
    "effect": "v1.TaintEffect",
    "imagePullPolicy": "v1.PullPolicy",
    "podManagementPolicy": "v1.PodManagementPolicyType",
    "podReplacementPolicy": "v1.PodReplacementPolicy",
    "preemptionPolicy": "v1.PreemptionPolicy",
    "protocol": "v1.Protocol",
    "restartPolicy": "v1.RestartPolicy",
    "whenUnsatisfiable": "v1.UnsatisfiableConstraintAction",
}


def _named(path: str) -> str:
    """Return what Go calls the type of a field of text."""
    return _TYPED.get(path.rpartition(".")[2], "string")


#: What JSON calls a value -> what Go keeps it in.
_HELD = {"array": "slice", "object": "map", "string": "string", "bool": "bool"}


def unconverted(value: Any, type_: str) -> str | None:
    """Return why a strategic merge cannot be taken for a type; None where it can.

    There values are converted, not decoded, and the converter has words of its own.
    """
    return next(_unconverted(value, type_), None)


def _unconverted(value: Any, type_: str) -> Iterator[str]:
    held = _HELD.get(json_words.type_of(value)) or (
        "float64" if isinstance(value, float) else "int64"
    )
    if value is None:
        return
    if type_.startswith("[]"):
        if held != "slice":
            yield f"cannot restore slice from {held}"
            return
        for item in value:
            yield from _unconverted(item, type_[2:])
    elif type_.startswith("map "):
        if held != "map":
            yield f"cannot restore map from {held}"
            return
        for item in value.values():
            yield from _unconverted(item, type_[4:])
    elif type_ == "Quantity":
        if not is_quantity(value):
            yield f"quantities must match the regular expression '{QUANTITY}'"
    elif schemas.fields_of(type_):
        if held != "map":
            yield f"cannot restore struct from: {held}"
            return
        for name, field in schemas.fields_of(type_).items():
            if name and value.get(name) is not None:
                yield from _unconverted(value[name], field.type)
    elif type_ in _PLAIN and next(_of_field(value, type_, "", ""), None):
        name = _PLAIN[type_][1]
        if name == "string" and held in ("int64", "float64"):
            yield f"cannot convert {held} to string"
        else:
            yield f"unrecognized type: {name}"


def _wrong(value: Any, holder: str, path: str, type_: str) -> str:
    return (
        f"json: cannot unmarshal {json_words.type_of(value)} into Go struct field "
        f"{_struct(holder)}.{path} of type {type_}"
    )


def _struct(type_: str) -> str:
    """Return the name of a Go struct, of Kueue's definitions as it most likely is."""
    group, inner = type_.partition(f"{KUEUE}.")[1:]
    if not group:
        return type_.rpartition(".")[2]
    _, kind, *path = inner.split(".")
    if len(path) < 2:
        return kind + "".join(path).capitalize()
    if path[-1] == "namespaceSelector":
        return "LabelSelector"
    last = path[-1].removesuffix("s")
    return last[:1].upper() + last[1:]


def _go(type_: str) -> str:
    if type_.startswith("[]"):
        return f"[]{_go(type_[2:])}"
    if type_.startswith("map "):
        return f"map[string]{_go(type_[4:])}"
    if type_ in _PLAIN:
        return _PLAIN[type_][1]
    if type_.startswith(KUEUE):
        if type_.endswith(".namespaceSelector"):
            return "v1.LabelSelector"
        return f"{type_.removeprefix(KUEUE).split('.')[1]}.{_struct(type_)}"
    return ".".join(type_.rsplit(".", 2)[-2:])
