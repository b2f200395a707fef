"""Reads scripts, and records of what a cluster showed when a script was played there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api.proving.playing import PATCHES, RESOURCES, Document, Seen
from scheduler.model.errors import SchedulerError
from scheduler.model.texts.values import read_value

_SUFFIXES = (".json", ".yaml", ".yml")


class ScriptError(Exception):
    """A file is no script; the message says where, what was expected and given."""


@dataclass(frozen=True, slots=True)
class Record:
    """A script, and what a cluster showed; `seen` is None where it was never played.

    `others` are plays that showed something else: its outcome is not one.
    """

    file: Path
    script: Document
    seen: Seen | None
    others: tuple[Seen, ...] = ()


def read(paths: list[Path]) -> list[Record]:
    """Return the scripts and records in files and folders, by name of the file.

    Raises ScriptError, and OSError for a file that cannot be read.
    """
    files = [file for path in paths for file in _files(path)]
    return [read_file(file) for file in files]


def read_file(file: Path) -> Record:
    """Return one script or record. Raises ScriptError, OSError."""
    try:
        given = read_value(file.read_text(), file=str(file))
    except (SchedulerError, UnicodeDecodeError) as error:
        raise ScriptError(str(error)) from error
    if not isinstance(given, dict):
        raise ScriptError(
            f"{file}: expected an object with `steps`, got {_kind(given)}"
        )
    seen: Any = None
    others: list[Any] = []
    if "script" in given:
        seen, others = given.get("seen"), given.get("others") or []
        given = given["script"]
        for one in [seen, *others]:
            if not isinstance(one, dict):
                raise ScriptError(f"{file}: seen: expected an object, got {_kind(one)}")
    return Record(file, _checked(file, given), seen, tuple(others))


def write(record: Record) -> None:
    """Write a record to its file."""
    document: dict[str, Any] = {"script": record.script, "seen": record.seen}
    if record.others:
        document["others"] = list(record.others)
    record.file.write_text(json.dumps(document, indent=1) + "\n")


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    found = sorted(one for one in path.iterdir() if one.suffix in _SUFFIXES)
    records = {one.stem for one in found if one.suffix == ".json"}
    # A record has its script in it: the YAML beside it is for reading.
    yield from (
        one for one in found if one.suffix == ".json" or one.stem not in records
    )


def _checked(file: Path, given: Any) -> Document:
    if not isinstance(given, dict):
        raise ScriptError(f"{file}: script: expected an object, got {_kind(given)}")
    steps = given.get("steps")
    if not isinstance(steps, list) or not steps:
        raise ScriptError(
            f"{file}: steps: expected a list of steps, got {_kind(steps)}"
        )
    for number, step in enumerate(steps):
        place = f"{file}: steps[{number}]"
        if not isinstance(step, dict) or len(step) != 1:
            raise ScriptError(
                f"{place}: expected one of {', '.join(_STEPS)}, got {_kind(step)}"
            )
        [(name, value)] = step.items()
        if name not in _STEPS:
            raise ScriptError(
                f"{place}: expected one of {', '.join(_STEPS)}, got {name}"
            )
        _STEPS[name](f"{place}.{name}", value)
    for field in ("config", "release"):
        if not isinstance(value := given.get(field) or {}, dict):
            raise ScriptError(
                f"{file}: {field}: expected an object, got {_kind(value)}"
            )
    return {**given, "name": given.get("name") or file.stem}


def _apply(place: str, value: Any) -> None:
    if not isinstance(value, list):
        raise ScriptError(f"{place}: expected a list of objects, got {_kind(value)}")
    for number, one in enumerate(value):
        here = f"{place}[{number}]"
        _has_kind(here, one)
        if not isinstance(one.get("apiVersion"), str):
            raise ScriptError(
                f"{here}.apiVersion: expected a version, got {one.get('apiVersion')!r}"
            )
        metadata = one.get("metadata")
        if not isinstance(metadata, dict) or not (
            metadata.get("name") or metadata.get("generateName")
        ):
            raise ScriptError(f"{here}.metadata.name: expected a name, got none")


def _delete(place: str, value: Any) -> None:
    _has_kind(place, value)
    _has(place, value, "name")


def _patch(place: str, value: Any) -> None:
    _has_kind(place, value)
    if not value.get("name"):
        _has(place, value, "of")
    if "body" not in value:
        raise ScriptError(f"{place}.body: expected the patch, got none")
    kind = value.get("type", "merge")
    if kind not in PATCHES:
        raise ScriptError(
            f"{place}.type: expected one of {', '.join(PATCHES)}, got {kind!r}"
        )


def _delete_of(place: str, value: Any) -> None:
    _has_kind(place, value)
    _has(place, value, "of")


def _advance(place: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise ScriptError(f"{place}: expected seconds above 0, got {value!r}")


def _text(place: str, value: Any) -> None:
    if not isinstance(value, str):
        raise ScriptError(f"{place}: expected a text, got {_kind(value)}")


def _config(place: str, value: Any) -> None:
    if not isinstance(value, str | dict):
        raise ScriptError(f"{place}: expected a queues.yaml, got {_kind(value)}")


_STEPS: dict[str, Callable[[str, Any], None]] = {
    "apply": _apply,
    "patch": _patch,
    "delete": _delete,
    "deletePodOf": _text,
    "deleteOf": _delete_of,
    "config": _config,
    "advance": _advance,
    "see": _text,
}


def _has_kind(place: str, value: Any) -> None:
    if not isinstance(value, dict):
        raise ScriptError(f"{place}: expected an object, got {_kind(value)}")
    kind = value.get("kind")
    if kind not in RESOURCES:
        raise ScriptError(
            f"{place}.kind: expected one of {', '.join(RESOURCES)}, got {kind!r}"
        )


def _has(place: str, value: Any, name: str) -> None:
    if not isinstance(value.get(name), str):
        raise ScriptError(f"{place}.{name}: expected a name, got {value.get(name)!r}")


def _kind(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return f"an object with {', '.join(map(str, value)) or 'nothing'}"
    return f"{type(value).__name__} {str(value)[:40]!r}"
