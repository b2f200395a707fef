"""A file with any value bent: refused with 422, or a board that is its world's.

`QUOTALAB_BENT=2000` bends as many, from the number in `QUOTALAB_BENT_FROM`; a failure
names its number, and `QUOTALAB_BENT_AT=N` bends that one alone. Bytes that are damaged are in `test_hostile.py`; here the values in
them are other ones, and the hash is that of the bent world in every second file.
"""

from __future__ import annotations

import base64
import contextlib
import copy
import json
import logging
import os
import random
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from sandbox import actions
from sandbox.base import library
from sandbox.base.library import script_part
from sandbox.models import KeptForecast, Sandbox
from sandbox.page.packing import VERSION
from sandbox.retention import archives
from sandbox.world import worlds
from scheduler.engine.world import World
from scheduler.engine.worlds.encoding import decode_world, hash_of
from scheduler.model.amounts import canonical
from scheduler.recorded.qrec.frames import MAGIC, FrameReader, frame
from tests.api.access.permissions import ONE
from tests.sandbox.conftest import tick
from tests.sandbox.older.written import OLDER, RECORDING, STACKS

pytestmark = [pytest.mark.django_db(transaction=True)]

ALONE = os.environ.get("QUOTALAB_BENT_AT")
LOG = logging.getLogger(__name__)
_FIRST = int(ALONE or os.environ.get("QUOTALAB_BENT_FROM", "0"))
_COUNT = 1 if ALONE else int(os.environ.get("QUOTALAB_BENT", "10"))
NUMBERED = range(_FIRST, _FIRST + _COUNT)
#: So many paths are drawn for each file that is taken.
PATHS = 12
Document = dict[str, Any]

# -- bending

NUMBERS = [-1, 0, 1, 10**9, 2**31, 2**53 + 1, 2**62, 2**63 - 1, -(2**63), 1e308, -0.5]
NUMBERS += [float("nan"), float("inf")]
TEXTS = ["", "x", "1e400", "-1e400", "NaN", "9" * 400, "a" * 5_000, "a\x00b", "\x1b[2J"]
TEXTS += ["\u202e", "../..", "Workload/default/job-x", "2999-01-01T00:00:00Z"]
ANY = [None, True, [], {}, [[]], {"a": {"b": []}}, *NUMBERS, *TEXTS]


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to each value within a document."""
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in parts:
        yield (*way, key)
        if isinstance(part, dict | list):
            yield from places(part, (*way, key))


def bend(document: Any, rng: random.Random) -> tuple[Any, ...]:
    """Change one value in place, anything but its place by chance; return where."""
    part = document
    way: tuple[Any, ...] = ()
    # Level by level, so that short parts are bent as often as long ones.
    while True:
        keys = list(part) if isinstance(part, dict) else list(range(len(part)))
        key = rng.choice(keys)
        way = (*way, key)
        below = part[key]
        if not isinstance(below, dict | list) or not below or rng.random() < 0.15:
            break
        part = below
    value = part[key]
    match rng.randrange(8):
        case 0 if isinstance(part, dict):
            del part[key]
        case 1 if isinstance(part, dict):
            part[f"{key}x"] = value
        case 0:
            part.pop(key)
        case 1:
            part.insert(key, copy.deepcopy(value))
        case 2:  # of another place: a reference to another row, a list's other item
            held = rng.choice(list(places(document)))
            other = document
            for step in held:
                other = other[step]
            part[key] = copy.deepcopy(other)
        case 3 | 4:
            part[key] = rng.choice(ANY)
        case _ if isinstance(value, bool):
            part[key] = not value
        case _ if isinstance(value, int | float):
            part[key] = rng.choice([*NUMBERS, value + 1, value - 1, -value])
        case _ if isinstance(value, str):
            part[key] = rng.choice([*TEXTS, value + "x", value[:-1], f" {value}"])
        case _ if isinstance(value, list):
            part[key] = value[::-1] if rng.random() < 0.5 else value[:-1]
        case _:
            part[key] = rng.choice(ANY)
    return way


def opened(file: bytes) -> Document:
    """Return what is in an archive, down to the values of its worlds and diffs."""
    body = msgspec.msgpack.decode(zlib.decompress(file.partition(b"\n")[2]))
    body["world"] = msgspec.msgpack.decode(body["world"])
    for line in body["diffs"]:
        line[1] = msgspec.json.decode(zlib.decompress(line[1][1:]))
    for line in body["checkpoints"]:
        line[1] = msgspec.msgpack.decode(zlib.decompress(line[1][1:]))
    for line in body["recorded"]:
        line[1] = msgspec.msgpack.decode(zlib.decompress(line[1]))
    return body


def closed(body: Document, *, hashed: bool) -> bytes:
    """Return the file of what `opened` gave; `hashed` as if its world had been so."""
    pack, mark = msgspec.msgpack.encode, bytes([VERSION])
    body = copy.deepcopy(body)
    if isinstance(body.get("world"), list):
        body["world"] = pack(body["world"])
        if hashed and isinstance(body.get("columns"), dict):
            with contextlib.suppress(Exception):  # one that is bent may have none
                body["columns"]["hash"] = hash_of(*decode_world(body["world"]))
                shown = (
                    one["updated"]["Sandbox//sandbox"] for _, one in body["diffs"][::-1]
                )
                last = next(one for one in shown if "hash" in one)
                last["hash"] = body["columns"]["hash"][:16]
    for name, how in (
        ("diffs", lambda one: mark + zlib.compress(msgspec.json.encode(one))),
        ("checkpoints", lambda one: mark + zlib.compress(pack(one))),
        ("recorded", lambda one: zlib.compress(pack(one))),
    ):
        lines = body.get(name)
        for line in lines if isinstance(lines, list) else ():
            if isinstance(line, list) and len(line) > 1:
                line[1] = how(line[1])
    head = archives.MAGIC + str(archives.FORMAT).encode() + b"\n"
    return head + zlib.compress(pack(body), 1)


# -- what is read apart: the world of a file, by its objects


def board_of(world: World) -> dict[str, dict[str, Any]]:
    """Return what a page must show of a world, read from its objects alone."""
    found: dict[str, dict[str, Any]] = {}
    taken: dict[tuple[str, str, str], int] = {}
    for key, obj in world.objects.items():
        if world.lifetime.waits(key):
            continue
        told: dict[str, Any] = {"name": key.name, "namespace": key.namespace}
        true = {
            one["type"]
            for one in obj.status.get("conditions") or ()
            if one.get("status") == "True"
        }
        match key.kind:
            case "Workload":
                told["uid"] = obj.uid
                told["priority"] = obj.spec.get("priority") or 0
                told["localQueue"] = obj.spec.get("queueName") or ""
                told["finished"] = "Finished" in true
                admission = obj.status.get("admission")
                if "QuotaReserved" in true and not told["finished"] and admission:
                    told["clusterQueue"] = admission["clusterQueue"]
                    for part in admission["podSetAssignments"]:
                        for name, amount in (part.get("resourceUsage") or {}).items():
                            flavor = part["flavors"][name]
                            place = admission["clusterQueue"], flavor, name
                            taken.setdefault(place, 0)
                            taken[place] += canonical(name, amount)
            case "Node":
                allocatable = obj.status.get("allocatable") or obj.status.get(
                    "capacity"
                )
                told["allocatable"] = {
                    name: canonical(name, amount)
                    for name, amount in (allocatable or {}).items()
                }
            case "Pod":
                over = obj.status.get("phase") in ("Succeeded", "Failed")
                told["node"] = "" if over else obj.spec.get("nodeName") or ""
                told["uid"] = obj.uid
            case "ClusterQueue":
                told["nominal"] = {
                    (flavor["name"], one["name"]): canonical(
                        one["name"], one["nominalQuota"]
                    )
                    for group in obj.spec.get("resourceGroups") or ()
                    for flavor in group["flavors"]
                    for one in flavor["resources"]
                }
                told["cohort"] = obj.spec.get("cohortName") or ""
            case "LocalQueue":
                told["clusterQueue"] = obj.spec.get("clusterQueue") or ""
            case "ResourceFlavor":
                told["nodeLabels"] = obj.spec.get("nodeLabels") or {}
            case _:
                continue
        found[str(key)] = told
    if world.kueue is not None:
        for key, told in found.items():
            if key.startswith("ClusterQueue/"):
                told["used"] = {
                    (flavor, name): amount
                    for (queue, flavor, name), amount in taken.items()
                    if queue == told["name"] and amount
                }
    return found


def differences(world: World, rows: list[Document]) -> list[str]:
    """Return where the rows of a page say something else than the world's objects."""
    page = {row["key"]: row for row in rows}
    found = []
    expected = board_of(world)
    shown = {
        key
        for key, row in page.items()
        if key.partition("/")[0] in KINDS and row.get("uid") != ""
    }
    if world.kueue is None:
        expected = {k: v for k, v in expected.items() if k in page or k[:3] == "Nod"}
    found += [f"{key} is on one side alone" for key in shown ^ set(expected)]
    for key in shown & set(expected):
        row = page[key]
        for name, value in expected[key].items():
            given = row.get(name)
            if name == "finished":
                given = row["phase"] == "finished"
            elif name == "allocatable":
                given = {k: int(v) for k, v in row[name].items()}
            elif name in ("nominal", "used"):
                cells = {
                    (c["flavor"], c["resource"]): int(c[name]) for c in row["cells"]
                }
                given = {k: v for k, v in cells.items() if name == "nominal" or v}
            elif name == "node" and row["heldOn"]:
                continue
            if given != value:
                found.append(f"{key} {name}: shown {given}, in the world {value}")
    own = page["Sandbox//sandbox"]
    for name, value in (
        ("tick", world.tick),
        ("tMs", world.context.now_ms),
        ("seed", str(world.context.seed)),
        ("hash", world.hash()[:16]),
        ("stack", world.policy.spec.stack),
    ):
        if own[name] != value:
            found.append(f"{name}: shown {own[name]}, in the world {value}")
    if page["Policy//policy"]["document"] != json.loads(
        msgspec.json.encode(world.policy.document())
    ):
        found.append("the policy is another")
    return found


KINDS = {"Workload", "Node", "Pod", "ClusterQueue", "LocalQueue", "ResourceFlavor"}
TABLES = ("workloads", "pods", "nodes", "clusterqueues", "localqueues", "cohorts")
TABLES += ("resourceflavors", "multikueueclusters", "queues", "applications")

# -- asking


def paths_of(rows: list[Document], events: list[Document]) -> list[str]:
    """Return every path below a sandbox that is only read, about what is there."""
    first = {row["kind"]: row for row in rows}
    one = first.get("Workload") or first.get("Pod") or {"name": "x", "namespace": "x"}
    place = next((f"{e['revision']}.{e['seq']}" for e in events), "1.0")
    given = {
        "kind": "Workload" if "Workload" in first else "Pod",
        "namespace": one["namespace"] or "-",
        "name": one["name"] or "x",
        "place": place,
        "version": "v1beta2",
        "group": "kueue.x-k8s.io",
        "plural": "workloads",
        "partition": "default",
        "queue": first.get("Queue", {}).get("name") or "root",
        "application": first.get("Application", {}).get("name") or "x",
        "state": "Running",
    }
    found = [f"/tables/{name}" for name in TABLES]
    for tail, methods in ONE.items():
        if not methods.startswith("get") or "<int:" in tail or "<path:" in tail:
            continue
        if "<str:table>" in tail or tail.startswith(("members/", "shares/", "openapi")):
            continue
        if tail.startswith("api/<"):
            continue
        path = tail
        for name, value in given.items():
            path = path.replace(f"<str:{name}>", value)
        found.append(f"/{path}".rstrip("/"))
    lists = ("clusterqueues", "workloads", "localqueues", "resourceflavors", "cohorts")
    found += [f"/apis/kueue.x-k8s.io/v1beta2/{name}" for name in lists]
    return [
        *found,
        "/api/v1/pods",
        "/api/v1/nodes",
        "/events?limit=500",
        "/state?tick=1",
    ]


def failures(client: Any, sandbox: Sandbox, rng: random.Random) -> list[str]:
    """Return what of a sandbox, or over all, is answered by a defect."""
    base, wrong = f"/api/v1/sandboxes/{sandbox.pk}", []

    def ask(path: str, how: Callable[..., Any] = client.get, *given: Any) -> Any:
        answer = how(path, *given, format="json") if given else how(path)
        if answer.status_code == 500:
            wrong.append(f"{path}: {answer.status_code} {answer.content[:200]!r}")
        return answer

    state = ask(f"{base}/state")
    if state.status_code != 200:
        return [*wrong, f"state: {state.status_code} {state.content[:200]!r}"]
    shown = state.json()
    paths = paths_of(shown["rows"], shown["events"])
    for path in paths if ALONE else rng.sample(paths, PATHS):
        ask(base + path)
    for path in ("/metrics", "/api/v1/sandboxes", "/api/v1/disk"):
        ask(path)
    for name in TABLES:
        items = client.get(f"{base}/tables/{name}?limit=5000").json()["items"]
        kind = {row["key"]: row for row in items}
        same = {r["key"]: r for r in shown["rows"] if r["key"] in kind}
        if kind != same:
            wrong.append(f"the table {name} shows other rows than the page")
    world = worlds.fresh(Sandbox.objects.get(pk=sandbox.pk))
    wrong += differences(world, shown["rows"])
    for name, body in (
        ("fork", {"tick": 3}),
        ("fork", {"tick": 9}),
        ("undo", {}),
        ("redo", {}),
        ("rewind", {"tick": 2}),
        ("play", {"speed": 0}),
    ):
        ask(f"{base}/actions/{name}", client.post, body)
    if Sandbox.objects.get(pk=sandbox.pk).playing:
        tick(sandbox, 3)
        for path in ("/state", "/metrics", "/events"):
            ask(base + path)
    ask("/metrics")
    return wrong


# -- the laws


@pytest.fixture(scope="module")
def files() -> list[bytes]:
    return [(OLDER / f"{title}.quotalab").read_bytes() for title in STACKS]


def twin_file(person: Any) -> bytes:
    """Return the archive of a sandbox that shows a recording."""
    recording = [(RECORDING, (OLDER / RECORDING).read_bytes())]
    twin = actions.do_play_recording(person, recording)
    actions.do_play(person, twin.pk, speed=0)
    tick(twin, 4)
    stop = {"at": "4s", "say": {"en": "Who goes?"}}
    Sandbox.objects.filter(pk=twin.pk).update(
        script={
            "title": {"en": "A lesson"},
            "summary": {"en": "Of whose turn it is."},
            "checkpoints": [stop],
        }
    )
    made = archives.write(twin.pk)
    twin.delete()
    return made


def test_files_that_are_not_bent_show_the_board_of_their_world(client, person, files):
    for file in [*files, twin_file(person)]:
        assert opened(closed(opened(file), hashed=True)) == opened(file)
        answer = client.post("/api/v1/archives", file, content_type=MEDIA)
        assert answer.status_code == 201, answer.content
        sandbox = Sandbox.objects.get(pk=answer.json()["id"])
        assert failures(client, sandbox, random.Random(0)) == []


MEDIA = "application/vnd.quotalab.sandbox"


@pytest.mark.parametrize("kind", ["Job", "ResourceFlavor", "WorkloadPriorityClass"])
def test_an_object_whose_status_is_none_is_refused(client, kind):
    body = opened((OLDER / "kueue.quotalab").read_bytes())
    for one in body["world"][-1]:
        if one[0] == kind:
            one[4] = None
    file = closed(body, hashed=True)
    answer = client.post("/api/v1/archives", file, content_type=MEDIA)
    assert answer.status_code == 422, answer.content


@pytest.mark.parametrize("part", ["spec", "labels", "annotations"])
@pytest.mark.parametrize("stack", STACKS)
def test_objects_without_a_part_are_refused_or_read_as_without(client, stack, part):
    body = opened((OLDER / f"{stack}.quotalab").read_bytes())
    for _, _, _, manifest, _, _ in body["world"][-1]:
        (manifest if part == "spec" else manifest["metadata"])[part] = None
    file = closed(body, hashed=True)
    answer = client.post("/api/v1/archives", file, content_type=MEDIA)
    assert answer.status_code in (201, 422), answer.content
    if answer.status_code == 201:
        sandbox = Sandbox.objects.get(pk=answer.json()["id"])
        assert failures(client, sandbox, random.Random(0)) == []


def bent_archives(person: Any) -> Callable[[random.Random], tuple[Any, bytes]]:
    """Return what makes an archive with one value bent, and says where."""
    files = [(OLDER / f"{title}.quotalab").read_bytes() for title in STACKS]
    bases = [opened(file) for file in [*files, twin_file(person)]]

    def make(rng: random.Random) -> tuple[Any, bytes]:
        body = copy.deepcopy(rng.choice(bases))
        way = bend(body, rng)
        return way, closed(body, hashed=rng.random() < 0.5)

    return make


def bent_recordings(person: Any) -> Callable[[random.Random], tuple[Any, bytes]]:
    """Return what makes a recording with one value bent, and says where."""
    with (OLDER / RECORDING).open("rb") as stream:
        lines = [one for frames in FrameReader(stream, "") for one in frames]
    entries = [json.loads(line) for line in lines]

    def make(rng: random.Random) -> tuple[Any, bytes]:
        body = copy.deepcopy(entries)
        way = bend(body, rng)
        return way, MAGIC + frame(msgspec.json.encode(one) for one in body)

    return make


def send_archive(client: Any, file: bytes) -> Any:
    return client.post("/api/v1/archives", file, content_type=MEDIA)


def send_recording(client: Any, file: bytes) -> Any:
    data = {"name": "a.qrec", "data": base64.b64encode(file).decode()}
    return client.post("/api/v1/twins", {"files": [data]}, format="json")


@pytest.mark.parametrize(
    ("bent", "send"),
    [(bent_archives, send_archive), (bent_recordings, send_recording)],
    ids=["archive", "recording"],
)
def test_a_bent_file_is_refused_or_shows_the_board_of_its_world(
    client, person, bent, send
):
    client.raise_request_exception = False
    make_one, taken, wrong = bent(person), 0, []
    for number in NUMBERED:
        rng = random.Random(number)
        way, file = make_one(rng)
        answer = send(client, file)
        if answer.status_code == 201:
            taken += 1
            sandbox = Sandbox.objects.get(pk=answer.json()["id"])
            Sandbox.objects.filter(pk=sandbox.pk).update(visibility="public")
            for one in failures(client, sandbox, rng):
                wrong.append((number, way, one))
                LOG.critical("%s", wrong[-1])
            Sandbox.objects.all().delete()
            worlds.forget_all()
        elif answer.status_code != 422:
            wrong.append((number, way, answer.content[:300]))
            LOG.critical("%s", wrong[-1])
    check(wrong, taken)


def test_a_bent_lesson_is_refused_or_read_again(client, busy):
    client.raise_request_exception = False
    base = f"/api/v1/sandboxes/{busy.pk}"
    known = [script_part(library.scenario_named(name)) for name in library.names()]
    lessons = [one for one in known if one]
    for one in lessons:
        del one["expect"]
    taken, wrong = 0, []
    for number in NUMBERED:
        rng = random.Random(number)
        body = copy.deepcopy(rng.choice(lessons))
        way = bend(body, rng)
        text = msgspec.json.encode(body)
        answer = client.put(f"{base}/script", text, content_type="application/json")
        taken += answer.status_code == 200
        if answer.status_code not in (200, 400, 422):
            wrong.append((number, way, answer.status_code, answer.content[:300]))
        for path in ("script", "script/file", "lesson", "archive"):
            found = client.get(f"{base}/{path}")
            if found.status_code == 500:
                wrong.append((number, way, path, found.content[:300]))
    check(wrong, taken)


def check(wrong: list[Any], taken: int) -> None:
    said = f"{taken} taken of {len(NUMBERED)} bent, {len(wrong)} wrong"
    LOG.critical(said)
    assert wrong == [], said
    assert ALONE or taken > len(NUMBERED) // 20


def test_a_sandbox_that_cannot_be_read_hides_no_other(client, person, make):
    client.raise_request_exception = False
    whole, bent, archived = make(), make(), make()
    KeptForecast.objects.create(
        sandbox=bent,
        revision=1,
        tick=0,
        state=KeptForecast.DONE,
        answer={"starts": 1},
        now_ms=0,
        asked_as="",
        until=0,
        wanted_until=0,
    )
    actions.do_archive(person, archived.pk)
    answer = client.get("/metrics")
    assert answer.status_code == 200, answer.content[:300]
    lines = answer.content.decode().splitlines()
    for sandbox, left_out in ((whole, 0), (bent, 1)):
        name = f'{{sandbox="{sandbox.pk}"}}'
        assert f"quotalab_sandbox_left_out{name} {left_out}" in lines
        assert (f"quotalab_tick{name} 0" in lines) is not bool(left_out)
