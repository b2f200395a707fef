"""The lines of a `.qrec` file: what was listed, what changed, what was missed.

The format is described in docs/recording.md#the-file.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

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
#: The types that carry an object and change what is known.
EVENTS = frozenset({"ADDED", "MODIFIED", "DELETED"})


class Header(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """What a recorder says of itself.

    `skew_ms` is the server's clock less the recorder's, to be added to `at`.
    `kinds` are those that are followed, `absent` those the cluster does not have
    or did not allow, with the reason. `resumed`: nobody recorded for a while before;
    what happened meanwhile shows as of the next complete lists.
    """

    cluster: str = ""
    recorder: str = ""
    skew_ms: int = 0
    kinds: list[str] = []
    absent: dict[str, str] = {}
    anonymised: bool = False
    part: int = 0
    resumed: bool = False


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
