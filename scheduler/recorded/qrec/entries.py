"""The lines of a `.qrec` file: what was listed, what changed, what was missed.

The format is described in docs/recording.md#the-file.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from scheduler.model.errors import SchedulerError
from scheduler.model.problems import FileProblem, Wanted, expected, in_field

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
