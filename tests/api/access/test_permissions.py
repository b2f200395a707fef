"""Every route and every message, for every role, on private and public sandboxes."""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import OperationalError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone
from rest_framework.test import APIClient

from sandbox import actions
from sandbox.live import rights
from sandbox.live.asgi import application
from sandbox.live.consumers import MOST_HELLOS
from sandbox.models import Sandbox, ShareLink, Token
from sandbox.process import schema_version
from sandbox.world import worlds
from tests.api.access.permissions import ONE, OTHERS
from tests.builders import cluster_queue, flavor, job, local_queue, node
from tests.sandbox.conftest import row

NOBODY = "aaaaaaaaaaaa"  # an id that no sandbox has
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
    "post actions/convert": {"stack": "yunikorn"},
    "post actions/pin": {"pod": "default/p", "node": ""},
    "post actions/rewind": {"tick": 0},
    "put policy": {"spec": {}},
    "patch policy": {"spec": {}},
    "post shares": {"mayFork": False},
    "put members/<str:username>": {"role": "viewer"},
    "put lesson": {"view": "board", "query": "", "revealed": []},
    "put lesson/followers/<str:follower>": {"stop": 0, "choice": 0},
    "post whatif": {
        "edits": [{"kind": "ClusterQueue", "name": "a", "patch": {"spec": {}}}]
    },
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
        query = f"?with={sandbox_id}" if self.tail == "compare" else ""
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


# --------------------------------------------------------------------- the roles

#: Role -> what it may do with the sandbox that it was let into.
ROLES: dict[str, set[str]] = {
    "owner": {"look", "fork", "edit", "own"},
    "editor": {"look", "fork", "edit"},
    "viewer": {"look", "fork"},
    "link to look": {"look"},
    "link to look and fork": {"look", "fork"},
    "lesson that ended": set(),
    "follower": {"look"},
    "stranger": set(),
    "link that expired": set(),
}


@pytest.fixture
def server(settings):
    settings.SERVER = True


@pytest.fixture
def quiet(make) -> Sandbox:
    """A small sandbox that stands still, private."""
    return make(
        flavor(),
        cluster_queue("a", cpu=4),
        local_queue("a-queue", cluster_queue="a"),
        local_queue("b-queue", cluster_queue="a"),
        job("x", queue="a-queue", cpu=1),
        node("n"),
    )


@pytest.fixture
def be(quiet, db) -> Callable[[str], User]:
    """Return a function that makes somebody of a role."""
    User.objects.create_user("carol")

    def someone(role: str) -> User:
        if role == "owner":
            return quiet.owner
        user = User.objects.create(username=role.replace(" ", "-"))
        let_in(quiet, user, role)
        return user

    return someone


def let_in(sandbox: Sandbox, user: User, role: str) -> None:
    owner, key = sandbox.owner, sandbox.pk
    if role in ("editor", "viewer"):
        actions.do_member(owner, key, user.username, role)
    elif "link" in role:
        fork = role.endswith("fork")
        link, secret = actions.do_share(owner, key, may_fork=fork, expires_at=None)
        actions.do_open(user, secret)
        if "expired" in role:
            ShareLink.objects.filter(pk=link.pk).update(expires_at=timezone.now())
    elif role in ("follower", "lesson that ended"):
        lesson = actions.do_start_lesson(owner, key)
        actions.do_join(user, lesson.code)
        if role != "follower":
            actions.do_end_lesson(owner, key)


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


# ------------------------------------------------------------------- the sockets

Header = tuple[bytes, bytes]


def cookie(user: User) -> Header:
    client = Client()
    client.force_login(user)
    return b"cookie", f"sessionid={client.cookies['sessionid'].value}".encode()


def bearer(secret: str) -> Header:
    return b"authorization", f"Bearer {secret}".encode()


def socket(sandbox_id: str, *headers: Header) -> ApplicationCommunicator:
    scope = {
        "type": "websocket",
        "path": f"/ws/sandboxes/{sandbox_id}",
        "headers": [(b"host", b"127.0.0.1"), *headers],
        "query_string": b"",
        "subprotocols": [],
        "client": ("127.0.0.1", 1),
    }
    return ApplicationCommunicator(application, scope)


async def opening(line: ApplicationCommunicator) -> dict[str, Any]:
    """Send it; return what is answered."""
    await line.send_input({"type": "websocket.connect"})
    answer: dict[str, Any] = await line.receive_output(10)
    return answer


async def leaving(line: ApplicationCommunicator, kind: str = "socket") -> None:
    kinds = {"socket": "websocket.disconnect", "watch": "http.disconnect"}
    await line.send_input({"type": kinds[kind], "code": 1000})
    await line.wait(10)


SHUT = 4404


def shut(answer: dict[str, Any]) -> bool:
    return (answer["type"], answer.get("code")) == ("websocket.close", SHUT)


def keys(quiet: Sandbox, be: Callable[[str], User]) -> dict[str, tuple[bool, Header]]:
    """Name -> whether it opens a private sandbox, and the header of its request."""
    found = {role: (bool(may), cookie(be(role))) for role, may in ROLES.items()}
    owner = quiet.owner
    for scope in ("read", "write", "admin"):
        _, secret = actions.do_token(owner, name=scope, scope=scope, expires_at=None)
        found[f"token to {scope}"] = (True, bearer(secret))
    token, secret = actions.do_token(owner, name="old", scope="admin", expires_at=None)
    Token.objects.filter(pk=token.pk).update(expires_at=timezone.now())
    found["expired token"] = (False, bearer(secret))
    found["unknown token"] = (False, bearer("ql_never-made"))
    found["anonymous"] = (False, (b"accept", b"*/*"))
    found["forged session"] = (False, (b"cookie", b"sessionid=never-made"))
    other = actions.do_create(owner, title="other").sandbox
    for name, sandbox in (("guest", quiet), ("guest of another lesson", other)):
        code = actions.do_start_lesson(owner, sandbox.pk).code
        found[name] = (sandbox is quiet, cookie(actions.do_join_as_guest(code)))
    return found


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("visibility", ["private", "public"])
async def test_a_socket_opens_for_whom_the_routes_do(
    server, quiet, be, visibility, valkey
):
    known = await sync_to_async(keys)(quiet, be)
    await sync_to_async(actions.do_set_visibility)(quiet.owner, quiet.pk, visibility)
    dead = ("expired token", "unknown token", "anonymous", "forged session")
    dead += ("guest of another lesson",)
    wrong = []
    for name, (opens, header) in known.items():
        there, nowhere = socket(quiet.pk, header), socket(NOBODY, header)
        answer = await opening(there)
        if opens or (visibility == "public" and name not in dead):
            fits = answer["type"] == "websocket.accept"
            fits = fits and (await first_page(there))["type"] == "page_state"
        else:
            fits = shut(answer)
        missing = await opening(nowhere)
        fits = fits and shut(missing) and (answer == missing or not shut(answer))
        wrong += [] if fits else [f"{name}: {answer}"]
        await leaving(there)
        await leaving(nowhere)
    assert wrong == []


async def first_page(line: ApplicationCommunicator) -> dict[str, Any]:
    """Say hello; return the first frame that is about rows."""
    hello = {"type": "hello", "since": None, "views": []}
    await line.send_input({"type": "websocket.receive", "text": json.dumps(hello)})
    while True:
        frame: dict[str, Any] = json.loads((await line.receive_output(20))["text"])
        if frame["type"] in ("page_state", "diff"):
            return frame


def watch(sandbox_id: str, *headers: Header) -> ApplicationCommunicator:
    """A Kubernetes watch of the sandbox's pods."""
    scope = {
        "type": "http",
        "method": "GET",
        "path": f"/api/v1/sandboxes/{sandbox_id}/api/v1/pods",
        "headers": [(b"host", b"127.0.0.1"), *headers],
        "query_string": b"watch=1&allowWatchBookmarks=1",
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "scheme": "http",
    }
    return ApplicationCommunicator(application, scope)


async def begun(kind: str, line: ApplicationCommunicator) -> None:
    """Let the stream begin, and receive something."""
    if kind == "socket":
        assert (await opening(line))["type"] == "websocket.accept"
        return
    await line.send_input({"type": "http.request", "body": b"", "more_body": False})
    start = await line.receive_output(10)
    assert (start["type"], start["status"]) == ("http.response.start", 200)


async def ended(kind: str, line: ApplicationCommunicator) -> bool:
    """Return whether the stream ends now, and says so."""
    if kind == "socket":
        while "text" in (answer := await line.receive_output(10)):
            pass
        return shut(answer)
    body = b""
    while (part := await line.receive_output(10)).get("more_body"):
        body += part["body"]
    last = json.loads(body.splitlines()[-1])
    return last["type"] == "ERROR" and last["object"]["code"] in (403, 410)


async def refused(kind: str, line: ApplicationCommunicator) -> bool:
    """Return whether the stream cannot be opened."""
    if kind == "socket":
        return shut(await opening(line))
    await line.send_input({"type": "http.request", "body": b"", "more_body": False})
    return (await line.receive_output(10))["status"] in (401, 404, 410)


class HeldRight(NamedTuple):
    """A right to look at a sandbox: its key, and what takes it."""

    sandbox: str
    header: Header
    take: Callable[[], object]


def rights_held(quiet: Sandbox, make: Callable[..., Sandbox]) -> dict[str, HeldRight]:
    """Way to lose a right -> somebody who has it."""
    owner, key = quiet.owner, quiet.pk
    found: dict[str, HeldRight] = {}

    def person(way: str, role: str = "viewer", sandbox: Sandbox = quiet) -> User:
        user = User.objects.create(username=way.replace(" ", "-"))
        let_in(sandbox, user, role)
        return user

    user = person("removed")
    found["removed"] = HeldRight(
        key, cookie(user), lambda: actions.do_unmember(owner, key, "removed")
    )
    stopped = User.objects.filter(pk=person("stopped").pk)
    found["stopped"] = HeldRight(
        key, cookie(stopped[0]), lambda: stopped.update(is_active=False)
    )
    header = cookie(person("signed out"))
    session = header[1].decode().partition("=")[2]
    found["signed out"] = HeldRight(
        key, header, lambda: Session.objects.filter(pk=session).delete()
    )
    renamed = person("password changed")
    found["password changed"] = HeldRight(
        key, cookie(renamed), lambda: (renamed.set_password("another"), renamed.save())
    )
    for way in ("revoked", "expired", "tokens ended"):
        holder = person(way)
        token, secret = actions.do_token(
            holder, name="t", scope="read", expires_at=None
        )
        one = Token.objects.filter(pk=token.pk)
        take: dict[str, Callable[[], object]] = {
            "revoked": lambda h=holder, t=token: actions.do_revoke(h, t.pk),
            "expired": lambda o=one: o.update(expires_at=timezone.now()),
            "tokens ended": lambda h=holder: actions.do_end_tokens(h),
        }
        found[way] = HeldRight(key, bearer(secret), take[way])
    links = ShareLink.objects.filter(sandbox=quiet)
    user = person("link taken back", "link to look")
    link = links[0].pk
    found["link taken back"] = HeldRight(
        key, cookie(user), lambda: actions.do_unshare(owner, key, link)
    )
    user = person("link expired", "link to look")
    newest = links.exclude(pk=link)
    found["link expired"] = HeldRight(
        key, cookie(user), lambda: newest.update(expires_at=timezone.now())
    )
    user = person("lesson over", "follower")
    found["lesson over"] = HeldRight(
        key, cookie(user), lambda: actions.do_end_lesson(owner, key)
    )
    endings = {
        "private again": lambda pk: actions.do_set_visibility(owner, pk, "private"),
        "archived": lambda pk: actions.do_archive(owner, pk),
        "deleted": lambda pk: actions.do_delete_sandbox(owner, pk),
    }
    for way, end in endings.items():
        other = make(flavor())
        actions.do_set_visibility(owner, other.pk, "public")
        user = User.objects.create(username=way.replace(" ", "-"))
        found[way] = HeldRight(other.pk, cookie(user), lambda e=end, pk=other.pk: e(pk))
    return found


def away(*_: object) -> None:
    raise OperationalError("the database is away")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["socket", "watch"])
@pytest.mark.parametrize("outage", ["", "of the bus", "of the database"])
async def test_a_stream_ends_with_the_right_to_it(
    server, quiet, make, kind, outage, request, monkeypatch, settings
):
    """Lost in any way; whose right cannot be checked in an outage gets nothing after it."""
    settings.HTTPS = settings.SECURE_SSL_REDIRECT = False
    monkeypatch.setattr(rights, "CHECK_EVERY_S", 0.05)
    if outage != "of the bus":
        await sync_to_async(request.getfixturevalue)("valkey")
    stream = socket if kind == "socket" else watch
    held, wrong = await sync_to_async(rights_held)(quiet, make), []
    lines = {way: stream(one.sandbox, one.header) for way, one in held.items()}
    for line in lines.values():
        await begun(kind, line)
    if outage == "of the database":
        with monkeypatch.context() as during:
            during.setattr(rights, "who_sees", away)
            wrong += [w for w, line in lines.items() if not await ended(kind, line)]
    for way, one in held.items():
        await sync_to_async(one.take)()
        if outage == "of the database":
            good = await refused(kind, again := stream(one.sandbox, one.header))
            await leaving(again, kind)
        else:
            good = await ended(kind, lines[way])
        wrong += [] if good else [way]
        await leaving(lines[way], kind)
    assert wrong == []


async def lose(way: str, quiet: Sandbox, user: User, token: Token) -> None:
    if way == "removed":
        await sync_to_async(actions.do_unmember)(quiet.owner, quiet.pk, "viewer")
    elif way == "revoked":
        await sync_to_async(actions.do_revoke)(user, token.pk)
    else:
        await sync_to_async(actions.do_end_tokens)(user)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("way", ["removed", "revoked", "password"])
async def test_a_socket_ends_when_its_right_is_taken_not_when_it_is_next_checked(
    server, quiet, be, way, valkey, monkeypatch, settings
):
    settings.HTTPS = settings.SECURE_SSL_REDIRECT = False
    monkeypatch.setattr(rights, "CHECK_EVERY_S", 1000)
    user = await sync_to_async(be)("viewer")
    make = sync_to_async(actions.do_token)
    token, secret = await make(user, name="t", scope="read", expires_at=None)
    line = socket(quiet.pk, bearer(secret))
    await begun("socket", line)
    await first_page(line)
    await lose(way, quiet, user, token)
    while "text" in (answer := await line.receive_output(10)):
        pass
    assert shut(answer)
    await leaving(line)


@pytest.mark.django_db(transaction=True)
async def test_hellos_of_one_socket_are_limited(server, quiet, be, valkey):
    user = await sync_to_async(be)("viewer")
    line = socket(quiet.pk, await sync_to_async(cookie)(user))
    assert (await opening(line))["type"] == "websocket.accept"
    hello = json.dumps({"type": "hello", "since": None, "views": []})
    for _ in range(MOST_HELLOS + 1):
        await line.send_input({"type": "websocket.receive", "text": hello})
    while (answer := await line.receive_output(20))["type"] != "websocket.close":
        pass
    assert answer["code"] == 4429
    await leaving(line)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ["/", "/ws/", "/ws/sandboxes/x", "/ws/other/abc"])
async def test_a_path_that_is_no_sandboxs_is_shut_like_one(server, path, valkey):
    line = socket(NOBODY)
    line.scope["path"] = path
    assert shut(await opening(line))
    await leaving(line)


@pytest.mark.django_db(transaction=True)
async def test_the_first_page_that_all_share_is_the_same_for_every_right(
    server, quiet, be, valkey
):
    """Made once and given to many: nothing in it may depend on who asks."""
    pages = set()
    for role in ("owner", "editor", "link to look", "follower"):
        line = socket(quiet.pk, await sync_to_async(lambda r=role: cookie(be(r)))())
        assert (await opening(line))["type"] == "websocket.accept"
        pages.add(json.dumps(await first_page(line)))
        await leaving(line)
    assert len(pages) == 1
    assert '"code"' not in pages.pop(), "the code of a lesson is its presenter's"


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
