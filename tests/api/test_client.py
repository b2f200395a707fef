"""The typed client against a running server, sync and async; the examples run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from api.client import ApiError, AsyncClient, Client, StoppedError
from tests.sandbox.conftest import contended, text_of
from tests.services.default_run import DefaultRun

ROOT = Path(__file__).resolve().parents[2]
FILES = [("world.yaml", text_of(*contended()))]


@pytest.fixture(scope="module")
def server(shared_run: DefaultRun) -> Client:
    return Client(shared_run.url)


def test_a_sandbox_is_made_stepped_read_and_deleted(server):
    made = server.create(files=FILES, title="By the client", seed=1)
    key = made["id"]
    assert server.step(key, 3)["tick"] == 3
    assert server.table(key, "clusterqueues")
    events = list(server.events(key, limit=7))
    assert any(event["type"] == "Admit" for event in events)
    assert list(server.watch(key, after="", timeout_s=0)) == events
    assert list(server.watch(key, timeout_s=0)) == []
    assert server.fork(key, tick=1)["tick"] == 1
    assert "kueue_admitted_active_workloads" in server.metrics(key)
    again = server.create(files=[("e.yaml", server.export(key))], seed=1)
    server.delete(again["id"])
    with pytest.raises(ApiError, match="does not exist") as refused:
        server.read(again["id"])
    assert (refused.value.code, refused.value.reason) == (404, "NotFound")


def test_a_step_in_a_quiet_world_is_waited_for_until_its_last_tick(server):
    key = server.create()["id"]
    assert server.step(key, 30)["tick"] == 30
    assert not server.read(key)["playing"]


def test_to_wait_for_a_sandbox_that_stands_is_an_error(server):
    key = server.create()["id"]
    with pytest.raises(StoppedError, match="stands at tick 0, before tick 5"):
        server.wait(key, tick=5)
    assert server.wait(key)["tick"] == 0


def test_two_runs_of_one_seed_have_one_hash(server):
    hashes = set()
    for _ in range(2):
        made = server.create(files=FILES, seed=7)
        server.step(made["id"], 5)
        hashes.add(server.hash(made["id"]))
    assert len(hashes) == 1


def test_every_operation_can_be_called_by_its_own_name(server):
    made = server.operations.sandboxes_create({"scenario": "classical-reclaim"})
    key = made["id"]
    server.step(key, 40)
    events = server.operations.events_read(key, type="Preempt")["items"]
    place = f"{events[0]['revision']}.{events[0]['seq']}"
    found = server.operations.reproduction_read(key, place)
    assert found["found"]
    assert found["after"] < found["before"]
    rows = server.operations.tables_read(key, "workloads", fields={"phase": "finished"})
    assert all(row["phase"] == "finished" for row in rows["items"])
    archive = server.operations.archive_read(key)
    assert (
        server.operations.archives_create(archive)["tick"] == server.read(key)["tick"]
    )
    state = server.operations.state_read(key, tick=1)
    assert state["type"] == "page_state"


async def test_the_same_calls_are_awaited(server):
    client = AsyncClient(server.url)
    made = await client.create(files=FILES)
    await client.patch_policy(made["id"], {"spec": {"kueue": {"fairSharing": {}}}})
    policy = await client.policy(made["id"])
    assert (await client.operations.me_read())["user"]
    assert policy["spec"]["kueue"] == {"fairSharing": {}}


def test_the_example_compares_policies(server, tmp_path):
    world = tmp_path / "world.yaml"
    world.write_text(FILES[0][1])
    script = ROOT / "docs" / "examples" / "compare_policies.py"
    done = subprocess.run(
        [sys.executable, str(script), server.url, str(world)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        "classical",
        "fair",
    ]
