"""Whatever is sent: an answer in Kubernetes' words, never a 5xx, nothing half done."""

from __future__ import annotations

import functools
import gc
import os
import random
import re
from typing import Any

import psutil
import pytest
from asgiref.testing import ApplicationCommunicator
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.live.asgi import application
from sandbox.models import Sandbox
from tests.api.access.permissions import ONE, OTHERS
from tests.builders import cluster_queue, flavor
from tests.sandbox.conftest import row, text_of

ID = "api/v1/sandboxes/<str:sandbox_id>"
ARCHIVE = "application/vnd.quotalab.sandbox"

pytestmark = [pytest.mark.django_db]

LONG = bool(os.environ.get("FUZZ"))  # minutes instead of seconds
RELAXED = settings(
    max_examples=40 if LONG else 6,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)


@functools.cache
def schema() -> Any:
    """Return the schema, asked inside this process; here nobody needs a key.

    Made by the first test that asks: it takes seconds that collecting should not.
    """
    import schemathesis

    document = SchemaGenerator().get_schema(request=None, public=True)
    document["components"].pop("securitySchemes", None)
    for path in document["paths"].values():
        for operation in path.values():
            operation.pop("security", None)
    schemathesis.serializer(ARCHIVE)(_as_bytes)
    found = schemathesis.openapi.from_dict(document)
    found.app = get_wsgi_application()
    found.config.phases.coverage.enabled = LONG
    return found


def _as_bytes(_context, value):
    return value if isinstance(value, bytes) else str(value).encode()


def checks_of(path: str) -> list[Any]:
    """Return what an answer is held to; an export is several documents, not one."""
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    shape = [] if path.endswith("/export") else [checks.response_schema_conformance]
    return [not_a_server_error, checks.status_code_conformance, *shape]


#: Other systems' APIs, the schema and its reference have no place in the schema.
NOT_DESCRIBED = re.compile(
    rf"{ID}/(apis?|openapi|ws|debug|version|healthz|livez|readyz)\b|{ID}/(<path:rest>)?$|api/v1/(schema|docs|$)"
)
PARAMETER, BRACES = re.compile(r"<\w+:(\w+)>"), r"{\1}"
ROUTES = {f"{ID}/{tail}".rstrip("/"): methods for tail, methods in ONE.items()}
#: "METHOD /path" of every operation, as the table of permissions has them.
OPERATIONS = [
    f"{line.split()[0].upper()} /{PARAMETER.sub(BRACES, route)}"
    for route, methods in (ROUTES | OTHERS).items()
    if route.startswith("api/v1/") and not NOT_DESCRIBED.match(route)
    for line in methods.split(", ")
]


@pytest.fixture
def one_connection():
    """Keep the test's own connection open between requests, as Django's client does."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def test_the_schema_has_these_operations_and_no_other():
    found = [operation.ok().label for operation in schema().get_all_operations()]
    assert sorted(found) == sorted(OPERATIONS)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_keeps_to_its_schema(operation, busy, one_connection):
    method, path = operation.split()

    @RELAXED
    @given(case=schema()[path][method].as_strategy())
    def holds(case):
        if "sandbox_id" in (case.path_parameters or {}):
            case.path_parameters["sandbox_id"] = busy.pk
        case.call_and_validate(headers={"Host": "127.0.0.1"}, checks=checks_of(path))

    holds()


HOSTILE = {
    "a bomb of aliases": "a: &a [x,x]\n"
    + "".join(
        f"b{n}: &b{n} [*{'a' if not n else f'b{n - 1}'},*a]\n" for n in range(60)
    ),
    "a billion laughs": "a0: &a0 [1,1,1,1,1,1,1,1,1]\n"
    + "".join(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)),
    "an alias of itself": "a: &a [*a]",
    "nested beyond reading": "[" * 50_000,
    "nested objects": "{a: " * 20_000,
    "a key given twice": "kind: A\nkind: B",
    "a huge number": text_of(cluster_queue("q", cpu="9" * 4000)),
    "a huge exponent": text_of(cluster_queue("q", cpu="1e999999999")),
    "a negative quantity": text_of(cluster_queue("q", cpu="-4")),
    "odd characters": "kind: \u202e\u0000\ud7ff",
    "a tag that makes objects": "!!python/object/apply:os.system ['true']",
    "a binary text": "\x00\x01\x02\x7f",
    "a merge of itself": "a: &a\n  <<: *a",
    "a name of a path": text_of(flavor("../../etc/passwd")),
    "a list for a name": "apiVersion: v1\nkind: Node\nmetadata: {name: [1]}",
    "a list for metadata": "apiVersion: v1\nkind: Node\nmetadata: []",
    "a number for a spec": "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: 3",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_yaml_is_reported_and_changes_nothing(call, make, text):
    sandbox = make(flavor())
    before = row(sandbox)
    body = {"files": [{"name": "hostile.yaml", "text": text}]}
    answer = call("post", sandbox, "/actions/import", body)
    assert answer.status_code in (400, 422)
    assert answer.json()["message"]
    after = row(sandbox)
    assert (after.revision, after.hash) == (before.revision, before.hash)


def test_hostile_yaml_is_refused_quickly_and_leaves_no_memory_behind(call, make):
    sandbox, process = make(flavor()), psutil.Process()
    sizes, slowest = [], 0.0
    for _ in range(3):
        for text in HOSTILE.values():
            body = {"files": [{"name": "hostile.yaml", "text": text}]}
            begun = process.cpu_times().user
            answer = call("post", sandbox, "/actions/import", body)
            assert answer.status_code in (400, 422)
            slowest = max(slowest, process.cpu_times().user - begun)
        gc.collect()
        sizes.append(process.memory_info().rss)
    assert sizes[-1] - sizes[0] < 16 * 2**20
    assert slowest < 5, "seconds of work for a text that is refused"


@pytest.mark.parametrize(
    "body",
    [b"[" * 200_000, b'{"a":' * 100_000, b"{", b"\xff\xfe", b'"' + b"a" * 1000, b"NaN"],
    ids=["lists", "objects", "open", "not UTF-8", "no end", "no JSON"],
)
def test_hostile_json_is_a_bad_request(client, busy, body):
    for path in ("/actions/import", "/policy", "/objects/ClusterQueue/-/a"):
        method = client.post if "actions" in path else client.put
        url = f"/api/v1/sandboxes/{busy.pk}{path}"
        answer = method(url, data=body, content_type="application/json")
        assert answer.status_code in (400, 422)
        assert answer.json()["kind"] == "Status"


def test_truncated_and_bent_archives_make_nothing(client, busy):
    whole = client.get(f"/api/v1/sandboxes/{busy.pk}/archive").content
    before, draw = Sandbox.objects.count(), random.Random(1)
    pieces = [whole[:n] for n in draw.sample(range(len(whole)), 15)]
    for place in draw.sample(range(len(whole)), 15):
        flipped = bytes([whole[place] ^ 0x55])
        pieces.append(whole[:place] + flipped + whole[place + 1 :])
    for piece in pieces:
        answer = client.post("/api/v1/archives", data=piece, content_type=ARCHIVE)
        assert 400 <= answer.status_code < 500
    assert Sandbox.objects.count() == before


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "frame",
    [
        "",
        "{",
        "[]",
        "null",
        '{"type":"hello","since":"x"}',
        "[" * 3000,
        "\u0000",
        "a" * 5000,
    ],
    ids=["empty", "open", "list", "null", "text", "deep", "zero", "long"],
)
async def test_a_malformed_frame_closes_its_socket_and_no_other(busy, frame, valkey):
    scope = {
        "type": "websocket",
        "path": f"/ws/sandboxes/{busy.pk}",
        "headers": [(b"host", b"127.0.0.1")],
        "query_string": b"",
        "subprotocols": [],
    }
    socket = ApplicationCommunicator(application, scope)
    await socket.send_input({"type": "websocket.connect"})
    assert (await socket.receive_output(5))["type"] == "websocket.accept"
    await socket.send_input({"type": "websocket.receive", "text": frame})
    closed = await socket.receive_output(5)
    assert (closed["type"], closed["code"]) == ("websocket.close", 4400)
    await socket.send_input({"type": "websocket.disconnect", "code": 4400})
    await socket.wait(5)


@given(frame=st.binary(max_size=200))
@settings(max_examples=50, deadline=None)
def test_no_bytes_are_a_hello(frame):
    from sandbox.live.consumers import _hello

    try:
        text = frame.decode("latin-1")
    except UnicodeError:
        return
    found = _hello(text)
    assert found is None or found.since is None or found.since >= 0
