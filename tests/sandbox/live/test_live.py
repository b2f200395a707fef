"""The socket of a sandbox: everybody in step, nobody missing anything."""

from __future__ import annotations

import contextlib
import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
import redis
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.services.default_run import DefaultRun, wait_for

TIMEOUT_S = 15.0


class Reader:
    """A page as the browser keeps it: a state, and diffs applied to it."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.page: dict[str, Any] = {}
        self.revision = -1
        self.frames: list[dict[str, Any]] = []

    def hello(self, since: int | None = None) -> None:
        self.socket.send(json.dumps({"type": "hello", "since": since}))

    def read(self) -> dict[str, Any]:
        message = json.loads(self.socket.recv(timeout=TIMEOUT_S))
        self.frames.append(message)
        if message["type"] == "page_state":
            self.page = {row["key"]: row for row in message["rows"]}
        else:
            assert message["from"] == self.revision, "a gap"
            for key in message["removed"]:
                self.page.pop(key, None)
            self.page.update({row["key"]: row for row in message["added"]})
            for key, patch in message["updated"].items():
                self.page[key] = {**self.page[key], **patch}
        self.revision = message["revision"]
        return message

    def status(self) -> str:
        """Wait for a status; return its level."""
        message = json.loads(self.socket.recv(timeout=TIMEOUT_S))
        assert message["type"] == "status"
        return str(message["level"])

    def closing_code(self) -> int:
        with contextlib.suppress(ConnectionClosed):
            while True:
                self.socket.recv(timeout=TIMEOUT_S)
        assert self.socket.protocol.close_rcvd is not None
        return self.socket.protocol.close_rcvd.code

    def read_to(self, revision: int) -> None:
        while self.revision < revision:
            self.read()


class Live:
    """One sandbox of the default run and the sockets on it."""

    def __init__(self, default_run: DefaultRun, scenario: str = "friday-rush") -> None:
        self.default_run = default_run
        made = default_run.post("/api/v1/sandboxes", {"scenario": scenario})
        self.id = made["id"]
        self.path = f"/api/v1/sandboxes/{self.id}"

    @contextlib.contextmanager
    def reader(self, since: int | None = None, **options: Any) -> Iterator[Reader]:
        url = f"{self.default_run.url.replace('http', 'ws')}/ws/sandboxes/{self.id}"
        with connect(url, max_size=None, **options) as socket:
            reader = Reader(socket)
            reader.hello(since)
            yield reader

    def act(self, action: str, /, **body: Any) -> int:
        return int(
            self.default_run.post(f"{self.path}/actions/{action}", body)["revision"]
        )

    def run(self, ticks: int, speed: float = 0) -> int:
        """Run to the end; return the last revision."""
        self.act("speed", speed=speed)
        tick = self.default_run.get(self.path)["tick"] + ticks
        self.act("step", untilTick=tick)
        wait_for(lambda: self.stands_at(tick), f"tick {tick}", every_s=0.1)
        return int(self.default_run.get(self.path)["revision"])

    def stands_at(self, tick: int) -> bool:
        """Return whether it has come to the tick and makes no further one."""
        now = self.default_run.get(self.path)
        return bool(now["tick"] >= tick and not now["playing"])

    def delete(self) -> None:
        url = self.default_run.url + self.path
        urllib.request.urlopen(urllib.request.Request(url, method="DELETE")).close()

    def fresh(self) -> dict[str, Any]:
        state = self.default_run.get(f"{self.path}/state")
        return {row["key"]: row for row in state["rows"]}


@pytest.fixture
def live(shared_run: DefaultRun) -> Live:
    return Live(shared_run)


def test_a_page_and_its_diffs_are_the_fresh_state(live):
    with live.reader() as reader:
        assert reader.read()["type"] == "page_state"
        revision = live.run(30, speed=30)
        reader.read_to(revision)
        assert reader.page == live.fresh()


def test_two_pages_are_in_step_with_who_acts_on_either(live):
    with live.reader() as one, live.reader() as other:
        one.read()
        other.read()
        revision = live.act("node", name="a100-01", change="cordon")
        for reader in (one, other):
            reader.read_to(revision)
        assert one.page == other.page
        assert one.page["Node//a100-01"]["state"] == "cordoned"


def test_who_comes_back_gets_what_was_missed_and_no_more(live):
    with live.reader() as reader:
        reader.read()
        kept, page = reader.revision, reader.page
    revision = live.run(20)
    with live.reader(since=kept) as again:
        again.page, again.revision = page, kept
        again.read_to(revision)
        assert {frame["type"] for frame in again.frames} == {"diff"}
        assert again.page == live.fresh()


@pytest.mark.parametrize("edit", ["rewind", "undo"])
def test_who_asks_anew_after_history_is_rewritten_gets_one_page_of_the_new_past(
    live, edit
):
    live.run(6)
    with live.reader() as reader:
        reader.read()  # kept for whoever opens it soon after
        live.act("node", name="a100-01", change="cordon")
        revision = live.act(edit, **({"tick": 3} if edit == "rewind" else {}))
        reader.read_to(revision)
        reader.hello()
        assert reader.read()["type"] == "page_state"
        assert reader.revision == revision
        assert reader.page == live.fresh()


def test_who_comes_back_too_late_gets_a_whole_page(shared_run):
    live = Live(shared_run, "strict-fifo")  # many ticks of a small world
    with live.reader() as reader:
        reader.read()
        kept = reader.revision
    revision = live.run(260)
    with live.reader(since=kept) as again:
        assert again.read()["type"] == "page_state"
        assert again.revision == revision


def test_who_reads_slowly_gets_merged_diffs_and_the_same_page(live):
    with live.reader() as reader:
        reader.read()
        revision = live.run(150)  # nothing is read meanwhile
        reader.read_to(revision)
        assert reader.page == live.fresh()


def test_a_deleted_sandbox_closes_its_sockets(live):
    with live.reader() as reader:
        reader.read()
        live.delete()
        assert reader.closing_code() == 4404


@pytest.mark.parametrize(
    "frame",
    ["", "{", "[]", '{"type":"shout"}', '{"type":"hello","since":"x"}', "x" * 5000],
    ids=lambda text: repr(text[:24]),
)
def test_a_frame_that_is_no_hello_closes_the_socket(frame, live):
    with live.reader() as reader:
        reader.read()
        reader.socket.send(frame)
        with pytest.raises(ConnectionClosed) as closed:
            reader.socket.recv(timeout=TIMEOUT_S)
        assert closed.value.rcvd.code == 4400


def test_a_binary_frame_closes_the_socket(live):
    with live.reader() as reader:
        reader.read()
        reader.socket.send(b"\x00\xff")
        with pytest.raises(ConnectionClosed) as closed:
            reader.socket.recv(timeout=TIMEOUT_S)
        assert closed.value.rcvd.code == 4400


def test_a_sandbox_that_is_not_there_refuses_the_handshake(live):
    live.id = "a" * 12
    with pytest.raises(InvalidStatus) as refused, live.reader():
        pass
    assert refused.value.response.status_code == 403


def test_another_page_cannot_open_a_socket(live):
    with (
        pytest.raises(InvalidStatus) as refused,
        live.reader(origin="http://evil.example"),
    ):
        pass
    assert refused.value.response.status_code == 403


def test_a_lost_bus_is_reported_and_so_is_its_return(default_run):
    live = Live(default_run)
    with live.reader() as reader:
        reader.read()
        bus = default_run.child("valkey")
        bus.suspend()
        reported: list[str] = []
        while "waiting" not in reported:
            reported.append(reader.status())
        bus.kill()
        while reported[-1] != "live":
            reported.append(reader.status())
        reader.read_to(live.run(5))
        assert reader.page == live.fresh()


def test_a_process_subscribes_once_per_sandbox_however_many_look(live):
    words = " ".join(live.default_run.child("valkey").cmdline())
    socket = words.partition("unixsocket:")[2].split()[0]
    bus = redis.Redis.from_url(f"unix://{socket}", retry=None)

    def subscriptions() -> int:
        names = [n for n in bus.pubsub_channels("*") if live.id.encode() in n]
        return sum(count for _, count in bus.pubsub_numsub(*names)) if names else 0

    with contextlib.ExitStack() as open_ones:
        for _ in range(20):
            open_ones.enter_context(live.reader()).read()
        assert subscriptions() == 1
    wait_for(lambda: subscriptions() == 0, "the end of the subscription")
    bus.close()
