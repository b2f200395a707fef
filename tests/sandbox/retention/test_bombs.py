"""Archives that are larger inside than they say: refused before they are unpacked."""

from __future__ import annotations

import tracemalloc
import zlib

import msgspec
import pytest

from sandbox.base.errors import InvalidError
from sandbox.page.packing import VERSION, FormatError, opened_size, opened_values
from sandbox.retention.archives import FORMAT, MAGIC, _Values, unseal
from scheduler.input.files.inflating import inflated_size

MOST = 200 * 2**20


def zeros(size: int) -> bytes:
    """Return so many zeros, compressed a thousandfold."""
    packer = zlib.compressobj(9)
    parts = [packer.compress(bytes(2**20)) for _ in range(size >> 20)]
    return b"".join([*parts, packer.flush()])


@pytest.fixture(scope="module")
def bomb() -> bytes:
    return zeros(MOST + 2**20)


@pytest.mark.parametrize("data", [b"", b"a", bytes(100_000), b"\x00\x01" * 50_000])
def test_the_size_inside_is_exact(data):
    assert inflated_size(zlib.compress(data), 2**20) == len(data)


def test_an_archive_bomb_is_refused_in_little_memory(bomb):
    tracemalloc.start()
    with pytest.raises(InvalidError, match="when opened"):
        unseal(MAGIC + str(FORMAT).encode() + b"\n" + bomb, MOST)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 32 * 2**20


def test_a_bomb_in_an_archive_is_refused_in_little_memory(bomb):
    tracemalloc.start()
    with pytest.raises(FormatError, match="when opened"):
        opened_size(bytes([VERSION]) + bomb, MOST)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 32 * 2**20


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(b"\x80", id="empty objects"),
        pytest.param(b"\x91\xc0", id="lists"),
        pytest.param(b"\xa2ab", id="texts"),
    ],
)
@pytest.mark.parametrize("part", ["start_policy", "script", "left"])
def test_an_archive_of_tiny_values_is_refused_before_they_are_made(one, part):
    """A megabyte of them takes some 50 in memory, and comes in 1,000 bytes."""
    many = 2**20 // len(one)
    values = b"\x81\xa1a\xdd" + many.to_bytes(4, "big") + one * many
    file = {**dict.fromkeys(_Values.__struct_fields__), part: msgspec.Raw(values)}
    body = zlib.compress(msgspec.msgpack.encode(file))
    tracemalloc.start()
    with pytest.raises(InvalidError, match="values when opened"):
        unseal(MAGIC + str(FORMAT).encode() + b"\n" + body, 2**21)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 8 * 2**20


def test_a_page_of_tiny_values_is_refused_in_an_archive():
    body = bytes([VERSION]) + zlib.compress(b"[" + b"{}," * 1000 + b"0]")
    assert opened_values(body, 10_000) == 2001
    with pytest.raises(FormatError, match="values when opened"):
        opened_values(body, 2000)
