"""What the operator allows: each limit is held, and says what to do instead."""

from __future__ import annotations

import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from urllib.parse import urljoin

import psutil
import pytest
from django.conf import settings as configured
from django.db import connection, transaction
from django.test import override_settings as with_settings
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.test import APIClient
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from sandbox import actions
from sandbox.access.limits import HandshakeLimiter, Slots, answer_slots
from sandbox.actions.ticks import _next_due
from sandbox.base.database_time import DatabaseTime
from sandbox.base.errors import ForbiddenError, InvalidError
from sandbox.experiments import actions as experiments
from sandbox.models import Experiment, Sandbox
from sandbox.process import connections, watchdog
from tests.builders import cluster_queue, flavor
from tests.sandbox.conftest import contended, row, text_of
from tests.services.default_run import DefaultRun, wait_for

FRESH_CACHE = "django.core.cache.backends.locmem.LocMemCache"


@pytest.fixture
def allow(settings, request) -> Callable[..., None]:
    """Return a function that sets limits, with counters of this test alone."""
    settings.CACHES = {
        **settings.CACHES,
        "default": {"BACKEND": FRESH_CACHE, "LOCATION": request.node.name},
    }

    def set_them(**limits: int) -> None:
        settings.LIMITS = {**settings.LIMITS, **limits}

    return set_them


def statuses(client: APIClient, method: str, url: str, count: int = 3) -> list[int]:
    answers = [getattr(client, method)(url, {}, format="json") for _ in range(count)]
    if answers[-1].status_code == 429:
        assert int(answers[-1]["Retry-After"]) > 0
        assert answers[-1].json()["reason"] == "TooManyRequests"
    return [answer.status_code for answer in answers]


@pytest.mark.django_db
def test_requests_are_counted_per_minute(client, allow):
    allow(requests_per_minute_all=2)
    assert statuses(client, "get", "/api/v1/me") == [200, 200, 429]


@pytest.mark.django_db
def test_one_answer_more_than_a_person_may_have_at_once_is_refused(
    client, allow, make, person, monkeypatch
):
    monkeypatch.setattr("api.views.base.ANSWER_PATIENCE_S", 0.0)
    allow(answers_per_user=1)
    url = f"/api/v1/sandboxes/{make(flavor()).pk}"
    asked = f"{url}/explain/default/x"
    assert answer_slots.take(person.pk)
    try:
        assert statuses(client, "get", asked, 1) == [429]
        assert client.get(f"{url}/tables/nodes").status_code == 200
    finally:
        answer_slots.leave(person.pk)
    assert statuses(client, "get", asked, 3) == [404, 404, 404]


def test_who_waits_for_a_slot_has_it_once_another_leaves(allow):
    allow(answers_per_user=2, answers=2)
    seats = Slots("answers_per_user", "answers")
    assert [seats.take(1), seats.take(1), seats.take(2)] == [True, True, False]
    leaving = threading.Timer(0.1, seats.leave, (1,))
    leaving.start()
    assert seats.take(2, patience_s=60.0)
    leaving.join()


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 4)), max_size=60))
def test_no_more_slots_are_held_than_each_and_all_may(steps):
    limits = {**configured.LIMITS, "answers_per_user": 2, "answers": 5}
    with with_settings(LIMITS=limits):
        seats, held = Slots("answers_per_user", "answers"), Counter()
        for takes, user in steps:
            if takes:
                free = held[user] < 2 and held.total() < 5
                assert seats.take(user) == free
                held[user] += free
            elif held[user]:
                seats.leave(user)
                held[user] -= 1


@pytest.mark.django_db
def test_a_request_that_computes_too_long_is_ended_and_changes_nothing(
    client, busy, settings, monkeypatch
):
    monkeypatch.setattr(watchdog, "LOOK_S", 0.0)
    settings.REQUEST_CPU_S = 1e-6
    before = row(busy)
    url = f"/api/v1/sandboxes/{busy.pk}/actions/fork"
    answered = 0  # before the watch looked: its thread may get no processor for so long
    while (answer := client.post(url, {}, format="json")).status_code == 201:
        answered += 1
    assert (answer.status_code, answer["Retry-After"]) == (503, "1")
    assert "REQUEST_CPU_SECONDS" in answer.json()["message"]
    assert Sandbox.objects.count() == 1 + answered
    assert row(busy).revision == before.revision
    settings.REQUEST_CPU_S = 30
    assert client.post(url, {}, format="json").status_code == 201


def test_who_waits_uses_no_processor_time():
    done = threading.Event()

    def computing() -> None:
        end = time.thread_time() + 0.5
        while time.thread_time() < end:
            pass
        done.set()

    other = threading.Thread(target=computing)
    other.start()
    with watchdog.within_cpu(0.4):
        assert done.wait(60)
    other.join()


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_work_was_ended_on_is_none_of_the_next(busy):
    connection.ensure_connection()
    with connection.cursor() as cursor:
        cursor.execute("BEGIN")  # Django has not noted it yet
    connection.in_atomic_block = True
    connections.drop()
    with transaction.atomic():
        assert row(busy).pk == busy.pk
    assert not connection.in_atomic_block


@pytest.mark.parametrize("limit", [watchdog.within_cpu, watchdog.stopped_after])
def test_a_block_is_ended_though_a_finalizer_swallowed_it(limit):
    class Slow:
        def __del__(self) -> None:
            compute()

    def compute() -> None:
        end = time.thread_time() + 20
        while time.thread_time() < end:
            pass

    def make_and_compute() -> None:
        Slow()
        compute()

    with pytest.raises(watchdog.OverdueError), limit(0.05):
        make_and_compute()


@pytest.mark.django_db
def test_writes_are_counted_by_themselves(client, allow, make):
    url = f"/api/v1/sandboxes/{make(flavor()).pk}"
    allow(requests_per_minute_writes=2)
    assert statuses(client, "post", f"{url}/actions/pause") == [200, 200, 429]
    assert client.get(url).status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("get", "explain/default/job-job-00"),
        ("get", "explain/default/job-job-00/counterfactuals"),
        ("get", "forecast?futures=1"),
        ("post", "forecast"),
        ("get", "preemptions/1.0"),
        ("get", "events/1.0/reproduction"),
        ("post", "what-ifs"),
        ("get", "shadow"),
        ("post", "/api/v1/experiments/estimate"),
        ("post", "/api/v1/traces/preview"),
    ],
)
def test_what_is_run_to_be_answered_is_counted_by_itself(
    client, allow, busy, method, path
):
    url = f"/api/v1/sandboxes/{busy.pk}"
    allow(requests_per_minute_explanations=1)
    first, second = statuses(client, method, urljoin(f"{url}/", path), 2)
    assert (first != 429, second) == (True, 429)
    assert client.get(f"{url}/hash").status_code == 200


@pytest.mark.django_db
def test_people_are_counted_apart(allow, person, stranger):
    allow(requests_per_minute_all=1)
    for user in (person, stranger):
        with with_settings(SERVER=True):
            client = APIClient()
            client.force_authenticate(user)
            assert statuses(client, "get", "/api/v1/me", 2) == [200, 429]


@pytest.mark.django_db
def test_nobody_has_more_sandboxes_than_allowed(client, make, person, allow):
    first = make(*contended())
    archive = client.get(f"/api/v1/sandboxes/{first.pk}/archive").content
    allow(sandboxes_per_user=1)
    for way in (
        lambda: make(flavor()),
        lambda: actions.do_fork(person, first.pk),
        lambda: actions.do_convert(person, first.pk, "yunikorn"),
        lambda: actions.do_restore(person, archive),
    ):
        with pytest.raises(ForbiddenError, match="as many as allowed"):
            way()
    assert Sandbox.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("limit", "value"),
    [
        ("objects_per_import", 1),
        ("bytes_per_import", 50),
        ("yaml_depth", 2),
        ("yaml_aliases", 1),
        ("yaml_values", 7),
    ],
)
def test_an_import_beyond_a_limit_is_refused_whole(call, make, allow, limit, value):
    sandbox = make()
    before = row(sandbox)
    allow(**{limit: value})
    text = text_of(flavor("x"), flavor("y"), cluster_queue("q"))
    text += "---\na: &a {}\nb: [*a, *a, *a]\n" if limit == "yaml_aliases" else ""
    body = {"files": [{"name": "a.yaml", "text": text}]}
    answer = call("post", sandbox, "/actions/import", body)
    assert answer.status_code == 422
    assert str(value) in answer.content.decode()
    assert row(sandbox).revision == before.revision


@pytest.mark.django_db
def test_bytes_are_counted_and_not_letters(call, make, allow):
    sandbox = make()
    allow(bytes_per_import=200)
    body = {"files": [{"name": "a.yaml", "text": "# " + "配" * 90}]}
    assert call("post", sandbox, "/actions/import", body).status_code == 422


@pytest.mark.django_db
def test_an_archive_is_opened_no_further_than_allowed(client, busy, allow):
    whole = client.get(f"/api/v1/sandboxes/{busy.pk}/archive").content
    allow(bytes_per_archive=1000)
    kind = "application/vnd.quotalab.sandbox"
    answer = client.post("/api/v1/archives", data=whole, content_type=kind)
    assert (answer.status_code, "when opened" in answer.content.decode()) == (422, True)


@pytest.mark.django_db
def test_no_sandbox_is_faster_than_allowed(make, person, allow):
    sandbox = make(*contended())
    allow(ticks_per_second=4)
    with pytest.raises(InvalidError, match="at most 4 ticks a second"):
        actions.do_speed(person, sandbox.pk, 5)
    actions.do_speed(person, sandbox.pk, 0)
    racing = row(sandbox)
    for racing.speed in (0, 1000):  # as it was before the operator set the limit
        Sandbox.objects.update(due_at=DatabaseTime())
        before = row(sandbox).due_at
        Sandbox.objects.update(due_at=_next_due(racing))
        assert row(sandbox).due_at == pytest.approx(before + 0.25, abs=0.001)


def an_experiment(seeds: int, horizon: str) -> dict[str, object]:
    return {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Experiment",
        "metadata": {"name": "big"},
        "spec": {
            "base": {"scenario": "friday-rush"},
            "seeds": {"count": seeds},
            "horizon": horizon,
        },
    }


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"runs_per_experiment": 10}, "11 runs are over the limit of 10"),
        ({"hours_per_experiment": 5}, "11 runs of 0.5 h are 5.5 h"),
    ],
)
def test_an_experiment_is_no_larger_than_allowed(person, allow, limits, words):
    allow(**limits)
    with pytest.raises(InvalidError, match=words):
        experiments.do_start(person, an_experiment(11, "30m"))
    assert not Experiment.objects.exists()


def test_seats_are_counted_and_given_back(allow):
    allow(connections_per_user=1, connections=2)
    seats = Slots("connections_per_user", "connections")
    assert seats.take(1)
    assert not seats.take(1)
    assert seats.take(2)
    assert not seats.take(3), "all are taken"
    seats.leave(1)
    assert seats.take(3)


def test_handshakes_are_counted_per_address_and_minute(allow):
    allow(handshakes_per_minute=2)
    limiter = HandshakeLimiter()
    first = [limiter.allowed("10.0.0.1", 60.0 + n) for n in range(3)]
    assert first == [True, True, False]
    assert limiter.allowed("10.0.0.2", 63.0)
    assert limiter.allowed("10.0.0.1", 121.0)


def test_every_limit_is_in_the_table_of_the_docs():
    reported = (configured.BASE_DIR / "docs" / "operating.md").read_text()
    source = (configured.BASE_DIR / "sandbox" / "settings.py").read_text()
    begin = source.index("LIMITS: dict")
    block = source[begin : source.index("\n}", begin)]
    names = [word for word in block.split('"') if word.isupper()]
    assert len(names) == len(configured.LIMITS)
    assert [name for name in names if f"`{name}`" not in reported] == []


# ------------------------------------------------------- held by a running server


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DefaultRun]:
    """A default run that takes little."""
    little = {
        "BYTES_PER_BODY": "2000",
        "SECONDS_PER_BODY": "1",
        "CONNECTIONS_PER_USER": "2",
    }
    with DefaultRun(tmp_path_factory.mktemp("strict"), **little) as running:
        yield running


def raw(default_run: DefaultRun, *pieces: bytes) -> bytes:
    """Send bytes as they are; return all that is answered until the end."""
    host, _, port = default_run.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), 10) as line:
        for piece in pieces:
            line.sendall(piece.replace(b"HOST", f"{host}:{port}".encode()))
        found = b""
        while chunk := line.recv(65536):
            found += chunk
            if b"}" in chunk:
                break
        return found


HEAD = b"POST /api/v1/tokens HTTP/1.1\r\nHost: HOST\r\n"


def test_a_long_body_is_refused_before_it_is_sent(strict):
    said = raw(strict, HEAD + b"Content-Length: 9999999999\r\n\r\n")
    assert said.startswith(b"HTTP/1.1 413 ")
    assert b"RequestEntityTooLarge" in said


def test_a_body_in_chunks_is_refused_where_it_passes_the_limit(strict):
    chunk = b"3e8\r\n" + b"x" * 1000 + b"\r\n"
    said = raw(strict, HEAD + b"Transfer-Encoding: chunked\r\n\r\n", *[chunk] * 3)
    assert said.startswith(b"HTTP/1.1 413 ")


def test_a_body_that_trickles_is_given_up(strict):
    said = raw(strict, HEAD + b"Content-Length: 100\r\n\r\n", b"{")
    assert said.startswith(b"HTTP/1.1 408 ")


def test_what_is_refused_takes_no_memory(strict):
    process = psutil.Process(strict.process.pid)
    raw(strict, HEAD + b"Content-Length: 9999999999\r\n\r\n")
    before = process.memory_info().rss
    for _ in range(30):
        head = HEAD + b"Content-Length: 300000000\r\n\r\n"
        assert b"413" in raw(strict, head)
    assert process.memory_info().rss - before < 8 * 2**20


def socket_to(default_run: DefaultRun) -> str:
    made = default_run.post("/api/v1/sandboxes", {"title": "seats"})
    return f"{default_run.url.replace('http', 'ws')}/ws/sandboxes/{made['id']}"


def test_sockets_are_as_many_as_allowed(strict):
    url = socket_to(strict)
    with connect(url), connect(url), pytest.raises(InvalidStatus, match="403"):
        connect(url)

    def free() -> bool:
        try:
            with connect(url):
                return True
        except InvalidStatus:
            return False

    wait_for(free, "a seat that was given back")


#: What no client sends: the bytes of frames, after a handshake that was good.
BENT_FRAMES = {
    "not masked": bytes([0x81, 2]) + b"{}",
    "an unknown opcode": bytes([0x83, 0x80, 0, 0, 0, 0]),
    "reserved bits": bytes([0xF1, 0x80, 0, 0, 0, 0]),
    "a length of 2^63": bytes([0x81, 0xFF]) + b"\xff" * 8 + bytes(4),
    "a length that is not kept": bytes([0x81, 0xFE, 0xFF, 0xFF]) + bytes(10),
    "a ping that is too long": bytes([0x89, 0xFE, 0x01, 0x00]) + bytes(260),
    "no UTF-8": bytes([0x81, 0x82, 0, 0, 0, 0, 0xFF, 0xFE]),
    "a piece of nothing": bytes([0x80, 0x80, 0, 0, 0, 0]),
    "a close with half a code": bytes([0x88, 0x81, 0, 0, 0, 0, 3]),
    "noise": bytes(range(256)),
}


def shaken(default_run: DefaultRun) -> socket.socket:
    """Open a socket by hand; return its line."""
    url = socket_to(default_run)
    host, _, path = url.removeprefix("ws://").partition("/")
    name, _, port = host.partition(":")
    line = socket.create_connection((name, int(port)), 10)
    line.sendall(
        f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
    )
    assert line.recv(4096).startswith(b"HTTP/1.1 101 ")
    return line


def test_bent_frames_end_their_own_socket_and_take_no_memory(strict):
    process, sizes = psutil.Process(strict.process.pid), []
    for _ in range(3):
        for name, frame in BENT_FRAMES.items():
            with shaken(strict) as line:
                line.sendall(frame)
                if name != "a length that is not kept":
                    await_end(line)
        sizes.append(process.memory_info().rss)
    assert sizes[-1] - sizes[0] < 8 * 2**20
    assert strict.get("/healthz") == {"status": "ok"}


def await_end(line: socket.socket) -> None:
    """Read until the other side closes."""
    line.settimeout(20)
    while line.recv(4096):
        pass


def test_a_frame_beyond_the_cap_closes_its_socket(strict):
    with connect(socket_to(strict)) as line:
        line.send("x" * 100_000)
        with pytest.raises(ConnectionClosed) as closed:
            line.recv(5)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009
