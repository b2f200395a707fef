"""Two requests at the same instant, each at a web process of its own: none is lost.

`QUOTALAB_ROUNDS=100` is the long run. Whoever loses is told so, and what is there
afterwards is what was answered.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from tests.services.default_run import DefaultRun, wait_for
from tests.services.server import (
    COMMANDS,
    ServerRun,
    as_here,
    running_server,
    started,
)

ROUNDS = int(os.environ.get("QUOTALAB_ROUNDS", "3"))
MAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
MERGE = "application/merge-patch+json"
Json = dict[str, Any]


class Asked(NamedTuple):
    """A request below a sandbox's path."""

    method: str
    path: str
    body: Any
    media: str = "application/json"
    match: str = ""  # its If-Match


class Answer(NamedTuple):
    code: int
    body: Json


class TwoProcesses:
    """Two web processes on one database, and a sandbox in it."""

    def __init__(self, urls: list[str], headers: dict[str, str]) -> None:
        self.places = [urlsplit(url).netloc for url in urls]
        self.headers = headers
        made = self._send(
            0, Asked("POST", "", {"title": "two at once", "policy": {"stack": "kueue"}})
        )
        assert made.code == 201, made
        self.sandbox = f"/{made.body['id']}"

    def ask(self, method: str, path: str, body: Any = None, **more: str) -> Answer:
        """Ask the first process."""
        asked = Asked(method, path, body, **more)
        return self._send(0, asked._replace(path=self.sandbox + path))

    def both(self, one: Asked, other: Asked) -> tuple[Answer, Answer]:
        """Ask each process one thing, at the same instant."""
        barrier = threading.Barrier(2)
        found: dict[int, Answer] = {}

        def send(at: int, asked: Asked) -> None:
            place = asked._replace(path=self.sandbox + asked.path)
            found[at] = self._send(at, place, barrier)

        threads = [
            threading.Thread(target=send, args=pair) for pair in enumerate((one, other))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return found[0], found[1]

    def _send(
        self, at: int, asked: Asked, barrier: threading.Barrier | None = None
    ) -> Answer:
        line = HTTPConnection(self.places[at], timeout=120)
        headers = {**self.headers, "Content-Type": asked.media}
        if asked.match:
            headers["If-Match"] = asked.match
        body = None if asked.body is None else json.dumps(asked.body)
        with contextlib.closing(line):
            line.connect()
            if barrier is not None:
                barrier.wait()
            line.request(asked.method, f"/api/v1/sandboxes{asked.path}", body, headers)
            answer = line.getresponse()
            return Answer(answer.status, json.loads(answer.read() or b"{}"))


def free_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return str(free.getsockname()[1])


@contextlib.contextmanager
def a_second(run: ServerRun) -> Iterator[str]:
    """Run one more web process; yields where it answers."""
    port = free_port()
    second = ServerRun(f"http://127.0.0.1:{port}", run.variables, run.folder)
    with started("second", as_here(COMMANDS["web"], port), second):
        wait_for(second.ready, "the word of the second web process")
        yield second.url


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def two(request, tmp_path_factory) -> Iterator[TwoProcesses]:
    folder = tmp_path_factory.mktemp(request.param)
    with contextlib.ExitStack() as stack:
        if request.param == "sqlite":
            single: DefaultRun = request.getfixturevalue("shared_run")
            path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
            variables = {**single.environment, "PATH": path}
            run, headers = ServerRun(single.url, variables, folder), {}
        else:
            postgres = request.getfixturevalue("postgres")
            unlimited = {"REQUESTS_PER_MINUTE": "0", "WRITES_PER_MINUTE": "0"}
            web = running_server(postgres, folder, processes=["web"], **unlimited)
            run = stack.enter_context(web)
            run.manage("person", "add", "olga", says="a long pass phrase\n")
            secret = run.manage("token", "olga").strip()
            headers = {"Authorization": f"Bearer {secret}"}
        other = stack.enter_context(a_second(run))
        yield TwoProcesses([run.url, other], headers)


def config_map(name: str, **labels: str) -> Json:
    metadata = {"name": name, "namespace": "default", "labels": labels}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


def pod(name: str) -> Json:
    spec = {"containers": [{"name": "c", "image": "i"}]}
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def labels_of(two: TwoProcesses, name: str) -> Json:
    found: Json = two.ask("GET", f"{MAPS}/{name}").body["metadata"].get("labels", {})
    return found


def made(two: TwoProcesses, name: str, **labels: str) -> Json:
    answer = two.ask("POST", MAPS, config_map(name, **labels))
    assert answer.code == 201, answer
    return answer.body


def one_wins(answers: tuple[Answer, Answer], won: int, lost: int) -> int:
    """Check that one of them has won and the other was told; return which has won."""
    assert sorted(one.code for one in answers) == sorted((won, lost)), answers
    return [one.code for one in answers].index(won)


def put_with_one_version(two: TwoProcesses, name: str) -> None:
    version = made(two, name)["metadata"]["resourceVersion"]

    def put(by: str) -> Asked:
        given = config_map(name, by=by)
        given["metadata"]["resourceVersion"] = version
        return Asked("PUT", f"{MAPS}/{name}", given)

    winner = one_wins(two.both(put("0"), put("1")), 200, 409)
    assert labels_of(two, name) == {"by": str(winner)}


def patch_of_two_labels(two: TwoProcesses, name: str) -> None:
    made(two, name)

    def patch(by: str) -> Asked:
        given = {"metadata": {"labels": {by: "here"}}}
        return Asked("PATCH", f"{MAPS}/{name}", given, MERGE)

    answers = two.both(patch("a"), patch("b"))
    assert [one.code for one in answers] == [200, 200], answers
    assert labels_of(two, name) == {"a": "here", "b": "here"}


def patch_with_a_test(two: TwoProcesses, name: str) -> None:
    made(two, name, n="0")

    def patch(by: str) -> Asked:
        given = [
            {"op": "test", "path": "/metadata/labels/n", "value": "0"},
            {"op": "replace", "path": "/metadata/labels/n", "value": f"by-{by}"},
        ]
        return Asked("PATCH", f"{MAPS}/{name}", given, "application/json-patch+json")

    winner = one_wins(two.both(patch("0"), patch("1")), 200, 422)
    assert labels_of(two, name) == {"n": f"by-{winner}"}


def post_of_one_name(two: TwoProcesses, name: str) -> None:
    first, second = (config_map(name, by=by) for by in "01")
    answers = two.both(Asked("POST", MAPS, first), Asked("POST", MAPS, second))
    winner = one_wins(answers, 201, 409)
    assert answers[1 - winner].body["reason"] == "AlreadyExists"
    assert labels_of(two, name) == {"by": str(winner)}


def pods_against_a_quota_of_one(two: TwoProcesses, name: str) -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "one"},
        "spec": {"hard": {"pods": "1"}},
    }
    quotas = "/api/v1/namespaces/default/resourcequotas"
    two.ask("POST", quotas, quota)
    names = [f"{name}-{by}" for by in "01"]
    answers = two.both(*(Asked("POST", PODS, pod(one)) for one in names))
    winner = one_wins(answers, 201, 403)
    found = two.ask("GET", PODS).body["items"]
    assert [one["metadata"]["name"] for one in found] == [names[winner]]
    two.ask("DELETE", f"{PODS}/{names[winner]}")
    two.ask("DELETE", f"{quotas}/one")


def rest_put_with_one_version(two: TwoProcesses, name: str) -> None:
    match = f'"{made(two, name)["metadata"]["resourceVersion"]}"'
    path = f"/objects/ConfigMap/default/{name}"
    asked = (Asked("PUT", path, config_map(name, by=by), match=match) for by in "01")
    winner = one_wins(two.both(*asked), 200, 412)
    assert labels_of(two, name) == {"by": str(winner)}


def rest_patch_of_two_labels(two: TwoProcesses, name: str) -> None:
    made(two, name)
    path = f"/objects/ConfigMap/default/{name}"
    bodies = ({"metadata": {"labels": {by: "here"}}} for by in "ab")
    answers = two.both(*(Asked("PATCH", path, one, MERGE) for one in bodies))
    assert [one.code for one in answers] == [200, 200], answers
    assert labels_of(two, name) == {"a": "here", "b": "here"}


def put_and_delete_with_one_version(two: TwoProcesses, name: str) -> None:
    version = made(two, name)["metadata"]["resourceVersion"]
    given = config_map(name, by="0")
    given["metadata"]["resourceVersion"] = version
    options = {"preconditions": {"resourceVersion": version}}
    path = f"{MAPS}/{name}"
    put, deleted = two.both(Asked("PUT", path, given), Asked("DELETE", path, options))
    left = two.ask("GET", path).code
    assert (put.code, deleted.code, left) in {(200, 409, 200), (404, 200, 404)}


def edits_of_one_revision(two: TwoProcesses, name: str) -> None:
    seen = int(made(two, name)["metadata"]["resourceVersion"])
    bodies = ({"objects": [config_map(name, by=by)], "revision": seen} for by in "01")
    asked = (Asked("POST", "/actions/apply", body) for body in bodies)
    winner = one_wins(two.both(*asked), 200, 409)
    assert labels_of(two, name) == {"by": str(winner)}


PAIRS: tuple[Callable[[TwoProcesses, str], None], ...] = (
    put_with_one_version,
    patch_of_two_labels,
    patch_with_a_test,
    post_of_one_name,
    pods_against_a_quota_of_one,
    rest_put_with_one_version,
    rest_patch_of_two_labels,
    put_and_delete_with_one_version,
    edits_of_one_revision,
)


@pytest.mark.parametrize("pair", PAIRS, ids=[one.__name__ for one in PAIRS])
def test_none_of_two_at_once_is_lost(two, pair):
    lost = []
    for at in range(ROUNDS):
        try:
            pair(two, f"{pair.__name__.replace('_', '-')}-{at}")
        except AssertionError as error:
            lost.append(str(error).splitlines()[0])
    assert not lost, f"{len(lost)} of {ROUNDS}: {lost[0]}"
