"""Follows every kind of a cluster at once, and writes what is seen to one file."""

from __future__ import annotations

import contextlib
import hashlib
import os
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from django.utils import timezone

from sandbox.base.environment import make_private_file
from sandbox.base.errors import InvalidError
from sandbox.following.cluster import Cluster, ClusterError, releases_of
from sandbox.following.reflector import Reflector
from sandbox.following.resources import NOT_SERVED, Resource, scheduler_settings, served
from scheduler.model.errors import SchedulerError
from scheduler.recorded.qrec.frames import MAGIC, FrameReader, frame, slim
from scheduler.recorded.qrec.reading import Entry, Header, Type, encode

Json = dict[str, Any]
Rewrite = Callable[[Json], Json]
#: What was seen is on the disk after so long.
FLUSH_S = 1.0
#: Entries of one frame; a list of a large cluster becomes many frames.
MOST_ENTRIES = 2000
#: Entries that wait for the disk; the watches wait when there are more.
_WAITING = 20_000


@dataclass(slots=True)
class Progress:
    """What was recorded so far: entries by type, and kinds whose watch is broken.

    `unlisted` are kinds whose first list is not complete. `lag_s` is how long the
    oldest entry of the last frame waited until it was on the disk.
    """

    entries: Counter[str] = field(default_factory=Counter)
    unlisted: set[str] = field(default_factory=set)
    lost: dict[str, str] = field(default_factory=dict)
    kinds: int = 0
    absent: dict[str, str] = field(default_factory=dict)
    lag_s: float = 0.0

    @property
    def changes(self) -> int:
        """Return how many changes of objects were recorded."""
        return sum(self.entries[one] for one in ("ADDED", "MODIFIED", "DELETED"))


class Recorder:
    """Records a cluster into a file until `stop` is set.

    `rewrite` maps each object before it is written (the names of an anonymous
    recording). Memory: a resourceVersion per object, not the objects.
    """

    def __init__(
        self,
        cluster: Cluster,
        file: RecordingFile,
        *,
        rewrite: Rewrite | None = None,
        anonymised: bool = False,
    ) -> None:
        self.cluster = cluster
        self.file = file
        self.rewrite = rewrite or (lambda manifest: manifest)
        self.anonymised = anonymised
        self.stop = threading.Event()
        self.progress = Progress()
        self._skew_ms = 0
        self._releases: dict[str, str] = {}
        self._nodes: dict[str, bytes] = {}
        self._seen: queue.Queue[tuple[float, Entry]] = queue.Queue(_WAITING)

    def run(self, report: Callable[[Progress], None] = lambda progress: None) -> None:
        """Record until stopped. Raises ClusterError when nothing can be begun.

        Then no empty file is left. `report` is called about once a second, and each
        time that something was written.
        """
        try:
            resources, absent = served(self.cluster)
        except ClusterError:
            self.file.discard()
            raise
        self.progress.kinds, self.progress.absent = len(resources), absent
        self.progress.unlisted = {resource.kind for resource in resources}
        resumed = self.file.resumed
        while not self.stop.is_set():
            self._begin(resources, absent, resumed=resumed)
            resumed = False
            self._part(resources, report)
        self._write([Entry(_now(), "END")])
        self.file.close()

    def _begin(
        self, resources: list[Resource], absent: dict[str, str], *, resumed: bool
    ) -> None:
        with contextlib.suppress(ClusterError):  # away: as it was before
            self._skew_ms = self.cluster.skew_ms()
        with contextlib.suppress(ClusterError):
            self._releases = releases_of(self.cluster)
        texts, failed = scheduler_settings(self.cluster)
        self.progress.absent = {**absent, **failed}
        header = Header(
            cluster="" if self.anonymised else self.cluster.address,
            skew_ms=self._skew_ms,
            kinds=[resource.kind for resource in resources],
            absent={kind: self._said(why) for kind, why in absent.items()},
            anonymised=self.anonymised,
            part=self.file.part,
            resumed=resumed,
            releases=self._releases,
        )
        listed = [Entry(_now(), "LISTED", "ConfigMap", one) for one in texts]
        self._write([Entry(_now(), "BEGIN", header=header), *listed])

    def _said(self, why: str) -> str:
        """Return a server's sentence, but where names are mapped: it has some."""
        return why if why == NOT_SERVED or not self.anonymised else ""

    def _part(
        self, resources: list[Resource], report: Callable[[Progress], None]
    ) -> None:
        """Follow every kind until stopped, or until the part is full."""
        ended = threading.Event()
        for resource in resources:
            self._follow(resource, ended)
        try:
            while not self.stop.is_set() and not self.file.is_full:
                if entries := self._waiting():
                    self._write([entry for _, entry in entries])
                    since = min(at for at, _ in entries)
                    self.progress.lag_s = time.monotonic() - since
                report(self.progress)
        finally:
            ended.set()
            self.cluster.end_watches()
        self._drain()
        if not self.stop.is_set():
            self.file.rotate()

    def _follow(self, resource: Resource, ended: threading.Event) -> None:
        def take(kind: Type, manifest: Json | None, message: str) -> None:
            # What comes after the end is in the lists of the next part.
            entry = Entry(_now(), kind, resource.kind, manifest, message=message)
            seen = time.monotonic()
            while not ended.is_set():
                with contextlib.suppress(queue.Full):
                    self._seen.put((seen, entry), timeout=1)
                    return

        reflector = Reflector(self.cluster, resource, take, ended)
        name = f"follow-{resource.kind}"
        threading.Thread(target=reflector.run, name=name, daemon=True).start()

    def _waiting(self) -> list[tuple[float, Entry]]:
        """Return what came within the next second, or until a frame is full.

        Each with when it was seen, by this process's clock.
        """
        found: list[tuple[float, Entry]] = []
        end = time.monotonic() + FLUSH_S
        while len(found) < MOST_ENTRIES and (rest := end - time.monotonic()) > 0:
            if self.stop.is_set():
                break
            try:
                found.append(self._seen.get(timeout=min(rest, 0.2)))
            except queue.Empty:
                continue
        return found

    def _drain(self) -> None:
        """Write what had been seen when the part ended."""
        left = []
        while not self._seen.empty():
            left.append(self._seen.get()[1])
        if left:
            self._write(left)

    def _write(self, entries: list[Entry]) -> None:
        for entry in entries:
            self.progress.entries[entry.type] += 1
            if entry.type == "LOST":
                self.progress.lost[entry.kind] = entry.message
            elif entry.type in {"BACK", "SYNCED"}:
                self.progress.lost.pop(entry.kind, None)
            if entry.type == "SYNCED":
                self.progress.unlisted.discard(entry.kind)
        written = [self._written(entry) for entry in entries]
        self.file.append([encode(entry) for entry in written if self._is_news(entry)])

    def _written(self, entry: Entry) -> Entry:
        if entry.object is None:
            return msgspec.structs.replace(entry, message=self._said(entry.message))
        manifest = self.rewrite(slim(entry.object))
        return Entry(entry.at, entry.type, entry.kind, manifest)

    def _is_news(self, entry: Entry) -> bool:
        """Return False for a Node that reports what it reported before."""
        if entry.kind != "Node" or entry.object is None:
            return True
        metadata = entry.object["metadata"]
        if entry.type == "DELETED":
            return self._nodes.pop(metadata["name"], None) is not None
        same = {**entry.object, "metadata": {**metadata, "resourceVersion": ""}}
        digest = hashlib.blake2b(encode(same), digest_size=8).digest()
        before = self._nodes.get(metadata["name"])
        self._nodes[metadata["name"]] = digest
        return entry.type == "LISTED" or before != digest


def _now() -> str:
    return timezone.now().isoformat(timespec="microseconds")


# ------------------------------------------------------------------------
# The file that a recorder appends to: whole frames, rotated, safe against a crash.


#: A part is ended above this size, unless another is given.
ROTATE_BYTES = 256 * 1024 * 1024


class RecordingFile:
    """Appends frames to the newest part of a recording.

    `PATH.qrec` is the first part, `PATH.1.qrec` the next. `resumed` says that a
    recording was there; a torn end, left by a crash, is cut off first.
    Raises InvalidError for a file of another format.
    """

    def __init__(self, path: Path, rotate_bytes: int = ROTATE_BYTES) -> None:
        self.first = path
        self.rotate_bytes = rotate_bytes
        self.part = len(parts_of(path))
        self.resumed = self.part > 0
        self.part = max(0, self.part - 1)
        self.cut_bytes = self._cut() if self.resumed else 0
        self._open()

    @property
    def path(self) -> Path:
        """Return the part that is written now."""
        return part_path(self.first, self.part)

    @property
    def is_full(self) -> bool:
        """Return whether the part is above the size at which a new one begins."""
        return self._size() >= self.rotate_bytes

    def append(self, lines: Iterable[bytes]) -> None:
        """Write one frame, and wait until the disk has it."""
        self.stream.write(frame(lines))
        self.stream.flush()
        os.fsync(self.stream.fileno())

    def rotate(self) -> None:
        """End this part and begin the next."""
        self.close()
        self.part += 1
        self._open()

    def close(self) -> None:
        """Close the part."""
        self.stream.close()

    def discard(self) -> None:
        """Close the part, and leave no file where nothing was written to a new one."""
        self.stream.close()
        if self.path.stat().st_size <= len(MAGIC):
            self.path.unlink()

    def _open(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        make_private_file(self.path)
        self.stream = self.path.open("ab")
        if self._size() == 0:
            self.stream.write(MAGIC)

    def _size(self) -> int:
        return os.fstat(self.stream.fileno()).st_size

    def _cut(self) -> int:
        """Cut a torn end off; return how many bytes it had."""
        if self.path.stat().st_size < len(MAGIC):
            os.truncate(self.path, 0)
            return 0
        with self.path.open("rb") as stream:
            try:
                reader = FrameReader(stream, str(self.path))
            except SchedulerError as error:
                raise InvalidError(error.said) from error
            for _ in reader:
                pass
        size = self.path.stat().st_size
        os.truncate(self.path, reader.position)
        return size - reader.position


def part_path(first: Path, part: int) -> Path:
    """Return the path of a part; 0 is the first."""
    return first if part == 0 else first.with_suffix(f".{part}{first.suffix}")


def parts_of(first: Path) -> list[Path]:
    """Return the parts of a recording that are there, in order."""
    found: list[Path] = []
    while (path := part_path(first, len(found))).is_file():
        found.append(path)
    return found
