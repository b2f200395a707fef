"""A recording that is bent in any way: refused with a sentence, or shown; never a 500."""

from __future__ import annotations

import base64
import json
import random
import struct
import tracemalloc
import zlib
from typing import Any

import pytest

from scheduler.assembly import assemble
from scheduler.model.errors import SchedulerError
from scheduler.recorded.qrec.frames import MAGIC, frame
from scheduler.recorded.qrec.reading import encode
from scheduler.recorded.twin import beginning
from scheduler.recorded.twin.files import read_files
from scheduler.recorded.twin.observing import observe
from tests.sandbox.conftest import contended, text_of
from tests.sandbox.twins.conftest import Played

AT = "2027-01-15T08:00:00.000000+00:00"
LAST = "9999-12-31T23:59:59+00:00"
BEGIN = {"at": AT, "type": "BEGIN", "header": {"kinds": ["Pod"]}}
SYNCED = {"at": AT, "type": "SYNCED", "kind": "Pod"}


def recording(*entries: object) -> bytes:
    """Return a `.qrec`; an entry is a document, or the bytes of one."""
    lines = [e if isinstance(e, bytes) else json.dumps(e).encode() for e in entries]
    return MAGIC + frame(lines)


def pod(**parts: object) -> dict[str, Any]:
    metadata = {"namespace": "d", "name": "p"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, **parts}


def standing(manifest: object, at: str = AT) -> bytes:
    """Return a recording of a cluster in which this stood at the begin."""
    listed = {"at": at, "type": "LISTED", "kind": "Pod", "object": manifest}
    return recording(BEGIN, listed, SYNCED)


def configured(data: object) -> bytes:
    place = {"namespace": "kueue-system", "name": "kueue-manager-config"}
    config = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": place, "data": data}
    return standing(config)


BENT: dict[str, bytes] = {
    "no zlib data": MAGIC + struct.pack("<II", 6, zlib.crc32(b"abcdef")) + b"abcdef",
    "no kind": standing({"metadata": {"name": "x"}}),
    "a list as kind": standing({"kind": [1], "metadata": {"name": "x"}}),
    "no metadata": standing({"kind": "Pod"}),
    "a list as metadata": standing(pod(metadata=[1])),
    "an object as name": standing(pod(metadata={"name": {}})),
    "a number as namespace": standing(pod(metadata={"name": "a", "namespace": 5})),
    "a text as status": standing(pod(status="Running")),
    "no time": recording({**BEGIN, "at": "yesterday"}, SYNCED),
    "a time without a zone": recording({**BEGIN, "at": AT[:19]}, SYNCED),
    "the last year": recording({**BEGIN, "at": LAST}, {**SYNCED, "at": LAST}),
    "clocks far apart": recording(
        {**BEGIN, "header": {"kinds": ["Pod"], "skewMs": 10**18}}, SYNCED
    ),
    "over 64 bits": standing(pod(spec={"priority": 2**64})),
    "a NUL": standing(pod(metadata={"name": "a", "labels": {"a": "b\0c"}})),
    "a text as data": configured("x"),
    "an object as a file": configured({"controller_manager_config.yaml": {"a": 1}}),
    "a list as a name, of kubectl": json.dumps(
        {"type": "ADDED", "object": pod(metadata={"name": [1]})}
    ).encode(),
    "half a surrogate pair, of kubectl": json.dumps(
        {"type": "ADDED", "object": pod(metadata={"name": "\ud800"})}
    ).encode(),
    "a hundred thousand brackets": b"[" * 100_000,
}
#: What is left out or passed over, and the rest shown.
SHOWN = {"an object as a file"}


@pytest.mark.django_db
def test_a_bent_recording_is_refused_with_a_sentence(client):
    client.raise_request_exception = False
    wrong = []
    for name, data in BENT.items():
        file = {"name": "a.qrec", "data": base64.b64encode(data).decode()}
        answer = client.post("/api/v1/twins", {"files": [file]}, format="json")
        fits = answer.status_code == (201 if name in SHOWN else 422)
        wrong += [] if fits else [(name, answer.status_code, answer.content[:200])]
    assert wrong == []


VALUES = [5, "", "x", [], {}, None, [1], {"a": {"b": []}}, True, 1e308, 10**30, [[]]]


def places(value: object, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to each value within a document."""
    parts = value.items() if isinstance(value, dict) else enumerate(value)  # type: ignore[call-overload]
    found = [((*way, key), part) for key, part in parts]
    return [at for at, _ in found] + [
        deeper
        for at, part in found
        if isinstance(part, dict | list)
        for deeper in places(part, at)
    ]


def bent(entries: list[dict[str, Any]], rng: random.Random) -> bytes:
    """Return the recording with one value anywhere replaced by any other."""
    number = rng.randrange(len(entries))
    entry = json.loads(json.dumps(entries[number]))
    *way, last = rng.choice(places(entry))
    held = entry
    for step in way:
        held = held[step]
    held[last] = rng.choice(VALUES)
    return recording(*entries[:number], entry, *entries[number + 1 :])


def test_a_value_of_any_type_anywhere_breaks_nothing():
    world = assemble([("all.yaml", text_of(*contended(3)))]).world
    entries = [json.loads(encode(one)) for one in Played(world, 6).entries]
    rng, shown = random.Random(15), 0
    for _ in range(100):
        data = bent(entries, rng)
        try:
            found = read_files([("a.qrec", data)], most=2**26)
            twin, _ = beginning.begin_recording(found)
        except SchedulerError:
            continue
        for tick, seen in beginning.ticks_of(found):
            if tick < 20:
                observe(twin, seen, tick=tick, now_ms=1000 * tick)
        twin.encode()
        shown += 1
    assert shown > 30


def test_a_bomb_is_refused_before_it_is_unpacked():
    data = MAGIC + frame([bytes(80 * 2**20)])
    tracemalloc.start()
    with pytest.raises(SchedulerError, match="over 67108864 bytes when opened"):
        read_files([("a.qrec", data)], most=2**26)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 16 * 2**20


def test_tiny_values_are_counted_before_they_are_made():
    values = b'{"at":"%s","type":"LISTED","object":{"a":[%s]}}' % (
        AT.encode(),
        b"{}," * 10**6 + b"0",
    )
    tracemalloc.start()
    with pytest.raises(SchedulerError, match="too many values"):
        read_files([("a.qrec", recording(BEGIN, values))], values=10**6)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 32 * 2**20
