"""`python -m scheduler rerun`: a recording's input, run again."""

from __future__ import annotations

import argparse
import gzip
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

import msgspec

from scheduler.errors import SchedulerError
from scheduler.recordings.recording import (
    Attempts,
    Recording,
    read_arrivals,
    read_attempts,
    read_events,
)
from scheduler.recordings.rerun import rerun
from scheduler.recordings.worlds import Source
from scheduler.records.latencies import INSTANT, USUAL

START = re.compile(r"t=0 \((\S+?)\)")
_SNAPSHOT = re.compile(r"(?:snapshot|metrics)-(\d+)\.(?:json|txt)\.gz")


def main(arguments: Sequence[str], out: TextIO | None = None) -> int:
    """Run a recording again and print one closing line; 2 on bad input."""
    out = out or sys.stdout
    options = _parser().parse_args(arguments)
    try:
        recording = read_folder(options.folder)
        found = rerun(
            recording,
            _simulation(options),
            measured=options.latencies == "recorded",
            seed=options.seed,
            snapshot=read_snapshot(options.folder, options.snapshot),
        )
    except (SchedulerError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    out.write(f"{found}\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m scheduler rerun",
        description="Run a recording's queues, nodes, arrivals and run times again, "
        "and say how near the admissions are to those that were recorded.",
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument(
        "--latencies",
        choices=("default", "recorded", "none"),
        default="default",
        help="how long steps take: the defaults of a policy, as measured from the "
        "recording's watch events, or no time at all",
    )
    parser.add_argument(
        "--from",
        dest="snapshot",
        metavar="SNAPSHOT",
        help="go on from this snapshot of the folder (a file, or its second) with the "
        "arrivals after it, instead of from t=0",
    )
    parser.add_argument("--seed", type=int, default=1)
    return parser


def _simulation(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings; the arrivals are those of Workloads that exist."""
    if options.latencies == "none":
        return {"latencies": None}
    given = msgspec.structs.replace(USUAL, workload_creation=INSTANT)
    return {"latencies": msgspec.to_builtins(given)}


def read_folder(folder: Path) -> Recording:
    """Read a recording. Raises SchedulerError that names what is missing."""
    readme = text_of(folder / "README.md")
    start = START.search(readme)
    if start is None:
        raise SchedulerError(f"{folder}/README.md: expected t=0 (TIME), found none")
    manifests = sorted((folder / "manifests").glob("*.yaml"))
    if not manifests:
        raise SchedulerError(f"{folder}/manifests: expected YAML files, found none")
    sources = [(path.name, text_of(path)) for path in manifests]
    if (folder / "config.yaml").is_file():
        sources.append(("config.yaml", text_of(folder / "config.yaml")))
    watch = folder / "watch.jsonl.gz"
    with gzip.open(watch) as lines:
        events = list(read_events(lines, str(watch)))
    arrivals = folder / "arrivals.json"
    return Recording(
        name=folder.name,
        start=start[1],
        sources=sources,
        arrivals=read_arrivals(arrivals.read_bytes(), str(arrivals)),
        events=events,
        standing=_standing(folder),
        attempts=_attempts(folder),
    )


def read_snapshot(folder: Path, given: str | None) -> Source | None:
    """Return a snapshot's name and text; `given` is a file, or its second.

    Raises SchedulerError that says which snapshots there are.
    """
    if given is None:
        return None
    name = f"snapshot-{given}.json.gz" if given.isdecimal() else given
    for path in (folder / name, Path(name)):
        if path.is_file():
            data = path.read_bytes()
            text = gzip.decompress(data) if path.suffix == ".gz" else data
            return path.name.removesuffix(".gz"), text.decode()
    known = [path.name for path in _by_second(folder, "snapshot-*.json.gz")]
    raise SchedulerError(
        f"{folder}: expected one of {', '.join(known) or 'its snapshots (none is there)'}, "
        f"got {given!r}"
    )


def text_of(path: Path) -> str:
    """Return a file's text; raises SchedulerError where there is none."""
    if not path.is_file():
        raise SchedulerError(f"{path}: expected a file of a recording, found none")
    return path.read_text(encoding="utf-8")


def _by_second(folder: Path, pattern: str) -> list[Path]:
    """Return the files of this pattern by their second."""
    paths = [p for p in folder.glob(pattern) if _SNAPSHOT.fullmatch(p.name)]
    return sorted(paths, key=_second)


def _second(path: Path) -> int:
    match = _SNAPSHOT.fullmatch(path.name)
    return int(match[1]) if match else 0


def _standing(folder: Path) -> list[dict[str, Any]]:
    """Return the pods that ran before the first Job came."""
    first = folder / "snapshot-0.json.gz"
    if not first.is_file():
        return []
    with gzip.open(first) as text:
        items = msgspec.json.decode(text.read())["items"]
    return [
        item for item in items if item["kind"] == "Pod" and item["spec"].get("nodeName")
    ]


def _attempts(folder: Path) -> list[tuple[int, Attempts]]:
    found = []
    for path in _by_second(folder, "metrics-*.txt.gz"):
        with gzip.open(path, "rt") as text:
            found.append((1000 * _second(path), read_attempts(text.read())))
    return found
