"""A search for small requests that cost much: the cost is what the search goes up by.

`COST_SECONDS=600` searches for so long over everything; without it a few of each.
"""

from __future__ import annotations

import gc
import json
import os
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, seed, settings, target
from hypothesis import strategies as st

from api.cluster.resources import SERVED, Resource
from sandbox.models import KeptForecast, Question
from scheduler.model import schemas
from tests.api.hostile.test_fuzz import OPERATIONS, one_connection, schema  # noqa: F401
from tests.api.hostile.test_small_inputs import MULTIPLIED, POD, SELECTOR, TEMPLATE
from tests.builders import job, node, pod
from tests.sandbox.conftest import contended

pytestmark = pytest.mark.django_db

SECONDS = int(os.environ.get("COST_SECONDS", "0"))
LARGEST = 2048  # bytes of a small input
MOST_CPU_S, MOST_BYTES = 1.0, 50 * 2**20
#: The same request is sent again before it is called costly: the first one also loads
#: modules, and a busy machine makes each a little dearer.
TRIES = 3


def examples(count: int) -> settings:
    """Return how many of each are tried."""
    return settings(
        max_examples=count,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.target),
        database=None,
    )


def peak() -> int:
    """Return the largest resident size since the last `begin_peak`, in bytes."""
    with open("/proc/self/status", encoding="ascii") as status:
        (line,) = (line for line in status if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def begin_peak() -> int:
    """Begin to look for the peak; return the present size."""
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")
    return int(psutil.Process().memory_info().rss)


def cost_of(act: Callable[[], object]) -> tuple[float, int]:
    """Return CPU seconds and bytes that something costs, the least of a few tries."""
    costs: list[tuple[float, int]] = []
    for _ in range(TRIES):
        before, begun = begin_peak(), time.process_time()
        act()
        costs.append((time.process_time() - begun, peak() - before))
        if costs[-1][0] <= MOST_CPU_S and costs[-1][1] <= MOST_BYTES:
            break
        gc.collect()
    return min(cpu for cpu, _ in costs), min(size for _, size in costs)


def check_cost(act: Callable[[], object], what: str) -> None:
    """Refuse what costs more than a small request may; the search goes up by it."""
    cpu, size = cost_of(act)
    target(min(cpu, 100.0), label="CPU seconds")
    target(size / 2**20, label="MiB")
    assert cpu <= MOST_CPU_S, f"{cpu:.2f} CPU-s: {what}"
    assert size <= MOST_BYTES, f"{size / 2**20:.0f} MiB: {what}"


@pytest.fixture
def by_workers(settings, one_connection):  # noqa: F811 - the fixture
    """Leave to workers what is theirs: here it costs nothing."""
    settings.ANSWER_INLINE, settings.ANSWER_WAIT_S = False, 0
    none = ("answers", "answers_per_user", "jobs_per_user")
    settings.LIMITS = {**settings.LIMITS, **dict.fromkeys(none, 0)}


def forget_asked() -> None:
    """Forget what was asked of workers."""
    Question.objects.all().delete()
    KeptForecast.objects.all().delete()


def holds_for(operation: str, sandbox: Any, number: int) -> None:
    """Search one operation of the schema."""
    # Each request of Django's client connects these again.
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    method, path = operation.split()

    @examples(2 * number)
    @seed(number)
    @given(case=schema()[path][method].as_strategy())
    def cheap(case: Any) -> None:
        if "sandbox_id" in (case.path_parameters or {}):
            case.path_parameters["sandbox_id"] = sandbox.pk
        body = case.body if isinstance(case.body, bytes) else repr(case.body).encode()
        if len(body) <= LARGEST:
            check_cost(
                lambda: case.call(headers={"Host": "127.0.0.1"}),
                f"{operation} {case.query} {body[:LARGEST]!r}",
            )
        forget_asked()

    cheap()


# ---------------------------------------------------------- kubectl's paths

WHOLE = st.sampled_from([0, 1, 2, 100, 9_999, 10_001, 2**31 - 1, 2**63 - 1])
TEXTS = st.sampled_from(
    [
        "a",
        "n",
        "default",
        "a-queue",
        "0-2000000000",
        "0-1," * 200,
        "1e400",
        "9" * 400,
        "1m",
        "999999h",
        "* * * * *",
        "(a+)+$",
        ".*" * 200,
        "a" * 700,
        "{{" * 200,
        "2026-01-01T00:00:00Z",
        "cpu in (a,b,c)",
        'x == "' + "a" * 200,
        " && ".join(["size([1,2,3].map(x, [x,x])) > 0"] * 20),
        "[1,2,3].all(a, [1,2,3].all(b, [1,2,3].all(c, a+b+c > 0)))",
        "<<: *a",
        "é" * 100,
    ]
)
QUANTITIES = st.sampled_from(["0", "1", "100m", "1Gi", "9" * 18, "1e18", "-1", "1n"])
PLAIN: dict[str, st.SearchStrategy[Any]] = {
    "bool": st.booleans(),
    "int32": WHOLE,
    "int64": WHOLE,
    "any": st.one_of(WHOLE, TEXTS),
    "Quantity": QUANTITIES,
    "Time": st.sampled_from(["2026-01-01T00:00:00Z", "9999-12-31T23:59:59Z"]),
    "IntOrString": st.one_of(WHOLE, st.just("100%")),
}


def of_type(type_: str, depth: int = 0) -> st.SearchStrategy[Any]:
    """Return values of a type of the schema, with some that multiply."""
    if type_.startswith("[]"):
        return st.lists(of_type(type_[2:], depth + 1), max_size=4)
    if type_.startswith("map "):
        return st.dictionaries(TEXTS, of_type(type_[4:], depth + 1), max_size=3)
    if type_ in PLAIN:
        return PLAIN[type_]
    fields = schemas.fields_of(type_) if type_ in schemas.types() else {}
    if not fields or depth > 7:
        return TEXTS
    return st.deferred(lambda: fields_of(fields, depth))


def fields_of(fields: schemas.Fields, depth: int) -> st.SearchStrategy[Any]:
    """Return objects that have the required fields and some of the others."""

    def value(field: schemas.Field) -> st.SearchStrategy[Any]:
        return (
            st.sampled_from(field.enum)
            if field.enum
            else of_type(field.type, depth + 1)
        )

    named = {
        n: f
        for n, f in fields.items()
        if n and n not in ("metadata", "kind", "apiVersion")
    }
    needed = {n: value(f) for n, f in named.items() if f.required}
    others = {n: value(f) for n, f in named.items() if not f.required}
    return st.fixed_dictionaries(needed, optional=others)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of the values in an object that are no objects and no lists."""
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for name, one in inner:
        yield from leaves(one, (*path, name))
    if not isinstance(value, dict | list):
        yield path


def changed(base: dict[str, Any], changes: list[tuple[int, Any]]) -> dict[str, Any]:
    """Return an object with values of some of its leaves replaced."""
    found = json.loads(json.dumps(base))
    places = [path for path in leaves(found) if path[0] not in ("apiVersion", "kind")]
    for number, value in changes:
        holder, path = found, places[number % len(places)]
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = value
    return found


KNOWN = {
    **{kind: manifest for kind, (_, manifest) in MULTIPLIED.items()},
    "Node": node("m"),
    "Pod": pod("m"),
    "DaemonSet": {
        "spec": {
            "selector": SELECTOR,
            "template": {**TEMPLATE, "spec": {**POD, "restartPolicy": "Always"}},
        }
    },
    "Job": job("m", queue="a-queue"),
}


def manifests_of(resource: Resource) -> st.SearchStrategy[dict[str, Any]]:
    """Return objects of a kind: drawn from its schema, or one that is good with changes."""
    head = {
        "apiVersion": resource.group_version,
        "kind": resource.kind.kind,
        "metadata": {"name": "m", "labels": {"kueue.x-k8s.io/queue-name": "a-queue"}},
    }
    ways = []
    if resource.type_:
        drawn = of_type(resource.type_)
        ways.append(
            drawn.map(lambda one: {**(one if isinstance(one, dict) else {}), **head})
        )
    if base := KNOWN.get(resource.kind.kind):
        values = st.one_of(WHOLE, TEXTS, QUANTITIES)
        pairs = st.lists(st.tuples(st.integers(0, 60), values), max_size=3)
        ways.append(pairs.map(lambda some: {**changed(base, some), **head}))
    return st.one_of(*ways) if ways else st.just({**head, "spec": {}})


POINTERS = st.sampled_from(
    [
        "",
        "/metadata",
        "/metadata/labels",
        "/spec",
        "/metadata/labels/x",
        "/spec/-",
        "/a",
    ]
)
OPERATION = st.one_of(
    st.fixed_dictionaries(
        {"op": st.sampled_from(["copy", "move"]), "from": POINTERS, "path": POINTERS}
    ),
    st.fixed_dictionaries(
        {
            "op": st.sampled_from(["add", "test", "replace", "remove"]),
            "path": POINTERS,
            "value": TEXTS,
        }
    ),
)
JSON_PATCHES = st.lists(OPERATION, max_size=30)


def holds_for_kind(client: Any, sandbox: Any, resource: Resource, number: int) -> None:
    """Search the paths of one kind: make, replace, patch in four ways, read, scale, delete."""
    group, version = resource.kind.group, resource.version
    root = f"/api/v1/sandboxes/{sandbox.pk}/" + (
        f"apis/{group}/{version}" if group else f"api/{version}"
    )
    inside = "/namespaces/default" if resource.kind.namespaced else ""
    many = f"{root}{inside}/{resource.kind.plural}"
    one = f"{many}/m"

    @examples(2 * number)
    @seed(number)
    @given(manifest=manifests_of(resource), patch=JSON_PATCHES, text=TEXTS)
    def cheap(manifest: dict[str, Any], patch: list[Any], text: str) -> None:
        body = json.dumps(manifest)

        def send(
            method: str, url: str, data: str = "", media: str = "application/json"
        ) -> None:
            if len(data) <= LARGEST:
                check_cost_of_one(method, url, data, media)

        def check_cost_of_one(method: str, url: str, data: str, media: str) -> None:
            known = client.get(one).status_code

            def act() -> None:
                getattr(client, method)(url, data=data, content_type=media)

            cpu, size = cost_of(act)
            worst[0], worst[1] = max(worst[0], cpu), max(worst[1], size)
            what = f"{method} {url} ({known}) {media} {data}"
            assert cpu <= MOST_CPU_S, f"{cpu:.2f} CPU-s: {what}"
            assert size <= MOST_BYTES, f"{size / 2**20:.0f} MiB: {what}"

        worst: list[Any] = [0.0, 0]
        send("post", many, body)
        send("put", one, body)
        for media in ("merge-patch+json", "strategic-merge-patch+json"):
            send("patch", one, body, f"application/{media}")
        applied = f"{one}?fieldManager=x&force=1"
        send("patch", applied, body, "application/apply-patch+yaml")
        for _ in range(3):
            send("patch", one, json.dumps(patch), "application/json-patch+json")
        send("patch", f"{one}/status", body, "application/merge-patch+json")
        replicas = json.dumps({"spec": {"replicas": 10_000}})
        send("patch", f"{one}/scale", replicas, "application/merge-patch+json")
        for query in ("labelSelector", "fieldSelector", "continue", "limit"):
            client_get = f"{many}?{query}={text}"
            check_cost_of_one("get", client_get, "", "application/json")
        client.delete(one)
        target(worst[0], label="CPU seconds")
        target(worst[1] / 2**20, label="MiB")

    cheap()


RESOURCES = {
    f"{r.full_name}/{r.version}": r for r in SERVED.values() if not r.is_events
}


@pytest.fixture
def world(make):
    """A sandbox with queues, nodes and work."""
    return make(*contended(), node("n1"), node("n2"))


@pytest.mark.skipif(SECONDS > 0, reason="the long search does it")
@pytest.mark.parametrize("kind", sorted(RESOURCES)[::12])
def test_no_small_object_costs_much(client, world, by_workers, kind):
    holds_for_kind(client, world, RESOURCES[kind], 1)


@pytest.mark.skipif(not SECONDS, reason="COST_SECONDS names for how long")
def test_the_long_search_finds_nothing(client, world, busy, by_workers):
    end, number, found, tried = time.monotonic() + SECONDS, 0, [], set()
    entries: list[tuple[str, Any]] = [
        *RESOURCES.items(),
        *((operation, None) for operation in OPERATIONS),
    ]
    while time.monotonic() < end:
        number += 1
        for name, resource in entries:
            if time.monotonic() >= end:
                break
            tried.add(name)
            try:
                if resource is None:
                    holds_for(name, busy, number)
                else:
                    holds_for_kind(client, world, resource, number)
            except Exception as error:  # each is reported, and the search goes on
                found.append("".join(traceback.format_exception(error)))
                warnings.warn(f"{name}: {found[-1][-3000:]}", stacklevel=1)
    assert found == []
    assert sorted(tried) == sorted(name for name, _ in entries)
