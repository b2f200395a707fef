"""Who gets in where: every route, for every role, on private and public sandboxes."""

from __future__ import annotations

import datetime
import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.test import override_settings as with_settings
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone
from rest_framework.test import APIClient

from sandbox import actions
from sandbox.models import Audit, Token
from tests.builders import cluster_queue, flavor
from tests.sandbox.conftest import row

pytestmark = [pytest.mark.django_db]

NOBODY = "aaaaaaaaaaaa"  # an id that no sandbox has
#: Path parameter -> something that is there, or could be.
PLACES = {
    "kind": "ClusterQueue",
    "namespace": "-",
    "name": "a",
    "table": "workloads",
    "place": "1.0",
    "username": "vera",
    "link_id": "1",
    "follower": NOBODY,
    "version": "v1beta2",
    "group": "kueue.x-k8s.io",
    "plural": "clusterqueues",
    "partition": "default",
    "queue": "root",
    "state": "active",
    "other": NOBODY,
    "other_id": NOBODY,
}
#: Writes that need more than an empty body, by the end of their route.
BODIES = {
    "actions/play": {"speed": 1},
    "actions/speed": {"speed": 2},
    "actions/step": {"ticks": 1},
    "actions/import": {"objects": [flavor("new")]},
    "actions/apply": {"objects": [flavor("new")]},
    "actions/delete": {"objects": [{"kind": "ClusterQueue", "name": "a"}]},
    "actions/move": {"workload": "default/x", "to": "b-door"},
    "actions/node": {"name": "n", "change": "cordon"},
    "actions/convert": {"stack": "yunikorn"},
    "actions/pin": {"pod": "default/p", "node": ""},
    "actions/rewind": {"tick": 0},
    "policy": {"spec": {}},
    "shares": {"mayFork": False},
    "lesson": {"view": "board"},
    "lesson/followers/<str:follower>": {"stop": 0, "choice": 0},
    "members/<str:username>": {"role": "viewer"},
}
#: POSTs that change nothing of this sandbox: whoever may look may send them.
READS = ("whatif", "actions/fork", "actions/convert", "compare")
OWNERS = (
    "members",
    "members/<str:username>",
    "shares",
    "shares/<int:link_id>",
    "audit",
)


def routes() -> list[tuple[str, str]]:
    """Every (method, route) below one sandbox, as the router has them."""
    found: list[tuple[str, str]] = []

    def walk(patterns, prefix):
        for pattern in patterns:
            route = prefix + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                walk(pattern.url_patterns, route)
            elif isinstance(pattern, URLPattern) and "<str:sandbox_id>" in route:
                view = pattern.callback.view_class
                methods = {m for m in view.http_method_names if hasattr(view, m)}
                found.extend((m, route) for m in sorted(methods - {"options", "head"}))

    walk(get_resolver().url_patterns, "")
    return found


ROUTES = routes()


def tail(route: str) -> str:
    return route.partition("<str:sandbox_id>")[2].lstrip("/")


def address(route: str, sandbox_id: str) -> str:
    def fill(match: re.Match[str]) -> str:
        name = match[1]
        return sandbox_id if name == "sandbox_id" else PLACES.get(name, "x")

    return "/" + re.sub(r"<\w+:(\w+)>", fill, route)


def body_of(method: str, route: str) -> object:
    end = tail(route)
    if method == "patch" and end == "":
        return {"title": "other"}
    if "plural" in end and method in ("post", "put"):
        return cluster_queue("a")
    return BODIES.get(end, {})


def ask(client: APIClient, method: str, route: str, sandbox_id: str):
    url = address(route, sandbox_id)
    return getattr(client, method)(url, body_of(method, route), format="json")


@pytest.fixture
def server():
    with with_settings(SERVER=True):
        yield


@pytest.fixture
def vera(db) -> User:
    return User.objects.create_user("vera", password="a long pass phrase")


@pytest.fixture
def as_(vera):
    """A client signed in as somebody."""

    def sign_in(user: User | None) -> APIClient:
        client = APIClient()
        client.force_authenticate(user)
        return client

    return sign_in


def test_the_table_of_routes_is_not_empty():
    assert len(ROUTES) > 60


def test_a_private_sandbox_and_none_at_all_answer_a_stranger_alike(
    server, busy, as_, vera
):
    client = as_(vera)
    for method, route in ROUTES:
        there = ask(client, method, route, busy.pk)
        nowhere = ask(client, method, route, NOBODY)
        case = f"{method} {route}"
        assert there.status_code == nowhere.status_code, case
        assert there.status_code in (404, 422), case
        said = there.content.decode().replace(busy.pk, NOBODY)
        assert said == nowhere.content.decode(), case


def test_nobody_gets_anywhere_without_signing_in(server, busy):
    actions.do_show(busy.owner, busy.pk, "public")
    client = APIClient()
    for method, route in ROUTES:
        assert ask(client, method, route, busy.pk).status_code == 401, route


@pytest.mark.parametrize("way", ["member", "link", "public"])
def test_who_may_look_reads_everything_and_changes_nothing(
    server, busy, as_, vera, way
):
    if way == "member":
        actions.do_member(busy.owner, busy.pk, "vera", "viewer")
    elif way == "link":
        _, secret = actions.do_share(
            busy.owner, busy.pk, may_fork=False, expires_at=None
        )
        actions.do_open(vera, secret)
    else:
        actions.do_show(busy.owner, busy.pk, "public")
    before, client = row(busy), as_(vera)
    for method, route in ROUTES:
        if tail(route) in READS or "compar" in route:
            continue
        if way == "member" and "username" in route and method == "delete":
            continue  # anybody may leave
        code = ask(client, method, route, busy.pk).status_code
        case = f"{method} {route}: {code}"
        if tail(route) in OWNERS or (method != "get" and "version" not in route):
            closed = {403} | ({404} if "<" in tail(route) else set())
            # A body that is no request is told so before the doors are asked.
            closed |= set() if tail(route) in BODIES else {422}
            assert code in closed, case
        elif method == "get":
            assert code not in (401, 403), case
    after = row(busy)
    assert (after.revision, after.title) == (before.revision, before.title)


def test_an_editor_changes_the_world_and_not_who_is_let_in(server, busy, as_, vera):
    actions.do_member(busy.owner, busy.pk, "vera", "editor")
    client = as_(vera)
    url = f"/api/v1/sandboxes/{busy.pk}"
    assert client.post(f"{url}/actions/speed", {"speed": 2}).status_code == 200
    assert client.patch(url, {"title": "Ours"}, format="json").status_code == 200
    assert client.delete(f"{url}/objects/ClusterQueue/-/a").status_code == 200
    for method, path, body in (
        ("patch", "", {"visibility": "public"}),
        ("delete", "", {}),
        ("get", "/members", {}),
        ("post", "/shares", {}),
        ("get", "/audit", {}),
    ):
        answer = getattr(client, method)(url + path, body, format="json")
        assert answer.status_code == 403, path


def test_the_list_holds_what_one_may_see_and_no_more(server, busy, make, as_, vera):
    make(flavor(), title="hidden")
    actions.do_member(busy.owner, busy.pk, "vera", "viewer")
    items = as_(vera).get("/api/v1/sandboxes").json()["items"]
    assert [item["id"] for item in items] == [busy.pk]


@pytest.mark.parametrize(
    ("scope", "allowed"),
    [
        ("read", {"read"}),
        ("write", {"read", "write"}),
        ("admin", {"read", "write", "admin"}),
    ],
)
def test_a_token_reaches_as_far_as_its_scope(server, busy, scope, allowed):
    _, secret = actions.do_token(busy.owner, name="t", scope=scope, expires_at=None)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    url = f"/api/v1/sandboxes/{busy.pk}"
    codes = {
        "read": client.get(url).status_code,
        "write": client.post(f"{url}/actions/speed", {"speed": 2}).status_code,
        "admin": client.get(f"{url}/members").status_code,
    }
    assert {name for name, code in codes.items() if code == 200} == allowed
    assert set(codes.values()) <= {200, 403}


def test_an_expired_or_revoked_token_opens_nothing(server, busy):
    token, secret = actions.do_token(
        busy.owner, name="t", scope="read", expires_at=None
    )
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    assert client.get("/api/v1/me").json()["user"] == busy.owner.username
    past = timezone.now() - datetime.timedelta(seconds=1)
    Token.objects.update(expires_at=past)
    assert client.get("/api/v1/me").status_code == 401
    Token.objects.update(expires_at=None)
    actions.do_revoke(busy.owner, token.pk)
    assert client.get("/api/v1/me").status_code == 401


def test_secrets_are_kept_as_hashes_only(client):
    made = client.post("/api/v1/tokens", {"name": "ci", "scope": "write"}).json()
    kept = Token.objects.get().hash
    assert made["token"] not in (kept, str(Token.objects.values().get()))
    listed = client.get("/api/v1/tokens").json()["items"][0]
    assert "token" not in listed


def test_a_link_to_look_is_not_one_to_fork(server, busy, as_, vera):
    _, look = actions.do_share(busy.owner, busy.pk, may_fork=False, expires_at=None)
    link, fork = actions.do_share(busy.owner, busy.pk, may_fork=True, expires_at=None)
    client, url = as_(vera), f"/api/v1/sandboxes/{busy.pk}"
    client.post("/api/v1/shares/open", {"secret": look}, format="json")
    assert client.get(url).json()["role"] == "viewer"
    assert client.post(f"{url}/actions/fork", {}, format="json").status_code == 403
    client.post("/api/v1/shares/open", {"secret": fork}, format="json")
    assert client.post(f"{url}/actions/fork", {}, format="json").status_code == 201
    actions.do_unshare(busy.owner, busy.pk, link.pk)
    assert client.post(f"{url}/actions/fork", {}, format="json").status_code == 403


def test_a_link_taken_back_shuts_the_door(server, busy, as_, vera):
    link, secret = actions.do_share(
        busy.owner, busy.pk, may_fork=False, expires_at=None
    )
    client = as_(vera)
    client.post("/api/v1/shares/open", {"secret": secret}, format="json")
    actions.do_unshare(busy.owner, busy.pk, link.pk)
    assert client.get(f"/api/v1/sandboxes/{busy.pk}").status_code == 404
    again = client.post("/api/v1/shares/open", {"secret": secret}, format="json")
    assert again.status_code == 404


def test_who_was_let_in_and_out_is_in_the_log(busy, vera, call):
    actions.do_member(busy.owner, busy.pk, "vera", "viewer")
    actions.do_unmember(busy.owner, busy.pk, "vera")
    lines = call("get", busy, "/audit").json()["items"]
    assert [line["action"] for line in lines] == ["unmember", "member"]
    assert Audit.objects.count() == 2


def test_signing_in_leads_to_where_one_wanted_to_be(server, vera):
    client = Client()
    asked = client.get("/s/abc")
    assert (asked.status_code, asked["Location"]) == (302, "/sign-in?next=%2Fs%2Fabc")
    form = {"username": "vera", "password": "a long pass phrase", "next": "/s/abc"}
    done = client.post("/sign-in", form)
    assert (done.status_code, done["Location"]) == (302, "/s/abc")
    assert client.get("/api/v1/me").json()["user"] == "vera"
    client.post("/sign-out")
    assert client.get("/api/v1/me").status_code == 401


def test_signing_in_leads_to_no_other_site(server, vera):
    form = {"username": "vera", "password": "a long pass phrase"}
    done = Client().post("/sign-in", {**form, "next": "https://evil.example/"})
    assert done["Location"] == "/"


def test_too_many_tries_must_wait(server, vera, settings):
    settings.LIMITS = {**settings.LIMITS, "sign_ins_per_minute": 2}
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
            "LOCATION": "tries",
        }
    }
    wrong = {"username": "vera", "password": "guess"}
    codes = [Client().post("/sign-in", wrong).status_code for _ in range(3)]
    assert codes == [401, 401, 429]
