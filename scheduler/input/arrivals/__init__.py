"""Arrival processes: from one manifest to many objects that come in time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol

import msgspec

from scheduler.input.manifests.loading.checking import apart
from scheduler.input.manifests.loading.loaded import Finding
from scheduler.model import durations, registry
from scheduler.model.annotations import ARRIVAL, RUNTIME
from scheduler.model.errors import ManifestError, PolicyError, QuantityError
from scheduler.model.problems import Wanted, expected, in_field
from scheduler.model.problems.validation import said_of_value
from scheduler.model.scenario import Arrival


@dataclass(frozen=True, slots=True, kw_only=True)
class Coming:
    """One object to come: when, and what is particular to it."""

    at_ms: int
    name: str = ""  # instead of a number behind the manifest's name
    runtime_ms: int | None = None
    manifest: dict[str, Any] | None = None  # instead of the arrival's own
    changes: dict[str, Any] = field(default_factory=dict)  # podSets requests etc.


#: Names of what arrived so far, by kind and namespace.
Taken = defaultdict[tuple[str, str], set[str]]


class ArrivalProcess(Protocol):
    """How arrivals follow one another."""

    def __call__(
        self, parameters: Any, *, seed: int, subject: str, files: dict[str, str]
    ) -> Iterator[Coming | Finding]:
        """Yield what comes, in order of time, and what is to be said of the input.

        `files` are texts beside it.
        """


def expand(
    arrival: Arrival,
    *,
    seed: int,
    ordinal: int,
    files: dict[str, str],
    start_ms: int = 0,
    most: int = 0,
) -> Iterator[dict[str, Any] | Finding]:
    """Yield the manifests of one arrival, each with its arrival annotation.

    Times count from `start_ms`. What the process says of its input is passed on.

    Raises PolicyError for unknown processes and parameters, and for more than `most`
    (0 = any number): none is made then.
    """
    process: ArrivalProcess = registry.lookup("arrival", arrival.process)
    parameters = _parameters(arrival)
    subject = str(_name(arrival) or ordinal)
    found = process(parameters, seed=seed, subject=subject, files=files)
    coming = list(islice(found, most + 1) if most else found)
    if most and len(coming) > most:
        said = expected(Wanted.AT_MOST_OBJECTS.said(most=most), "more")
        raise PolicyError(said, f"arrival {arrival.process}")
    number = 0
    for one in coming:
        if isinstance(one, Finding):
            yield one
        else:
            number += 1
            yield _manifest(arrival, one, number, start_ms)


def length_ms(text: str, place: str) -> int:
    """Return a length of time of a process, "2d", in ms; `place` is its parameter's.

    Raises PolicyError for what is none, or negative.
    """
    try:
        length = durations.span_ms(text)
    except QuantityError as error:
        raise PolicyError(error.said, place) from error
    if length < 0:
        raise PolicyError(expected(Wanted.AT_LEAST.said(least="0s"), text), place)
    return length


def name_apart(manifest: dict[str, Any], taken: Taken) -> None:
    """Put a number behind the name of what arrives where an earlier arrival has it."""
    metadata = manifest["metadata"]
    of = str(manifest.get("kind")), str(metadata.get("namespace") or "default")
    metadata["name"] = apart(str(metadata["name"]), taken[of])


def _parameters(arrival: Arrival) -> Any:
    entry = next(e for e in registry.entries("arrival") if e.name == arrival.process)
    try:
        return msgspec.convert(arrival.parameters, entry.parameters)
    except msgspec.ValidationError as error:
        raise PolicyError(
            said_of_value(str(error)), f"arrival {arrival.process}"
        ) from error


def _name(arrival: Arrival) -> str | None:
    name: str | None = (arrival.object.get("metadata") or {}).get("name")
    return name


def _manifest(
    arrival: Arrival, one: Coming, number: int, start_ms: int
) -> dict[str, Any]:
    manifest: dict[str, Any] = msgspec.to_builtins(one.manifest or arrival.object)
    metadata = manifest.setdefault("metadata", {})
    if not isinstance(metadata, dict):
        raise ManifestError(
            in_field("arrival: object.metadata", expected(Wanted.OBJECT))
        )
    metadata["name"] = one.name or f"{metadata.get('name', 'job')}-{number:04d}"
    annotations = metadata.setdefault("annotations", {})
    annotations[ARRIVAL] = f"{start_ms + one.at_ms}ms"
    if one.runtime_ms is not None:
        annotations[RUNTIME] = f"{one.runtime_ms}ms"
    return manifest
