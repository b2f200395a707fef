"""Diffs, pages and worlds as bytes for storing: compressed, quick to open.

The first byte is the version of what is inside, and the rest is compressed with zlib.
A world says its format itself. `docs/decisions/stored-formats.md` says how a later
version of this program reads what this one wrote.
"""

from __future__ import annotations

import zlib

import msgspec

from sandbox.page.diffs import (
    Page,
    Patch,
    RevisionDiff,
    decode_patch,
    decode_step,
    encode_step,
)
from scheduler.engine.world import World
from scheduler.input.files.inflating import inflated_size, inflated_values

VERSION = 1
_MARK = bytes([VERSION])
_LEVEL = 1  # the quickest: a fifth of the size already
_encode = msgspec.msgpack.Encoder().encode
_decode_page = msgspec.msgpack.Decoder(dict[str, dict[str, object]]).decode


class FormatError(ValueError):
    """Bytes of another version, or too large when opened."""


def _seal(body: bytes) -> bytes:
    return _MARK + zlib.compress(body, _LEVEL)


def _open(body: bytes) -> bytes:
    """Return what is inside; raises FormatError, zlib.error."""
    return zlib.decompress(_compressed(body))


def _compressed(body: bytes) -> bytes:
    if body[:1] != _MARK:
        given = body[0] if body else "nothing"
        raise FormatError(
            f"expected version {VERSION}, got {given}; update this program"
        )
    return body[1:]


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


def pack_step(step: RevisionDiff, text: bytes | None = None) -> bytes:
    """Return a diff for storing; `text` is what `encode_step` made of it, where known."""
    return _seal(encode_step(step) if text is None else text)


def unpack_step(body: bytes) -> RevisionDiff:
    """Return the diff that `pack_step` wrote."""
    return decode_step(_open(body))


def unpack_patch(body: bytes) -> Patch:
    """Return the part of a stored diff that makes pages; quicker than all of it."""
    return decode_patch(_open(body))


def pack_page(page: Page) -> bytes:
    """Return a page for storing."""
    return _seal(_encode(page))


def unpack_page(body: bytes) -> Page:
    """Return the page that `pack_page` wrote."""
    return _decode_page(_open(body))


def pack_world(world: World) -> bytes:
    """Return a whole world for storing."""
    return _seal(world.encode())


def unpack_world(body: bytes) -> World:
    """Return the world that `pack_world` wrote."""
    return World.decode(_open(body))


def world_bytes(body: bytes) -> bytes:
    """Return what `pack_world` compressed."""
    return _open(body)
