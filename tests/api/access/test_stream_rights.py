"""Every socket and watch: who may open it, and when it ends."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import OperationalError
from django.utils import timezone

from api.cluster import watching
from sandbox import actions
from sandbox.access import rights
from sandbox.live.consumers import MOST_HELLOS
from sandbox.models import Lesson, Sandbox, ShareLink, Token
from tests.api.access.roles import NOBODY, ROLES, let_in
from tests.api.access.streams import (
    Header,
    bearer,
    begun,
    cookie,
    ended,
    first_page,
    leaving,
    opening,
    refused,
    shut,
    socket,
    watch,
)
from tests.builders import flavor


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
    bus = "no_bus" if outage == "of the bus" else "valkey"
    await sync_to_async(request.getfixturevalue)(bus)
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


@pytest.mark.django_db(transaction=True)
async def test_watches_that_share_a_question_end_each_with_its_own_right(
    server, quiet, be, monkeypatch, settings
):
    settings.HTTPS = settings.SECURE_SSL_REDIRECT = False
    monkeypatch.setattr(rights, "CHECK_EVERY_S", 0.05)
    monkeypatch.setattr(watching, "SHARED_S", 1000.0)
    viewer, owner = await sync_to_async(be)("viewer"), quiet.owner
    lines = [
        watch(quiet.pk, await sync_to_async(cookie)(user)) for user in (viewer, owner)
    ]
    for line in lines:
        await begun("watch", line)
    asked = [place for place in watching._newest if place[1] == quiet.pk]
    assert len(asked) == 1, "one question, of both"
    await sync_to_async(actions.do_unmember)(owner, quiet.pk, "viewer")
    assert await ended("watch", lines[0])
    assert await lines[1].receive_nothing(0.3), "the other goes on"
    for line in lines:
        await leaving(line, "watch")


@pytest.mark.django_db(transaction=True)
async def test_a_socket_opens_and_brings_its_page_while_the_bus_is_away(
    server, quiet, be, no_bus
):
    line = socket(quiet.pk, await sync_to_async(lambda: cookie(be("viewer")))())
    await begun("socket", line)
    assert (await first_page(line))["type"] == "page_state"
    await leaving(line)


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
    lesson = await sync_to_async(Lesson.objects.get)(sandbox=quiet)
    assert lesson.code not in pages.pop(), "the code of a lesson is its presenter's"
