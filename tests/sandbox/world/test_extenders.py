"""Extenders of a sandbox: asked where the operator allows it, and asked once."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator
from http.server import ThreadingHTTPServer
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox import actions
from sandbox.models import Revision, Sandbox
from sandbox.world import history, worlds
from sandbox.world.webhooks import (
    MOST_BYTES,
    Allowed,
    HttpPort,
    NotAllowedError,
    is_outside,
)
from scheduler.engine.kube.extender.ports import ExtenderError
from scheduler.model.kube.configuration import Extender
from tests import stored
from tests.builders import node, pod
from tests.sandbox.conftest import check_rows, row, text_of, tick
from tests.services.loopback import Handler, served


class Strange(Handler):
    """Answers that nobody should be hurt by."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/elsewhere":
            self.send_response(302)
            self.send_header("Location", "http://127.0.0.1:1/")
            self.end_headers()
            return
        self.send_response(200)
        self.end_headers()
        bodies = {"/long": b" " * (MOST_BYTES + 1), "/text": b"hello", "/list": b"[1]"}
        self.wfile.write(bodies[self.path])


@pytest.fixture
def strange() -> Iterator[str]:
    with served(ThreadingHTTPServer(("127.0.0.1", 0), Strange)) as address:
        yield address


CLOSED = {"extender.example/closed": "yes"}


def world_of(prefix: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return three nodes, one of them closed by the extender, pods, and a policy."""
    nodes = [node("n0", cpu=4, **CLOSED), node("n1", cpu=4), node("n2", cpu=4)]
    pods = [pod(f"p{n}", cpu=1, arrival=f"{n}s", runtime=f"{9 - n}s") for n in range(4)]
    extender = {
        "urlPrefix": prefix,
        "filterVerb": "filter",
        "prioritizeVerb": "prioritize",
        "weight": 100,
        "httpTimeout": "2s",
    }
    policy = {"stack": "kube", "kubeScheduler": {"extenders": [extender]}}
    return [*nodes, *pods], policy


@pytest.fixture
def asked(make: Callable[..., Sandbox], person, example_extender, settings) -> Sandbox:
    """A sandbox that played four ticks with an allowed extender."""
    settings.EXTENDERS = [example_extender]
    manifests, policy = world_of(example_extender)
    sandbox = make(*manifests, policy=policy)
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 4)
    return sandbox


def places(sandbox: Sandbox) -> dict[str, str]:
    return stored.places(sandbox.pk)


@pytest.mark.django_db
def test_an_allowed_extender_decides_where_pods_go(asked):
    assert set(places(asked).values()) == {"n1"}
    check_rows(asked)


@pytest.mark.django_db
def test_what_was_is_run_again_without_a_call(asked, settings):
    settings.EXTENDERS = []
    worlds.forget_all()
    present = row(asked)
    world = history.world_at(present, present.revision)
    assert world.hash() == present.hash


@pytest.mark.django_db
def test_a_fork_of_the_past_and_a_rewind_have_the_recorded_answers(
    asked, person, settings
):
    settings.EXTENDERS = []
    fork = actions.do_fork(person, asked.pk, tick=2)
    assert places(fork)["p1"] == "n1"
    actions.do_rewind(person, asked.pk, tick=2)
    assert row(asked).hash == row(fork).hash


@pytest.mark.django_db
def test_another_process_catches_up_with_the_recorded_answers(asked, settings):
    tick(asked, 2)
    stale = worlds.copy_of(asked.pk)[0]
    tick(asked, 1)
    settings.EXTENDERS = []
    worlds.forget_all()
    check_rows(asked)
    assert stale.hash() != row(asked).hash


@pytest.mark.django_db
def test_an_undone_edit_asks_what_was_not_asked_and_keeps_it(asked, person, settings):
    opened = node("n0", cpu=4)
    actions.do_import(person, asked.pk, [("n0.yaml", text_of(opened))])
    tick(asked, 2)
    actions.do_undo(person, asked.pk)
    settings.EXTENDERS = []
    again = row(asked)
    assert history.world_at(again, again.revision).hash() == again.hash
    actions.do_redo(person, asked.pk)
    actions.do_undo(person, asked.pk)
    assert row(asked).hash == again.hash


@pytest.mark.django_db
def test_an_address_that_is_not_allowed_is_named_on_the_page(make, person):
    manifests, policy = world_of("http://192.0.2.1")
    sandbox = make(*manifests, policy=policy)
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 1)
    assert "http://192.0.2.1/filter" in row(sandbox).problem
    assert "QUOTALAB_EXTENDERS" in row(sandbox).problem
    assert not any(places(sandbox).values())


@pytest.mark.django_db
def test_a_run_without_extenders_stores_no_answers(busy):
    tick(busy, 2)
    ticks = Revision.objects.filter(sandbox=busy, kind=Revision.TICK)
    assert all(t.operation == {"do": "tick"} for t in ticks)


# --------------------------------------------------------------- addresses


@pytest.mark.parametrize(
    "url",
    [
        "http://a.example:8888/filter",
        "http://a.example/other",
        "http://a.example/x/../secret",
        "http://user@a.example/x/filter",
        "http://a.example/xy",
        "https://a.example/x/filter",
        "http://b.example/x/filter",
        "file:///etc/passwd",
    ],
)
def test_only_what_is_below_a_prefix_is_allowed(url):
    with pytest.raises(NotAllowedError, match="has not allowed"):
        Allowed(["http://a.example/x"]).check(url)


def test_a_name_that_leads_into_a_private_network_is_refused(monkeypatch):
    found = [(2, 1, 6, "", ("10.1.2.3", 80))]
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: found)
    entries = ["http://a.example"]
    parts = Allowed(entries).check("http://a.example/filter")
    with pytest.raises(NotAllowedError, match="private network"):
        Allowed(entries).address(parts)
    assert Allowed([*entries, "10.0.0.0/8"]).address(parts) == "10.1.2.3"


@pytest.mark.parametrize(
    "number",
    [
        "10.1.2.3",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "239.255.255.250",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::10.1.2.3",
        "::ffff:10.1.2.3",
        "::ffff:8.8.8.8",
        "::ffff:0:10.1.2.3",
        "64:ff9b::a01:203",
        "64:ff9b::808:808",
        "64:ff9b:1::a01:203",
        "2001:0:a01:203::1",
        "2002:a01:203::1",
        "fe80::1",
        "fc00::1",
        "fec0::1",
        "ff02::1",
        "ff0e::1",
        "2001:db8::1",
    ],
)
def test_a_number_that_stands_for_another_or_for_many_counts_as_inside(number):
    assert not is_outside(ipaddress.ip_address(number))


@pytest.mark.parametrize("number", ["8.8.8.8", "1.1.1.1", "2606:4700::1111"])
def test_a_number_of_one_host_on_the_internet_is_outside(number):
    assert is_outside(ipaddress.ip_address(number))


@given(st.ip_addresses(v=4))
def test_no_number_with_an_inner_one_is_outside_whatever_the_inner_one(inner):
    prefixes = ("::ffff:0:0", "64:ff9b::", "::", "::ffff:0:0:0")
    for prefix in prefixes:
        whole = int(ipaddress.IPv6Address(prefix)) + int(inner)
        assert not is_outside(ipaddress.IPv6Address(whole))


def test_a_wrong_entry_of_the_list_is_named():
    with pytest.raises(ValueError, match="ftp://a"):
        Allowed(["ftp://a"])


@pytest.mark.parametrize(
    ("verb", "problem"),
    [
        ("elsewhere", "expected status 200, got 302"),
        ("long", "more than"),
        ("text", "not JSON"),
        ("list", "is not one"),
    ],
)
def test_a_strange_answer_is_a_failed_call(verb, problem, strange):
    extender = Extender(url_prefix=strange, filter_verb=verb)
    with pytest.raises(ExtenderError, match=problem):
        HttpPort(Allowed([strange])).call(extender, verb, {})


def test_nobody_there_is_a_failed_call():
    extender = Extender(url_prefix="http://127.0.0.1:9", filter_verb="filter")
    with pytest.raises(ExtenderError, match=r"127\.0\.0\.1:9"):
        HttpPort(Allowed(["http://127.0.0.1:9"])).call(extender, "filter", {})


def test_an_answer_is_stored_by_name_only(example_extender):
    extender = Extender(url_prefix=example_extender, filter_verb="filter")
    nodes = [node("n0", **CLOSED), node("n1")]
    question = {"Pod": pod("p"), "Nodes": {"items": nodes}, "NodeNames": None}
    answer = HttpPort(Allowed([example_extender])).call(extender, "filter", question)
    assert answer["NodeNames"] == ["n1"]
    assert list(answer["FailedNodes"]) == ["n0"]
    assert "Nodes" not in answer
