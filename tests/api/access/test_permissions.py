"""Every route, for every role, on private and public sandboxes."""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone
from rest_framework.test import APIClient

from sandbox import actions
from sandbox.models import Sandbox, Token
from sandbox.process import schema_version
from sandbox.world import worlds
from tests.api.access.permissions import ONE, OTHERS
from tests.api.access.roles import NOBODY, ROLES
from tests.builders import cluster_queue, flavor
from tests.sandbox.conftest import row

REQUEST_ID = "X-Request-ID"  # another one in each answer


PASSWORD = "a long pass phrase"


ID = "api/v1/sandboxes/<str:sandbox_id>"


#: Path parameter -> something that is there.
PLACES = {
    "kind": "ClusterQueue",
    "namespace": "default",
    "name": "a",
    "table": "workloads",
    "place": "1.0",
    "username": "carol",
    "link_id": "1",
    "follower": NOBODY,
    "version": "v1beta2",
    "group": "kueue.x-k8s.io",
    "plural": "clusterqueues",
    "partition": "default",
    "queue": "root",
    "state": "active",
}


NEW = {"objects": [flavor("new")]}


#: Bodies that are requests, so that nothing but the permission can refuse them.
BODIES: dict[str, object] = {
    "patch ": {"title": "other"},
    "post actions/play": {"speed": 1},
    "post actions/speed": {"speed": 2},
    "post actions/step": {"ticks": 1},
    "post actions/import": NEW,
    "post actions/apply": NEW,
    "post actions/delete": {"objects": [{"kind": "ClusterQueue", "name": "a"}]},
    "post actions/move": {"workload": "default/job-x", "to": "b-queue"},
    "post actions/node": {"name": "n", "change": "cordon"},
    "post actions/cluster": {"name": "a", "change": "lose"},
    "post actions/convert": {"stack": "yunikorn"},
    "post actions/pin": {"pod": "default/p", "node": ""},
    "post actions/rewind": {"tick": 0},
    "put policy": {"spec": {}},
    "patch policy": {"spec": {}},
    "post shares": {"mayFork": False},
    "put members/<str:username>": {"role": "viewer"},
    "put lesson": {"view": "board", "query": "", "revealed": []},
    "put lesson/followers/<str:follower>": {"stop": 0, "choice": 0},
    "post api/v1/namespaces/<str:namespace>/pods/<str:name>/binding": {
        "target": {"kind": "Node", "name": "n"}
    },
}


class RouteCase(NamedTuple):
    """One method of one route."""

    method: str
    route: str
    power: str
    scope: str

    @property
    def tail(self) -> str:
        return self.route.removeprefix(ID).lstrip("/")

    def address(self, sandbox_id: str) -> str:
        def fill(match: re.Match[str]) -> str:
            name = match[1]
            if name == "namespace" and "<str:kind>" in self.route:
                return "-"  # a ClusterQueue is in none
            return sandbox_id if name == "sandbox_id" else PLACES.get(name, "1")

        return "/" + re.sub(r"<\w+:(\w+)>", fill, self.route)

    def send(self, client: APIClient, sandbox_id: str) -> Any:
        body = BODIES.get(f"{self.method} {self.tail}", {})
        if "<str:plural>" in self.tail or self.tail.startswith("objects/"):
            made = cluster_queue("fresh" if self.method == "post" else "a")
            body = made if self.method != "delete" else None
        kind = "application/json"
        if self.method == "patch" and "plural" in self.tail:
            kind = "application/merge-patch+json"
        query = f"?with={sandbox_id}" if self.tail in ("compare", "pair") else ""
        send = getattr(client, self.method)
        if self.method == "get":
            return send(self.address(sandbox_id) + query)
        data = None if body is None else json.dumps(body)
        return send(self.address(sandbox_id), data=data, content_type=kind)


def walk(patterns: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield (method, route) of everything that the router has; "any" without a view."""
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from walk(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern):
            view = getattr(pattern.callback, "view_class", None)
            if view is None:
                yield "any", route
                continue
            for method in view.http_method_names:
                if hasattr(view, method) and method not in ("options", "head"):
                    yield method, route


def cases() -> list[RouteCase]:
    """The table, read."""
    below = {f"{ID}/{tail}".rstrip("/"): said for tail, said in ONE.items()}
    found = []
    for route, said in {**below, **OTHERS}.items():
        for words in said.split(", "):
            method, power, scope, *_ = (*words.split(), "", "")
            if words == "open":
                method, power = "any", "open"
            usual = "read" if method == "get" else "write"
            found.append(RouteCase(method, route, power, scope or usual))
    return found


CASES = cases()


BELOW = [case for case in CASES if case.route.startswith(ID)]


def test_every_route_has_a_line_in_the_table_and_every_line_a_route():
    there = set(walk(get_resolver().url_patterns))
    listed = {(case.method, case.route) for case in CASES}
    assert (there - listed, listed - there) == (set(), set())


def client_of(user: User | None) -> APIClient:
    client = APIClient(raise_request_exception=True)
    client.force_authenticate(user)
    return client


def send_and_undo(case: RouteCase, client: APIClient, sandbox_id: str) -> Any:
    """Send it; whatever it did is undone, so that the next finds all as it was."""
    with transaction.atomic():
        answer = case.send(client, sandbox_id)
        transaction.set_rollback(True)
    if case.method != "get":
        worlds.forget_all()
    return answer


def lacking(case: RouteCase) -> set[int]:
    """What a route answers to who may look and not do: no; or that no such part is there."""
    return {403, 404} if "<" in case.tail else {403}


#: Everybody where it is private; where it is public, the owner and whom that serves.
PEOPLE = [(role, "private") for role in ROLES] + [
    (role, "public")
    for role, powers in ROLES.items()
    if role == "owner" or not powers >= {"look", "fork"}
]


@pytest.mark.django_db
@pytest.mark.parametrize(("role", "visibility"), PEOPLE)
def test_a_role_may_use_its_routes_and_no_other(server, quiet, be, role, visibility):
    client = client_of(be(role))
    if visibility == "public":
        actions.do_set_visibility(quiet.owner, quiet.pk, "public")
    powers = ROLES[role] | ({"look", "fork"} if visibility == "public" else set())
    before, wrong = row(quiet), []
    for case in BELOW:
        code = send_and_undo(case, client, quiet.pk).status_code
        if not powers:
            fits = code == send_and_undo(case, client, NOBODY).status_code
            fits &= code in (404, 410)
        elif case.power in powers:
            fits = code not in (401, 403) and code < 500
        else:
            fits = code in lacking(case)
        wrong += [] if fits else [f"{case.method} {case.tail} ({case.power}): {code}"]
    assert not wrong, "\n".join(wrong)
    assert (row(quiet).revision, row(quiet).title) == (before.revision, before.title)


@pytest.mark.django_db
def test_one_that_is_hidden_and_none_at_all_are_the_same(
    server, quiet, be, monkeypatch
):
    """Status, body, headers and the number of questions to the database.

    Looks at the migrations come by the clock, whatever is asked: not counted.
    """
    monkeypatch.setattr(schema_version._Look, "at", math.inf)
    client, wrong = client_of(be("stranger")), []
    for case in BELOW:
        seen = []
        for key in (quiet.pk, NOBODY):
            with CaptureQueriesContext(
                connection,
            ) as asked:
                answer = send_and_undo(case, client, key)
            said = answer.content.decode().replace(key, "ID")
            headers = {k: v for k, v in answer.headers.items() if k != REQUEST_ID}
            seen.append((answer.status_code, said, headers, len(asked)))
        wrong += [] if seen[0] == seen[1] else [(case.method, case.tail, seen)]
    assert wrong == []


@pytest.mark.django_db
@pytest.mark.parametrize("key", ["none", "unknown token", "expired token", "stopped"])
@pytest.mark.parametrize("visibility", ["private", "public"])
def test_without_a_valid_key_every_route_answers_401(server, quiet, key, visibility):
    actions.do_set_visibility(quiet.owner, quiet.pk, visibility)
    client = APIClient()
    if key != "none":
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {dead_token(quiet, key)}")
    inside = [case for case in CASES if case.power != "open"]
    codes = {case: case.send(client, quiet.pk).status_code for case in inside}
    assert {f"{d.method} {d.route}": c for d, c in codes.items() if c != 401} == {}


def dead_token(sandbox: Sandbox, kind: str) -> str:
    if kind == "unknown token":
        return "ql_never-made"
    owner = sandbox.owner
    _, secret = actions.do_token(owner, name="t", scope="admin", expires_at=None)
    if kind == "expired token":
        past = timezone.now() - datetime.timedelta(seconds=1)
        Token.objects.update(expires_at=past)
    else:
        User.objects.filter(pk=owner.pk).update(is_active=False)
    return secret


@pytest.mark.django_db
@pytest.mark.parametrize("scope", ["read", "write", "admin"])
def test_a_token_goes_no_further_than_its_scope(server, quiet, be, scope):
    be("owner")  # and carol
    _, secret = actions.do_token(quiet.owner, name="t", scope=scope, expires_at=None)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    wrong, order = [], ("read", "write", "admin")
    for case in CASES:
        if case.power == "open":
            continue
        code = send_and_undo(case, client, quiet.pk).status_code
        beyond = order.index(case.scope) > order.index(scope)
        if (code == 403) != beyond:
            wrong.append(f"{case.method} {case.route} ({case.scope}): {code}")
    assert wrong == []


@pytest.mark.django_db
@pytest.mark.parametrize("visibility", ["private", "public"])
def test_an_experiment_is_its_owners_or_to_be_looked_at(
    server, person, stranger, visibility
):
    from sandbox.experiments import actions as experiments
    from tests.api.hostile.test_limits import an_experiment

    made = experiments.do_start(person, an_experiment(1, "1m"), visibility=visibility)
    client, wrong = client_of(stranger), []
    for case in CASES:
        if "<str:experiment_id>" not in case.route:
            continue
        there, nowhere = (
            send_and_undo(
                case._replace(route=case.route.replace("<str:experiment_id>", key)),
                client,
                NOBODY,
            )
            for key in (made.pk, NOBODY)
        )
        said = there.content.decode().replace(made.pk, NOBODY)
        if visibility == "private":
            fits = there.status_code == 404 and said == nowhere.content.decode()
        else:
            fits = (there.status_code == 403) == (case.power == "own")
        wrong += [] if fits else [f"{case.method} {case.route}: {there.status_code}"]
    assert wrong == []


@pytest.mark.django_db
def test_lists_name_nothing_that_is_hidden(server, quiet, be):
    client = client_of(be("stranger"))
    for path in ("sandboxes", "experiments", "disk", "tokens", "me"):
        assert quiet.pk not in client.get(f"/api/v1/{path}").content.decode()
    assert quiet.pk not in client.get("/metrics").content.decode()


@pytest.mark.django_db
def test_another_ones_token_cannot_be_revoked_or_found_out(server, quiet, be):
    token, _ = actions.do_token(quiet.owner, name="t", scope="read", expires_at=None)
    client = client_of(be("stranger"))
    there = client.delete(f"/api/v1/tokens/{token.pk}")
    nowhere = client.delete("/api/v1/tokens/999999")
    assert there.status_code == nowhere.status_code == 404
    assert Token.objects.filter(pk=token.pk).exists()


@pytest.mark.django_db
def test_what_hides_is_not_compared_with(server, quiet, be, make):
    """A sandbox in a query needs permission as well."""
    user = be("stranger")
    own = actions.do_create(user, title="own").sandbox
    client = client_of(user)
    answers = [
        client.get(f"/api/v1/sandboxes/{own.pk}/compare?with={key}")
        for key in (quiet.pk, NOBODY)
    ]
    assert [answer.status_code for answer in answers] == [404, 404]
    texts = [
        answer.content.decode().replace(key, "ID")
        for answer, key in zip(answers, (quiet.pk, NOBODY), strict=True)
    ]
    assert texts[0] == texts[1]


@pytest.mark.django_db
@pytest.mark.parametrize("role", [role for role, powers in ROLES.items() if powers])
def test_a_review_of_access_says_what_the_route_does(server, quiet, be, role):
    user = be(role)
    clients = [client_of(user)]
    for scope in ("read", "write"):
        _, secret = actions.do_token(user, name="t", scope=scope, expires_at=None)
        clients.append(APIClient(headers={"authorization": f"Bearer {secret}"}))
    base, group = f"/api/v1/sandboxes/{quiet.pk}/apis", "kueue.x-k8s.io"
    review = f"{base}/authorization.k8s.io/v1/selfsubjectaccessreviews"
    queues, new = f"{base}/{group}/v1beta2/clusterqueues", cluster_queue("fresh")
    for client in clients:
        for verb, answer in (
            ("list", client.get(queues)),
            ("create", client.post(f"{queues}?dryRun=All", new, format="json")),
            ("delete", client.delete(f"{queues}/a?dryRun=All")),
        ):
            asked = {"group": group, "resource": "clusterqueues", "verb": verb}
            said = client.post(review, {"spec": {"resourceAttributes": asked}})
            allowed = said.json()["status"]["allowed"]
            assert allowed == (answer.status_code != 403), (verb, answer.status_code)
            assert answer.status_code in (200, 201, 403)
