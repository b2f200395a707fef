"""Decision vectors: what the real schedulers decided, against what ours decides."""

from __future__ import annotations

import argparse
import difflib
import gzip
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

import msgspec

from scheduler.model.errors import SchedulerError

Vector = dict[str, Any]
_SHOWN = 10


class Reader(Protocol):
    """What a module of this package offers for its kind of vectors."""

    def handles(self, vector: Vector) -> bool:
        """Return whether this vector is of its kind, by the keys it has."""

    def run(self, vector: Vector) -> list[str]:
        """Return the differences; none means that the vector passes."""

    def show(self, vector: Vector) -> tuple[object, object]:
        """Return what is expected and what our engine does."""


@dataclass(slots=True)
class Suite:
    """The tally of one suite in one mode."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0  # of a mode that no reader knows
    failures: list[tuple[str, list[str]]] = field(default_factory=list)


def readers() -> list[Reader]:
    """Return a reader per kind of vector that this installation knows."""
    # Who replays one kind does not wait for the other schedulers to be imported.
    from tests.conformance import jobs, kube, kueue, kueue_topology, yunikorn

    known: list[Reader] = [jobs, kueue, kueue_topology, kube, yunikorn]
    return known


def vectors(path: Path) -> Iterator[Vector]:
    """Yield the vectors of a file of JSON lines, gzipped or not.

    Raises SchedulerError with file and line for what is not a JSON object.
    """
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield _decode(line, f"{path}:{number}")


def _decode(line: bytes, place: str) -> Vector:
    try:
        return msgspec.json.decode(line, type=Vector)
    except msgspec.MsgspecError as error:
        raise SchedulerError(f"{place}: expected a JSON object: {error}") from error


def reader_of(vector: Vector) -> Reader | None:
    """Return the reader for this vector; None for one of a mode that none knows.

    Raises SchedulerError for what is no vector: it has neither suite nor mode.
    """
    for reader in readers():
        if reader.handles(vector):
            return reader
    if "suite" in vector or "mode" in vector:
        return None
    raise SchedulerError(
        f"vector {vector.get('id', '?')!r}: expected the keys of a kueue, kube or "
        f"yunikorn vector, got {', '.join(sorted(vector)) or 'none'}"
    )


def main(arguments: Sequence[str]) -> int:
    """Run the command line; return 0 when everything passed, 1 when not, 2 on bad use."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.conformance",
        description="Replay decision vectors (JSON lines, .gz too).",
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--show", metavar="ID", help="print one vector side by side")
    options = parser.parse_args(arguments)
    try:
        if options.show:
            return _show(options.files, options.show)
        return _replay(options.files)
    except (OSError, EOFError, SchedulerError) as error:
        sys.stderr.write(f"{error}\n")
        return 2


def _replay(files: list[Path]) -> int:
    suites: dict[str, Suite] = {}
    for path in files:
        for vector in vectors(path):
            name = "  ".join(
                str(vector[key]) for key in ("suite", "mode") if key in vector
            )
            _tally(suites.setdefault(name, Suite()), vector)
    _table(suites, sys.stdout)
    return 1 if any(suite.failed for suite in suites.values()) else 0


def _tally(suite: Suite, vector: Vector) -> None:
    reader = reader_of(vector)
    if reader is None:
        suite.skipped += 1
        return
    differences = reader.run(vector)
    if not differences:
        suite.passed += 1
        return
    suite.failed += 1
    suite.failures.append((str(vector.get("id", "?")), differences))


def _table(suites: dict[str, Suite], out: IO[str]) -> None:
    width = max([len("suite"), *map(len, suites)])
    out.write(f"{'suite':<{width}}  passed  failed\n")
    for name, suite in suites.items():
        note = f"  {suite.skipped} skipped: unknown mode" if suite.skipped else ""
        out.write(f"{name:<{width}}  {suite.passed:>6}  {suite.failed:>6}{note}\n")
    for suite in suites.values():
        for identity, differences in suite.failures[:_SHOWN]:
            out.write(f"\n{identity}\n")
            out.writelines(f"  {line}\n" for line in differences[:_SHOWN])
    passed = sum(suite.passed for suite in suites.values())
    failed = sum(suite.failed for suite in suites.values())
    skipped = sum(suite.skipped for suite in suites.values())
    more = f", {skipped} skipped" if skipped else ""
    out.write(f"\n{passed} passed, {failed} failed{more}\n")


def _show(files: list[Path], identity: str) -> int:
    for path in files:
        for vector in vectors(path):
            if str(vector.get("id")) == identity:
                reader = reader_of(vector)
                if reader is None:
                    raise SchedulerError(f"vector {identity!r}: its mode is unknown")
                expected, actual = reader.show(vector)
                sys.stdout.writelines(_side_by_side(expected, actual))
                return 0
    raise SchedulerError(f"no vector {identity!r} in {', '.join(map(str, files))}")


def _side_by_side(expected: object, actual: object) -> Iterator[str]:
    """Yield two columns, lines that differ marked, long lines below each other."""
    left, right = _lines(expected), _lines(actual)
    width = min(60, max([len("expected"), *map(len, left)]))
    yield f"  {'expected':<{width}} | actual\n"
    matcher = difflib.SequenceMatcher(a=left, b=right, autojunk=False)
    for change, a, b, c, d in matcher.get_opcodes():
        mark = " " if change == "equal" else "!"
        for row in range(max(b - a, d - c)):
            one = left[a + row] if a + row < b else ""
            two = right[c + row] if c + row < d else ""
            yield f"{mark} {one:<{width}} | {two}\n"


def _lines(value: object) -> list[str]:
    text = msgspec.json.format(msgspec.json.encode(value, order="sorted"), indent=1)
    return text.decode().splitlines()
