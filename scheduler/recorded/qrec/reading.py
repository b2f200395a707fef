"""A `.qrec` file as history: what stood at its begin, and the events since.

The format is described in docs/recording.md#the-file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Annotated, Any, BinaryIO, Literal

import msgspec

from scheduler.input.manifests.releases import releases_named
from scheduler.model import ranges
from scheduler.model.errors import SchedulerError
from scheduler.model.problems import FileProblem, Wanted, expected, in_field
from scheduler.model.problems.validation import said_of_value
from scheduler.model.releases.release import TITLES, canonical
from scheduler.model.sentence import Sentence
from scheduler.recorded.qrec.frames import FrameReader

# ------------------------------------------------------------------------
# Claims of pods in a recording that lacks them: its pods must not wait for them.


_VOLUMES = ("persistentVolumeClaim", "ephemeral")
_DEVICES = frozenset({"ResourceClaim", "DeviceClass", "ResourceSlice"})


def lacking_claims(manifests: Iterable[Manifest]) -> frozenset[str]:
    """Return the kinds of claims without which the pods are to be taken.

    Those that were not recorded, or not what they are bound to: who may list a
    namespace's claims need not be allowed to list volumes, classes and slices.
    """
    kinds, bound = set(), False
    for manifest in manifests:
        kinds.add(manifest["kind"])
        if manifest["kind"] == "PersistentVolumeClaim":
            bound = bound or bool((manifest.get("spec") or {}).get("volumeName"))
    volumes = {"PersistentVolumeClaim", *(("PersistentVolume",) if bound else ())}
    needed = {"PersistentVolumeClaim": volumes, "ResourceClaim": _DEVICES}
    return frozenset(kind for kind, all_of in needed.items() if not all_of <= kinds)


def without_claims(manifest: Manifest, absent: frozenset[str]) -> Manifest:
    """Return an object without what its pods claim of the absent kinds.

    Itself where there is nothing. Cost: that of its size, of a Pod that of its claims.
    """
    if manifest["kind"] == "Pod":
        spec = manifest.get("spec")
        kept = _pod(spec, absent) if isinstance(spec, dict) else spec
        return manifest if kept is spec else {**manifest, "spec": kept}
    found: Manifest = _anything(manifest, absent)
    return found


def _pod(spec: dict[str, Any], absent: frozenset[str]) -> dict[str, Any]:
    if "ResourceClaim" in absent and spec.get("resourceClaims"):
        spec = {n: part for n, part in spec.items() if n != "resourceClaims"}
    volumes = spec.get("volumes")
    if "PersistentVolumeClaim" not in absent or not isinstance(volumes, list):
        return spec
    kept = [one for one in volumes if not any(name in one for name in _VOLUMES)]
    return spec if len(kept) == len(volumes) else {**spec, "volumes": kept}


def _anything(value: Any, absent: frozenset[str]) -> Any:
    if isinstance(value, list):
        items = [_anything(item, absent) for item in value]
        same = all(a is b for a, b in zip(items, value, strict=True))
        return value if same else items
    if not isinstance(value, dict):
        return value
    found = {name: _anything(part, absent) for name, part in value.items()}
    if any(found[name] is not part for name, part in value.items()):
        value = found
    return _pod(value, absent) if "containers" in value else value


# ------------------------------------------------------------------------
# The lines of a `.qrec` file: what was listed, what changed, what was missed.


Manifest = dict[str, Any]
Type = Literal[
    "BEGIN",  # a recorder began to write; `header` says what
    "LISTED",  # an object of a list
    "SYNCED",  # the list of this kind is complete
    "ADDED",
    "MODIFIED",
    "DELETED",
    "LOST",  # the watch of this kind broke; `message` says why
    "BACK",  # it goes on; what it missed comes before, or follows at once
    "END",  # the recorder stopped in order
]
#: Clocks are no further apart: 10 years.
_MOST_SKEW_MS = 10 * 366 * 86_400_000
#: The types that carry an object and change what is known.
EVENTS = frozenset({"ADDED", "MODIFIED", "DELETED"})


class Header(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """What a recorder says of itself.

    `skew_ms` is the server's clock less the recorder's, to be added to `at`.
    `kinds` are those that are followed, `absent` those the cluster does not have
    or did not allow, with the reason. `resumed`: nobody recorded for a while before;
    what happened meanwhile shows as of the next complete lists. `releases` are those
    that the cluster said it runs, by scheduler.
    """

    cluster: str = ""
    recorder: str = ""
    skew_ms: Annotated[int, msgspec.Meta(ge=-_MOST_SKEW_MS, le=_MOST_SKEW_MS)] = 0
    kinds: list[str] = []
    absent: dict[str, str] = {}
    anonymised: bool = False
    part: int = 0
    resumed: bool = False
    releases: dict[str, str] = {}


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line. `at` is the time of receipt by the recorder's clock, RFC 3339."""

    at: str
    type: Type
    kind: str = ""
    object: Manifest | None = None
    header: Header | None = None
    message: str = ""


encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder(Entry).decode


def check_object(manifest: Any) -> Manifest:
    """Return what is an object as an API server sends it, as far as it names itself.

    Raises SchedulerError for what has no kind and name, or parts that are no objects.
    """
    if not isinstance(manifest, dict):
        raise SchedulerError(expected(Wanted.OBJECT, str(manifest)[:40]))
    for part in ("metadata", "spec", "status", "data"):
        if not isinstance(manifest.get(part) or {}, dict):
            raise SchedulerError(
                in_field(part, expected(Wanted.OBJECT, str(manifest[part])[:40]))
            )
    metadata = manifest.get("metadata") or {}
    for place, text in (
        ("kind", manifest.get("kind")),
        ("metadata.name", metadata.get("name")),
        ("metadata.namespace", metadata.get("namespace", "-")),
    ):
        if not isinstance(text, str) or not text:
            raise SchedulerError(in_field(place, expected(Wanted.TEXT, str(text)[:40])))
    _check_storable(manifest)
    return manifest


def _check_storable(manifest: Manifest) -> None:
    """Refuse what no database holds: longer numbers, NUL, half a surrogate pair."""
    try:
        msgspec.msgpack.encode(manifest)
        text = msgspec.json.encode(manifest)
    except (OverflowError, ValueError, RecursionError) as error:
        raise SchedulerError(f"{manifest['kind']}: cannot be kept: {error}") from error
    if b"\\u0000" in text:
        raise SchedulerError(in_field(manifest["kind"], FileProblem.NUL.said()))


# ------------------------------------------------------------------------
# A `.qrec` file as history: what stood at its begin, and the events since.


Place = tuple[str, str, str]  # kind, namespace, name
#: The kind of a gap in which nothing was recorded.
ALL = "*"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class RecordedChange:
    """One change, `at_us` by the cluster's clock (microseconds since the epoch)."""

    at_us: int
    type: str
    object: Manifest


@dataclass(slots=True)
class Followed:
    """What a recorder saw. `standing` is as of `start_us`, the events come after.

    `gaps` are the times in which the watch of a kind was broken: (from, to, kind,
    why); what happened in one is seen at its end.
    """

    header: Header = field(default_factory=Header)
    start_us: int = 0
    standing: list[Manifest] = field(default_factory=list)
    events: list[RecordedChange] = field(default_factory=list)
    gaps: list[tuple[int, int, str, str]] = field(default_factory=list)
    #: Kinds of claims that pods were taken without, as the recording lacks them.
    without: frozenset[str] = frozenset()

    def releases(self) -> dict[str, str]:
        """Return what ran there, as far as it is known here: as the recorder was told,
        else as image tags and labels of controllers say.
        """
        found = releases_named(self.standing)
        for scheduler in TITLES:
            said = self.header.releases.get(scheduler, "")
            found[scheduler] = canonical(scheduler, said) or found.get(scheduler, "")
        return {scheduler: version for scheduler, version in found.items() if version}

    def leave_out_claims(self) -> None:
        """Take claims out of pods where the recording lacks them or their volumes.

        `without` says then which, where a pod has any.
        """
        changed = (event.object for event in self.events)
        absent = lacking_claims(chain(self.standing, changed))
        self.without = frozenset(kind for kind in absent if self._leave_out(kind))

    def _leave_out(self, kind: str) -> bool:
        """Take claims of a kind out of pods; return whether any had one."""
        absent = frozenset({kind})
        given = [*self.standing, *(event.object for event in self.events)]
        taken = [without_claims(one, absent) for one in given]
        if all(one is other for one, other in zip(given, taken, strict=True)):
            return False
        size = len(self.standing)
        self.standing = taken[:size]
        self.events = [
            RecordedChange(event.at_us, event.type, one)
            for event, one in zip(self.events, taken[size:], strict=True)
        ]
        return True


def read_entries(stream: BinaryIO, name: str) -> Iterator[Entry]:
    """Yield the entries of a file; a torn end is passed over.

    Raises SchedulerError, naming the file and the entry, on what is no entry.
    """
    number = 0
    for lines in FrameReader(stream, name):
        for line in lines:
            number += 1
            yield read_entry(line, name, number)


def read_entry(line: bytes, name: str, number: int) -> Entry:
    """Return an entry. Raises SchedulerError, naming the file and its number."""
    try:
        entry = decode(line)
        if entry.object is not None:
            check_object(entry.object)
        received_us(entry.at)
    except (msgspec.MsgspecError, SchedulerError, RecursionError) as error:
        raise SchedulerError(
            in_field(f"{name}: entry {number}", _said_of(error))
        ) from error
    return entry


def _said_of(error: Exception) -> Sentence:
    known = error.said if isinstance(error, SchedulerError) else None
    return known or said_of_value(str(error))


def read_followed(entries: Iterable[Entry]) -> Followed:
    """Return the history of these entries, of one file or of its parts in order.

    Raises SchedulerError when the first lists never became complete.
    """
    state = _Reading()
    for entry in entries:
        state.take(entry)
    if state.synced_at is None:
        raise SchedulerError(
            FileProblem.NO_LISTS.said(
                known=", ".join(sorted(state.unlisted)) or "everything"
            )
        )
    state.found.leave_out_claims()
    return state.found


class _Reading:
    """What is known while entries are read.

    A recorder that begins again lists everything again: what differs from what is
    known becomes an event, so that the history has no seam.
    """

    def __init__(self) -> None:
        self.found = Followed()
        self.objects: dict[Place, Manifest] = {}
        self.synced_at: int | None = None
        self.unlisted: set[str] = set()
        self.listed: dict[str, set[Place]] = {}
        self.skew_us = 0
        self.last_us = 0
        self.lost: dict[str, tuple[int, str]] = {}

    def take(self, entry: Entry) -> None:
        at = received_us(entry.at) + self.skew_us
        if entry.type == "BEGIN" and entry.header is not None:
            self._begin(entry.header)
        elif entry.type == "SYNCED":
            self._synced(entry.kind, at)
        elif entry.type == "LISTED" and entry.object is not None:
            place = place_of(entry.object)
            self.listed.setdefault(place[0], set()).add(place)
            self._see(at, place, entry.object)
        elif entry.type in EVENTS and entry.object is not None:
            gone = entry.type == "DELETED"
            self._see(at, place_of(entry.object), None if gone else entry.object)
        else:
            self._gap(entry, at)
        self.last_us = max(at, self.last_us)

    def _begin(self, header: Header) -> None:
        self.skew_us = 1000 * header.skew_ms
        self.listed.clear()
        self.unlisted = set(header.kinds)
        if self.synced_at is None:
            self.found.header = header
        elif header.resumed:
            self.lost[ALL] = self.last_us, "the recorder did not run"

    def _synced(self, kind: str, at: int) -> None:
        listed = self.listed.pop(kind, set())
        known = [place for place in self.objects if place[0] == kind]
        for place in known:
            if place not in listed:
                self._see(at, place, None)
        self._end_gap(kind, at)
        self.unlisted.discard(kind)
        if not self.unlisted:
            self._end_gap(ALL, at)
            if self.synced_at is None:
                self.synced_at = self.found.start_us = at
                self.found.standing = list(self.objects.values())

    def _see(self, at: int, place: Place, after: Manifest | None) -> None:
        before = self.objects.get(place)
        if after is None:
            self.objects.pop(place, None)
        else:
            self.objects[place] = after
        kind = _change(before, after)
        if kind and self.synced_at is not None:
            self.found.events.append(RecordedChange(at, kind, after or before or {}))

    def _gap(self, entry: Entry, at: int) -> None:
        if entry.type == "LOST":
            self.lost.setdefault(entry.kind, (at, entry.message))
        elif entry.type == "BACK":
            self._end_gap(entry.kind, at)

    def _end_gap(self, kind: str, at: int) -> None:
        if kind in self.lost:
            since, why = self.lost.pop(kind)
            self.found.gaps.append((since, at, kind, why))


def _change(before: Manifest | None, after: Manifest | None) -> str:
    """Return the type of a change; empty where nothing changed."""
    if after is None:
        return "DELETED" if before is not None else ""
    if before is None:
        return "ADDED"
    return "MODIFIED" if before != after else ""


def place_of(manifest: Manifest) -> Place:
    """Return kind, namespace and name."""
    metadata = manifest["metadata"]
    return manifest["kind"], metadata.get("namespace", ""), metadata["name"]


def stamp(us: int) -> str:
    """Return a time of an entry, from microseconds since the epoch."""
    return (_EPOCH + timedelta(microseconds=us)).isoformat(timespec="microseconds")


def received_us(text: str) -> int:
    """Return an entry's time in microseconds since 1970. Raises SchedulerError."""
    try:
        us = (datetime.fromisoformat(text) - _EPOCH) // timedelta(microseconds=1)
    except (ValueError, TypeError, OverflowError) as error:
        problem = in_field("at", expected(Wanted.ZONED_TIME, text[:40]))
        raise SchedulerError(problem) from error
    if us not in ranges.START_TIME_US:
        raise SchedulerError(
            in_field(
                "at",
                expected(Wanted.TIME_WITHIN.said(least="1970", most="3000"), text[:40]),
            )
        )
    return us
