"""A proposal over REST, in the package, for assistants and in a plan."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path

import pytest
import yaml
from mcp import Client

import api.notebook as quotalab
from api.assistants.asking import Upstream
from api.assistants.server import build
from sandbox import actions
from sandbox.access.people import local_user
from scheduler.cli import plan
from tests.builders import job, small_cluster
from tests.sandbox.conftest import tick
from tests.scheduler.proposals.conftest import enrol  # noqa: F401 - a fixture

CHOSEN = {"proposal": {"name": "WorkLost", "settings": {"resource": "cpu"}}}
POLICY = {
    "apiVersion": "quotalab.dev/v1",
    "kind": "Policy",
    "spec": {"simulation": CHOSEN},
}
SAID = "the proposal WorkLost decides: no release decides so"
WORLD = [
    *small_cluster(cpu=4),
    job("runs", queue="main", cpu=4, runtime="1h"),
    job("waits", queue="main", cpu=4, arrival="2s"),
]


@pytest.fixture
def proposed(make):
    """Return a sandbox in which a proposal decides and a Workload waits."""
    sandbox = make(*WORLD, policy={"simulation": CHOSEN})
    actions.do_step(local_user(), sandbox.pk, ticks=5)
    tick(sandbox, 5)
    return sandbox


@pytest.mark.django_db
def test_rest_takes_a_proposal_and_refuses_settings_that_it_has_not(call, make):
    sandbox = make(*WORLD)
    wrong = {"proposal": {"name": "WorkLost", "settings": {"resorce": "cpu"}}}
    body = {"spec": {"simulation": CHOSEN}}
    assert call("patch", sandbox, "/policy", body).status_code == 200
    refused = call("patch", sandbox, "/policy", {"spec": {"simulation": wrong}})
    assert refused.status_code == 422
    assert "resorce" in refused.content.decode()
    kept = call("get", sandbox, "/policy").json()["spec"]["simulation"]
    assert kept["proposal"] == CHOSEN["proposal"]


@pytest.mark.django_db
def test_the_row_of_a_sandbox_names_its_proposal(call, proposed):
    found = call("get", proposed, "/state").content.decode()
    assert '"proposal":"WorkLost"' in found.replace(" ", "")
    assert SAID in found


@pytest.mark.django_db
def test_a_what_if_tries_a_proposal(call, make):
    sandbox = make(*WORLD)
    change = {"policy": {"spec": {"simulation": CHOSEN}}}
    asked = {"changes": [change], "horizonMs": 60_000}
    number = call("post", sandbox, "/what-ifs?wait=60", asked).json()["id"]
    assert call("post", sandbox, f"/what-ifs/{number}/keep").status_code == 200
    kept = call("get", sandbox, "/policy").json()["spec"]["simulation"]
    assert kept["proposal"] == CHOSEN["proposal"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "world.yaml").write_text(yaml.safe_dump_all([*WORLD, POLICY]))
    return tmp_path


def test_the_package_says_that_a_proposal_decides(folder):
    box = quotalab.open(folder).step(until="5s")
    assert SAID in str(box.why("waits"))


def test_a_plan_says_that_a_proposal_decides_on_a_side(folder, tmp_path_factory):
    base = tmp_path_factory.mktemp("base")
    (base / "world.yaml").write_text(yaml.safe_dump_all(WORLD))
    comment = base / "comment.md"
    words = [str(folder), "--against", str(base), "--on", str(base), "--seeds", "1"]
    plan.main([*words, "--markdown", str(comment)], io.StringIO())
    assert SAID in comment.read_text()


@pytest.mark.django_db(transaction=True)
def test_an_assistant_is_told_that_a_proposal_decides(proposed, live_server):
    async def explained() -> str:
        async with Client(
            build(Upstream(url=live_server.url, changes=False), "0")
        ) as it:
            given = {"sandbox": proposed.pk, "about": "waits"}
            answer = await it.call_tool("explain", given)
        return "\n".join(part.text for part in answer.content)

    assert SAID in asyncio.run(explained())
