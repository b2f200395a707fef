"""Diffs as the bus brings them, and what is made of several before they are sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sandbox.page import diffs
from sandbox.page.diffs import decode_step, encode_step

#: Diffs that may wait for one client; beyond it gets a whole page instead.
MOST_WAITING = 256
#: This many at once are merged before they are sent.
MERGE_FROM = 3


class Message(NamedTuple):
    """A diff as it came from the bus: where it leads, and its JSON.

    `rewrites`: it gives the sandbox another past, which a page has to be asked for.
    """

    begin: int
    revision: int
    body: bytes
    rewrites: bool = False


def join(messages: Sequence[Message], revision: int) -> bool:
    """Return whether the diffs follow one another from `revision` on."""
    at = revision
    for message in messages:
        if message.begin != at:
            return False
        at = message.revision
    return True


def frames_of(messages: Sequence[Message]) -> list[str]:
    """Return the diffs as frames; many are merged into one."""
    if len(messages) < MERGE_FROM:
        return [message.body.decode() for message in messages]
    merged = diffs.merge([decode_step(message.body) for message in messages])
    return [encode_step(merged).decode()]
