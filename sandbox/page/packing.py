"""Diffs, pages and worlds as bytes for storing: compressed, quick to open.

The first byte is the version of what is inside; what an older version wrote is
brought forward when it is opened, step by step, and stays as it is on disk. Version
0 had no such byte: a compressed text begins with `x`. A world says its format itself.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

import msgspec

from sandbox.page.diffs import (
    Page,
    Patch,
    RevisionDiff,
    Row,
    decode_patch,
    decode_step,
    encode_step,
)
from sandbox.page.rows.samples import whole_sample
from scheduler.engine.world import World
from scheduler.input.files.inflating import inflated_size, inflated_values

VERSION = 7
_MARK = bytes([VERSION])
_FIRST = ord("x")  # of what zlib writes
_LEVEL = 1  # the quickest: a fifth of the size already
_encode = msgspec.msgpack.Encoder().encode
_decode_page = msgspec.msgpack.Decoder(dict[str, dict[str, object]]).decode


def _first_tick(row: Row) -> None:
    """Version 0 let no history go."""
    if row.get("kind") == "Sandbox":
        row.setdefault("firstTick", 0)


def _conditions(row: Row) -> None:
    """Version 1 had one condition of a Workload alone, in `reason` and `message`."""
    if row.get("kind") == "Workload":
        row.setdefault("conditions", [])


def _linked(row: Row) -> None:
    """Version 2 had no cost of nodes that come and go, and no worker clusters."""
    if row.get("kind") == "Sandbox":
        row.setdefault("cost", None)
        row.setdefault("costPerHour", None)
    elif row.get("kind") == "Workload":
        for name, value in (
            ("checks", []),
            ("worker", ""),
            ("tried", []),
            ("copy", False),
        ):
            row.setdefault(name, value)


def _idle_said(row: Row) -> None:
    """Version 3 said what has no effect in English alone."""
    if row.get("kind") == "Sandbox":
        row.setdefault("notSimulatedSaid", [])


def _problem_said(row: Row) -> None:
    """Version 4 said in English alone why time stopped."""
    if row.get("kind") == "Sandbox":
        row.setdefault("problemSaid", [])


def _held(row: Row) -> None:
    """Version 5 did not show pods that are assumed on a node."""
    if row.get("kind") == "Node":
        row.setdefault("held", {})
        row.setdefault("heldPods", 0)
        row.setdefault("lockedBy", "")
    elif row.get("kind") == "Pod":
        row.setdefault("heldOn", "")
        row.setdefault("permitBy", "")
        row.setdefault("permitUntilMs", None)


def _finished(row: Row) -> None:
    """Version 6 did not say when a Workload finished, but in its conditions."""
    if row.get("kind") == "Workload":
        row.setdefault("finishedMs", _finished_ms(row["conditions"]))


def _finished_ms(conditions: list[Row]) -> int | None:
    ends = (one for one in conditions if one["type"] == "Finished" and one["status"])
    return next((one["sinceMs"] for one in ends), None)


def _changed_finished(key: str, changed: Row) -> None:
    if key.startswith("Workload/") and "conditions" in changed:
        changed.setdefault("finishedMs", _finished_ms(changed["conditions"]))


#: Version -> what brings one whole row to the next version.
STEPS: tuple[Callable[[Row], None], ...] = (
    _first_tick,
    _conditions,
    _linked,
    _idle_said,
    _problem_said,
    _held,
    _finished,
)
#: Version -> what brings the changed fields of a row, by its key, to the next version.
CHANGE_STEPS: dict[int, Callable[[str, Row], None]] = {6: _changed_finished}
assert len(STEPS) == VERSION, "a new version needs its step"


class FormatError(ValueError):
    """Bytes of a later version, or too large when opened."""


def _seal(body: bytes) -> bytes:
    return _MARK + zlib.compress(body, _LEVEL)


def _open(body: bytes) -> tuple[int, bytes]:
    """Return the version and what is inside; raises FormatError, zlib.error."""
    first = body[0] if body else _FIRST
    if first == _FIRST:
        return 0, zlib.decompress(body)
    if first > VERSION:
        raise FormatError(
            f"expected version 0 to {VERSION}, got {first}; update this program"
        )
    return first, zlib.decompress(body[1:])


def opened_size(body: bytes, most: int) -> int:
    """Return how many bytes are inside; FormatError beyond `most`.

    For what comes from outside: it is opened no further than that.
    """
    size = inflated_size(_compressed(body), most)
    if size > most:
        raise FormatError(f"over {most} bytes when opened")
    return size


def opened_values(body: bytes, most: int) -> int:
    """Return how many values may be inside; FormatError beyond `most`."""
    values = inflated_values(_compressed(body), most)
    if values > most:
        raise FormatError(f"over {most} values when opened")
    return values


def _compressed(body: bytes) -> bytes:
    return body if body[:1] == b"x" else body[1:]


def pack_step(step: RevisionDiff, text: bytes | None = None) -> bytes:
    """Return a diff for storing; `text` is what `encode_step` made of it, where known."""
    return _seal(encode_step(step) if text is None else text)


def unpack_step(body: bytes) -> RevisionDiff:
    """Return the diff that `pack_step` wrote."""
    version, text = _open(body)
    step = decode_step(text)
    _bring_forward(version, step.added, step.updated)
    step.samples[:] = map(whole_sample, step.samples)
    return step


def unpack_patch(body: bytes) -> Patch:
    """Return the part of a stored diff that makes pages; quicker than all of it."""
    version, text = _open(body)
    patch = decode_patch(text)
    _bring_forward(version, patch.added, patch.updated)
    return patch


def _bring_forward(version: int, added: list[Row], updated: dict[str, Row]) -> None:
    for number in range(version, VERSION):
        for row in added:
            STEPS[number](row)
        if change := CHANGE_STEPS.get(number):
            for key, changed in updated.items():
                change(key, changed)


def pack_page(page: Page) -> bytes:
    """Return a page for storing."""
    return _seal(_encode(page))


def unpack_page(body: bytes) -> Page:
    """Return the page that `pack_page` wrote."""
    version, text = _open(body)
    page = _decode_page(text)
    for forward in STEPS[version:]:
        for row in page.values():
            forward(row)
    return page


def pack_world(world: World) -> bytes:
    """Return a whole world for storing."""
    return _seal(world.encode())


def unpack_world(body: bytes) -> World:
    """Return the world that `pack_world` wrote."""
    return World.decode(_open(body)[1])


def world_bytes(body: bytes) -> bytes:
    """Return what `pack_world` compressed."""
    return _open(body)[1]
