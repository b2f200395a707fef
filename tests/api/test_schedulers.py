"""What sharing nodes costs each kube-scheduler, as a table."""

from __future__ import annotations

import pytest

from sandbox import actions
from tests.builders import node, pod
from tests.sandbox.conftest import check_rows, contended, tick

pytestmark = pytest.mark.django_db


def scheduler(name: str) -> dict:
    return {"profiles": [{"schedulerName": name}]}


@pytest.fixture
def rivals(make, person):
    """Two schedulers that want the same few nodes at once."""
    pods = []
    for n in range(12):
        one = pod(f"p{n:02d}", cpu=1, runtime="300s")
        one["spec"]["schedulerName"] = "ab"[n % 2]
        pods.append(one)
    items = [scheduler("a"), scheduler("b")]
    policy = {
        "stack": "kube",
        "kubeScheduler": {"kind": "List", "items": items},
        "simulation": {"binding": "compare-and-set", "bindLatencyMs": 500},
    }
    sandbox = make(node("n1", cpu=4), node("n2", cpu=4), *pods, policy=policy)
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 6)
    return sandbox


def table(call, sandbox, query: str = "") -> list[dict]:
    answer = call("get", sandbox, f"/tables/schedulers{query}")
    assert answer.status_code == 200
    return answer.json()["items"]


def test_each_scheduler_has_its_counts(call, rivals):
    rows = table(call, rivals)
    assert [row["name"] for row in rows] == ["a", "b"]
    assert sum(row["bindings"] for row in rows) == 8
    assert sum(row["conflicts"] for row in rows) > 0
    assert all(row["attempts"] >= row["bindings"] for row in rows)
    assert {(row["binding"], row["locking"]) for row in rows} == {
        ("compare-and-set", "optimistic")
    }


def test_the_counts_of_an_earlier_tick_are_those_of_then(call, rivals):
    earlier = table(call, rivals, "?tick=0")
    assert [row["attempts"] for row in earlier] == [0, 0]


def test_a_lock_that_keeps_nobody_out_is_said_to_do_nothing(call, make):
    policy = {"stack": "kube", "simulation": {"locking": "pessimistic"}}
    sandbox = make(node("n1"), policy=policy)
    page = call("get", sandbox, "/state").json()
    rows = {row["key"]: row for row in page["rows"]}
    row = rows["Sandbox//sandbox"]
    words = "simulation.locking (pessimistic): needs several kube-schedulers"
    assert words in row["notSimulated"]
    assert row["notSimulated"] == [said["text"] for said in row["notSimulatedSaid"]]
    check_rows(sandbox)


def test_the_policys_schema_says_what_the_modes_are(client):
    schema = client.get("/api/v1/registry").json()["policy"]
    fields = schema["$defs"]["Simulation"]["properties"]
    for name, mode in (("binding", "compare-and-set"), ("locking", "pessimistic")):
        assert mode in fields[name]["enum"]
        assert mode in fields[name]["description"]


def test_kueues_world_has_its_own_scheduler_in_the_table(call, make):
    (row,) = table(call, make(*contended()))
    assert row["name"] == "default-scheduler"
