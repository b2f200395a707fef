"""Hostile URLs, bodies and numbers are answered with 4xx and a Status, never with 500."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from sandbox import actions
from sandbox.models import Sandbox
from sandbox.retention import archives
from scheduler.input.manifests.load import load
from scheduler.model import schemas
from tests.api.hostile.test_costs import KNOWN, RESOURCES
from tests.sandbox.conftest import contended, text_of, tick

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

DIGITS = "9" * 4301
LONG = "n" * 400
#: Below a sandbox's address; each is tried with GET.
URLS = [
    *(
        path.replace("X", bad)
        for path in (
            "objects/X/default/a",
            "objects/Job/X/a",
            "objects/Job/default/X",
            "tables/X",
            "tables/workloads?search=X",
            "tables/workloads?sort=X",
            "tables/workloads?phase=X",
            "tables/workloads?limit=X",
            "tables/workloads?tick=X",
            "events?subject=X",
            "events?type=X",
            "events?after=X",
            "events?reason=X",
            "events?fromTick=X",
            "events?search=X",
            "preemptions/X",
            "preemptions?after=1.X",
            "events/X/reproduction",
            "events/1.X/reproduction",
            "explain/X/a",
            "explain/default/X",
            "explain/default/X?kind=Pod",
            "explain/default/a?kind=X",
            "compare?with=X",
            "compare?with=X&toTick=X",
            "samples?toTick=X",
            "samples?fromTick=X&limit=X",
            "state?tick=X",
            "export?what=X",
            "export?format=X",
            "fairness?cohort=X",
            "fairness?tick=X",
            "forecast?futures=1&seed=X",
            "forecast?futures=1&withinMs=X",
            "shadow?most=X",
            "api/v1/namespaces/X/pods",
            "api/v1/namespaces/default/pods/X",
            "api/v1/pods?labelSelector=X",
            "api/v1/pods?fieldSelector=metadata.name%3DX",
            "api/v1/pods?limit=X",
            "api/v1/pods?continue=X",
            "api/v1/pods?watch=1&resourceVersion=X",
            "api/v1/pods?watch=1&timeoutSeconds=X&resourceVersion=1",
            "apis/X/v1/jobs",
            "apis/batch/X/jobs",
            "apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/X/pendingworkloads",
            "ws/v1/partition/X/queues",
            "ws/v1/partition/default/queue/X",
            "ws/v1/partition/default/queue/X/applications",
            "ws/v1/partition/default/node/X",
            "ws/v1/events/batch?start=X",
            "ws/v1/events/batch?count=X",
        )
        for bad in (
            "%00",
            "%ED%A0%80",
            "%FF",
            DIGITS,
            LONG,
            "-1",
            "%F0%9F%92%A5",
            "1e400",
            "a%0Ab",
        )
    )
]
BIG = 10**400
#: Path, and a body as JSON text.
BODIES = {
    "a NUL in a title": ("", '{"title": "a\\u0000b"}'),
    "a lone surrogate in a title": ("", '{"title": "\\ud800"}'),
    "a title of 400 letters": ("", json.dumps({"title": LONG})),
    "a tick of 400 digits": ("actions/step", json.dumps({"untilTick": BIG})),
    "ticks below one": ("actions/step", '{"ticks": 0}'),
    "a speed that is infinite": ("actions/speed", '{"speed": 1e999}'),
    "a speed that is no number": ("actions/speed", '{"speed": NaN}'),
    "a NUL in an event's subject": (
        "actions/step",
        '{"untilEvent": {"type": "Admit", "subject": "\\u0000"}}',
    ),
    "a surrogate in an event's subject": (
        "actions/step",
        '{"untilEvent": {"type": "Admit", "subject": "\\udfff"}}',
    ),
    "a rewind to 400 digits": ("actions/rewind", json.dumps({"tick": BIG})),
    "a fork with a title of 400 letters": ("actions/fork", json.dumps({"title": LONG})),
    "a fork with a NUL": ("actions/fork", '{"title": "\\u0000"}'),
    "an import that is no YAML": (
        "actions/import",
        '{"files": [{"name": "x", "text": "\\u0000"}]}',
    ),
    "an import of base64 with letters that it has not": (
        "actions/import",
        '{"files": [{"name": "x", "data": "\\u00e9"}]}',
    ),
    "an import with surrogates": (
        "actions/import",
        '{"files": [{"name": "\\ud800", "text": "a: \\ud800"}]}',
    ),
    "an object with surrogates": (
        "actions/import",
        '{"objects": [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "\\ud800"}}]}',
    ),
    "an object with a NUL": (
        "actions/import",
        '{"objects": [{"apiVersion": "v1", "kind": "Node", '
        '"metadata": {"name": "n", "labels": {"a": "\\u0000"}}}]}',
    ),
    "an object of 400 digits": (
        "actions/import",
        json.dumps(
            {
                "objects": [
                    {
                        "apiVersion": "v1",
                        "kind": "Node",
                        "metadata": {"name": "n"},
                        "status": {"allocatable": {"cpu": BIG}},
                    }
                ]
            }
        ),
    ),
    "an object over 64 bits": (
        "actions/import",
        '{"objects": [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, '
        '"x": 18446744073709551616}]}',
    ),
    "a condition that is a text": (
        "actions/import",
        '{"objects": [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, '
        '"spec": {"containers": [{"name": "c"}]}, "status": {"conditions": ["x"]}}]}',
    ),
    "a forecast to 400 digits": ("forecast", json.dumps({"horizonMs": BIG})),
    "a key of 400 letters": (
        "actions/delete",
        json.dumps({"keys": [f"Job/{LONG}/{LONG}"]}),
    ),
    "a key with a NUL": ("actions/delete", '{"keys": ["Job/default/\\u0000"]}'),
    "a move with a NUL": (
        "actions/move",
        '{"workload": "Workload/default/\\u0000", "to": "LocalQueue/default/a"}',
    ),
    "a node with a NUL": ("actions/node", '{"name": "\\u0000", "change": "cordon"}'),
    "a pin with a surrogate": (
        "actions/pin",
        '{"namespace": "default", "name": "\\ud800", "node": "n"}',
    ),
    "a deep body": ("actions/import", '{"objects": [' + '{"a":' * 90_000),
    "a list where an object is asked": ("actions/step", "[1, 2]"),
    "a text where an object is asked": ("actions/step", '"x"'),
    "a number of 5,000 digits": ("actions/step", '{"ticks": ' + "9" * 5000 + "}"),
    "time that runs backward": ("policy", '{"spec": {"simulation": {"tickMs": -1}}}'),
    "time that stands": ("policy", '{"spec": {"simulation": {"tickMs": 0}}}'),
    "a policy with a NUL": (
        "policy",
        '{"spec": {"simulation": {"startTime": "\\u0000"}}}',
    ),
    "what if of 400 digits": ("what-ifs", json.dumps({"at": BIG, "changes": []})),
}


@pytest.fixture
def client(person):
    client = Client(raise_request_exception=False)
    if settings.SERVER:  # in the default run nobody has to sign in
        client.force_login(person)
    return client


def test_no_url_is_a_defect(client, busy):
    tick(busy, 3)
    found = {}
    for path in URLS:
        answer = client.get(f"/api/v1/sandboxes/{busy.pk}/{path}")
        # What is no resourceVersion is a 500 of an API server, with this sentence.
        if (
            answer.status_code >= 500
            and b"resourceVersion: Invalid" not in answer.content
        ):
            found[path[:100]] = answer.status_code
    assert not found


def test_a_path_that_leads_nowhere_is_refused_in_json(client):
    answer = client.get("/api/v1/experiments/a%0Ab/runs/-1/open")
    assert (answer.status_code, answer.json()["kind"]) == (404, "Status")


@pytest.mark.parametrize(("path", "body"), BODIES.values(), ids=BODIES)
def test_no_body_is_a_defect(client, busy, path, body):
    url = f"/api/v1/sandboxes/{busy.pk}" + (f"/{path}" if path else "")
    send = client.patch if path in ("", "policy") else client.post
    answer = send(url, body, content_type="application/json")
    assert 400 <= answer.status_code < 500, answer.content[:300]
    assert answer.json()["kind"] == "Status"


def test_a_sandbox_is_not_made_of_hostile_names(client):
    for given in (
        {"title": "\0"},
        {"title": "\ud800"},
        {"title": LONG},
        {"scenario": "\0"},
        {"scenario": "../../etc"},
        {"scenario": LONG},
        {"seed": BIG},
        {"seed": -1},
        {"policy": {"simulation": {"tickMs": -1}}},
        {"files": [{"name": "\0", "text": text_of(*contended(2)) + "\0"}]},
    ):
        answer = client.post(
            "/api/v1/sandboxes", json.dumps(given), content_type="application/json"
        )
        assert 400 <= answer.status_code < 500, (given, answer.content[:300])
    assert not Sandbox.objects.exists()


def test_flipped_bits_in_an_archive_are_refused_or_harmless(client, busy, person):
    tick(busy, 4)
    file = archives.write(busy.pk)
    for at in range(0, len(file), max(1, len(file) // 60)):
        for bit in (0, 7):
            damaged = bytearray(file)
            damaged[at] ^= 1 << bit
            answer = client.post(
                "/api/v1/archives",
                bytes(damaged),
                content_type="application/vnd.quotalab.sandbox",
            )
            assert answer.status_code in (201, 422), (at, bit, answer.content[:300])


def test_what_is_not_unicode_in_a_header_is_no_defect(client, busy):
    for name in ("HTTP_IF_MATCH", "HTTP_IDEMPOTENCY_KEY", "HTTP_AUTHORIZATION"):
        for value in ("\xff\xfe", "\x00", "x" * 5000, '"' + DIGITS + '"'):
            answer = client.post(
                f"/api/v1/sandboxes/{busy.pk}/actions/step",
                "{}",
                content_type="application/json",
                **{name: value},
            )
            assert answer.status_code < 500, (name, value[:20], answer.content[:300])


def test_escapes_of_yaml_do_not_smuggle_a_nul_in(client, busy):
    label = '{metadata: {name: n, labels: {a: "\\0"}}, kind: Node, apiVersion: v1}'
    for path in ("actions/import", "actions/apply"):
        answer = client.post(
            f"/api/v1/sandboxes/{busy.pk}/{path}",
            json.dumps({"files": [{"name": "n.yaml", "text": label}]}),
            content_type="application/json",
        )
        assert answer.status_code == 422, answer.content[:300]


def test_a_step_beyond_time_is_refused_by_the_action_too(busy, person):
    from sandbox.base.errors import InvalidError

    with pytest.raises(InvalidError, match="untilTick"):
        actions.do_step(person, busy.pk, until_tick=BIG)


@pytest.mark.parametrize(
    "time",
    [
        "nonsense",
        "",
        "2026-13-01T00:00:00Z",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
    ],
)
def test_a_start_time_that_is_none_is_refused_when_it_is_patched(client, busy, time):
    body = {"spec": {"simulation": {"startTime": time}}}
    url = f"/api/v1/sandboxes/{busy.pk}/policy"
    answer = client.patch(url, body, content_type="application/merge-patch+json")
    assert answer.status_code == 422
    assert "startTime" in answer.json()["message"]


def test_the_start_of_what_has_begun_stays(client, busy):
    body = {"spec": {"simulation": {"startTime": "2027-01-01T00:00:00Z"}}}
    url = f"/api/v1/sandboxes/{busy.pk}/policy"
    answer = client.patch(url, body, content_type="application/merge-patch+json")
    assert answer.status_code == 422
    assert "make another one" in answer.json()["message"]


# ------------------------------------------- values of other types than a kind's


Path = tuple[str | int, ...]
#: Fields of a type that was seen already are looked into no deeper than this.
NEAR = 3


def places(type_: str, seen: set[str], above: Path = ()) -> Iterator[Path]:
    """Yield the paths of the objects, maps and lists of a type."""
    if type_.startswith("[]"):
        yield above
        yield from places(type_[2:], seen, (*above, 0))
    elif type_.startswith("map "):
        yield above
        yield from places(type_[4:], seen, (*above, "a"))
    elif fields := schemas.fields_of(type_):
        yield above
        if type_ not in seen or len(above) <= NEAR:
            seen.add(type_)
            for name, field in fields.items():
                if name:
                    yield from places(field.type, seen, (*above, name))


def put(holder: Any, path: Path, value: Any) -> Any:
    """Return a value with another one at a path; what leads there is made."""
    if not path:
        return value
    name, *rest = path
    if name == 0:
        known = holder if isinstance(holder, list) and holder else [{"name": "a"}]
        return [put(known[0], tuple(rest), value), *known[1:]]
    known = holder if isinstance(holder, dict) else {"name": "a"}
    return {**known, name: put(known.get(name), tuple(rest), value)}


@pytest.mark.parametrize("value", ["x", ["x"]])
def test_no_value_of_another_type_is_a_fault_of_the_program(value):
    for resource in RESOURCES.values():
        head = {"apiVersion": resource.group_version, "kind": resource.kind.kind}
        known = {**KNOWN.get(resource.kind.kind, {}), **head}
        known["metadata"] = {**known.get("metadata", {}), "name": "m"}
        for path in filter(None, places(resource.type_ or "", set())):
            loaded = load((), objects=[("body", put(known, path, value))])
            assert loaded.files == ["body"], path
