"""YAML to plain data, within limits: the only entrance for a text of YAML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import yaml

from scheduler.model.errors import ManifestError, SourceLocation
from scheduler.model.problems import NotYaml, Wanted, expected
from scheduler.model.problems.validation import said_of_yaml
from scheduler.model.texts.scalars import unchanged
from scheduler.model.texts.yaml_events import Bounds, Read, read_events, refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a text may cost, set by whoever runs the server."""

    bytes: int = 64 * 2**20
    depth: int = 64
    aliases: int = 1_000
    repeats: int = 200_000  # values that aliases add by repeating
    values: int = 10_000_000  # as written: about 100 bytes of memory each
    documents: int = 200_000
    objects: int = 1_000_000  # that arrivals and generators make, with those written
    pods: int = 1_000_000  # that one object makes; 0 = any number


DEFAULT_LIMITS = Limits()


def read_values(
    text: str, *, file: str = "input", limits: Limits = DEFAULT_LIMITS
) -> list[Any]:
    """Return the plain data of every document of a YAML text; None for an empty one.

    For what is no manifest: settings and patches. Raises ManifestError with file and
    line for broken YAML, duplicate keys and for what passes a limit.
    """
    if len(text.encode("utf-8", "surrogatepass")) > limits.bytes:
        raise refused(file, 1, f"more than {limits.bytes} bytes")
    return [read.data for read in read_each(text, file, limits)]


def read_value(text: str, *, file: str = "input") -> Any:
    """Return the plain data of a YAML text of one document; None where it is empty.

    Raises ManifestError as `read_values` does, and for a second document.
    """
    found = read_values(text, file=file)
    if len(found) > 1:
        problem = expected(Wanted.ONE_DOCUMENT, given=len(found))
        raise ManifestError(problem, place=SourceLocation(file=file, line=1))
    return found[0] if found else None


def read_each(text: str, file: str, limits: Limits) -> Iterator[Read]:
    """Yield the documents of a text, each read as whoever it is for reads it.

    Raises ManifestError with file and line.
    """
    text = text.removeprefix("\ufeff")
    bounds = Bounds(
        depth=limits.depth,
        aliases=limits.aliases,
        repeats=limits.repeats,
        values=limits.values,
        documents=limits.documents,
    )
    try:
        for read in read_events(text, file, bounds):
            if _is_queues(read.data):
                read = _with_texts(read, text, file, bounds)
            yield read
    except yaml.YAMLError as error:
        raise _broken(file, error) from error
    except (RecursionError, UnicodeError) as error:
        raise refused(file, 1, "nested or encoded beyond reading") from error


def _is_queues(data: Any) -> bool:
    return isinstance(data, dict) and "partitions" in data and "kind" not in data


def _with_texts(read: Read, text: str, file: str, bounds: Bounds) -> Read:
    """Read a queues.yaml once more as YuniKorn does, which knows what is a text."""
    again = text[read.span.begin : read.span.end]
    (named,) = read_events(again, file, bounds, unchanged)
    return replace(read, data=named.data)


def _broken(file: str, error: yaml.YAMLError) -> ManifestError:
    mark = getattr(error, "problem_mark", None)
    line = mark.line + 1 if mark is not None else 1
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    what = said_of_yaml(problem)
    if "cannot start any token" in problem:
        what = NotYaml.TABS.said(what=what)
    return ManifestError(
        NotYaml.KNOWN.said(what=what), place=SourceLocation(file=file, line=line)
    )
