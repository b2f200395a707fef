"""Reads a recording that runs again: the folder of one, or what a recorder followed."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from scheduler.cli.recording_folder import (
    BEGIN,
    Event,
    by_second_in,
    configuration_in,
    file_in,
    followed_of,
    items_in,
    lines_in,
    packed_in,
    read_events,
    read_start,
    second_of,
    text_in,
)
from scheduler.model.amounts import is_whole
from scheduler.model.errors import SchedulerError
from scheduler.recorded.absences import late_begin
from scheduler.recorded.followed import (
    Item,
    Source,
    as_given,
    configuration,
    list_of,
    run_times,
    state_at,
)
from scheduler.recorded.qrec.reading import Followed, Place, place_of, stamp
from tests.recorded.absences import not_replayed
from tests.recorded.arrivals import arrivals_of
from tests.recorded.recording import (
    MEASURED_KINDS,
    Attempts,
    Recording,
    read_arrivals,
    read_attempts,
)

_ALONE = "pods that ran before the first Job (of DaemonSets, say) are left out"


def read_folder(folder: Path) -> Recording:
    """Read a recording. Raises SchedulerError that names what is missing."""
    start = read_start(folder)
    manifests = sorted((folder / "manifests").glob("*.yaml"))
    if not manifests:
        raise SchedulerError(f"{folder}/manifests: expected YAML files, found none")
    sources = [(path.name, text_in(path)) for path in manifests]
    sources += configuration_in(folder)
    watch = folder / "watch.jsonl.gz"
    seen = list(read_events(lines_in(watch), str(watch)))
    events = [event for event in seen if event.object["kind"] in MEASURED_KINDS]
    if not events:
        raise SchedulerError(f"{watch}: expected events of Jobs, Workloads and Pods")
    arrivals = folder / "arrivals.json"
    first = folder / BEGIN
    items = items_in(first) if first.is_file() else []
    changes = ((event.type, event.object) for event in events)
    alone = [] if first.is_file() else [f"{first}: not there: {_ALONE}"]
    notes = alone or late_begin(items, changes, str(watch))
    return Recording(
        name=folder.name,
        start=start,
        sources=sources,
        arrivals=read_arrivals(file_in(arrivals).read_bytes(), str(arrivals)),
        events=events,
        standing=_standing(items),
        attempts=_attempts(folder),
        notes=notes + not_replayed(followed_of(start, items, seen), str(folder)),
    )


def read_snapshot(folder: Path, given: str | None) -> Source | None:
    """Return a snapshot's name and text; `given` is a file, or its second.

    Raises SchedulerError that says which snapshots there are.
    """
    if given is None:
        return None
    name = f"snapshot-{given}.json.gz" if is_whole(given) else given
    for path in (folder / name, Path(name)):
        if path.is_file():
            data = path.read_bytes()
            text = gzip.decompress(data) if path.suffix == ".gz" else data
            return path.name.removesuffix(".gz"), text.decode()
    known = [path.name for path in by_second_in(folder, "snapshot-*.json.gz")]
    raise SchedulerError(
        f"{folder}: expected one of {', '.join(known) or 'its snapshots'}, got {given}"
    )


def _standing(items: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the pods that ran before the first Job came."""
    return [
        item for item in items if item["kind"] == "Pod" and item["spec"].get("nodeName")
    ]


def _attempts(folder: Path) -> list[tuple[int, Attempts]]:
    return [
        (1000 * second_of(path), read_attempts(packed_in(path)))
        for path in by_second_in(folder, "metrics-*.txt.gz")
    ]


def recording_of(found: Followed, name: str) -> Recording:
    """Return the recording: its Jobs with the times they really ran, and its events.

    Only batch Jobs arrive in a run of it; `incident` has every kind.
    """
    times = run_times(found.events)
    jobs = [as_given(item, times) for item in _ever(found) if item["kind"] == "Job"]
    return Recording(
        name=name,
        start=stamp(found.start_us),
        sources=[*configuration(found), ("jobs.json", list_of(jobs))],
        arrivals=arrivals_of(found),
        events=[
            Event(at=stamp(seen.at_us), type=seen.type, object=seen.object)
            for seen in found.events
            if seen.object["kind"] in MEASURED_KINDS
        ],
        notes=not_replayed(found, name),
    )


def snapshot(found: Followed, at_us: int) -> Source:
    """Return everything that stood at an instant, as a List with status."""
    return "snapshot.json", list_of(state_at(found, at_us).values())


def _ever(found: Followed) -> Iterable[Item]:
    """Yield each object that ever was, as it was first."""
    first: dict[Place, Item] = {}
    for item in [*found.standing, *(seen.object for seen in found.events)]:
        first.setdefault(place_of(item), item)
    return first.values()
