"""Reading a recording that is one file (or its parts), as `shadow` needs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from scheduler.input.manifests.documents import read_documents
from scheduler.model.errors import SchedulerError
from scheduler.model.kueue.configuration import Settings, read_configuration
from scheduler.model.releases.release import Release
from scheduler.recorded.followed import Source
from scheduler.recorded.qrec.frames import MAGIC
from scheduler.recorded.qrec.reading import Entry, Followed, read_entries, read_followed
from scheduler.recorded.qrec.watch_events import read_watch_events
from scheduler.recorded.shadow.decisions import History

_US_PER_MS = 1000


def read_file(path: Path) -> Followed:
    """Read `PATH.qrec` with its parts, or what `kubectl get --watch` printed.

    Raises SchedulerError, OSError.
    """
    with path.open("rb") as stream:
        is_ours = stream.read(len(MAGIC)) == MAGIC
    if is_ours:
        return read_followed(_parts(path))
    return read_followed(read_watch_events(path.read_text("utf-8"), str(path)))


def history_of(found: Followed) -> History:
    """Return the state of Kueue's objects at each event."""
    return History(
        found.standing,
        (
            ((seen.at_us - found.start_us) // _US_PER_MS, seen.type, seen.object)
            for seen in found.events
        ),
    )


def settings_of(configured: Sequence[Source], releases: Mapping[str, str]) -> Settings:
    """Return what a Configuration sets, with the defaults of the release that ran."""
    release = Release(**releases)
    for name, text in configured:
        [document] = read_documents(text, file=name)
        return read_configuration(document.data, release)
    return read_configuration({}, release)


def _parts(first: Path) -> Iterator[Entry]:
    number, path = 0, first
    while path.is_file():
        with path.open("rb") as stream:
            yield from read_entries(stream, str(path))
        number += 1
        path = first.with_suffix(f".{number}{first.suffix}")
    if number == 0:
        raise SchedulerError(f"{first}: expected a .qrec file, found none")
