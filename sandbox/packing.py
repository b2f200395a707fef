"""Diffs, pages and worlds as bytes for storing: compressed, quick to open."""

from __future__ import annotations

import zlib

import msgspec

from sandbox.diffs import (
    Page,
    Patch,
    Step,
    decode_patch,
    decode_step,
    encode_step,
)
from scheduler.world import World

_LEVEL = 1  # the quickest: a fifth of the size already
_encode = msgspec.msgpack.Encoder().encode
_decode_page = msgspec.msgpack.Decoder(dict[str, dict[str, object]]).decode


def pack_step(step: Step) -> bytes:
    """Return a diff for storing."""
    return zlib.compress(encode_step(step), _LEVEL)


def unpack_step(body: bytes) -> Step:
    """Return the diff that `pack_step` wrote."""
    return decode_step(zlib.decompress(body))


def unpack_patch(body: bytes) -> Patch:
    """Return the part of a stored diff that makes pages; quicker than all of it."""
    return decode_patch(zlib.decompress(body))


def pack_page(page: Page) -> bytes:
    """Return a page for storing."""
    return zlib.compress(_encode(page), _LEVEL)


def unpack_page(body: bytes) -> Page:
    """Return the page that `pack_page` wrote."""
    return _decode_page(zlib.decompress(body))


def pack_world(world: World) -> bytes:
    """Return a whole world for storing."""
    return zlib.compress(world.encode(), _LEVEL)


def unpack_world(body: bytes) -> World:
    """Return the world that `pack_world` wrote."""
    return World.decode(zlib.decompress(body))
