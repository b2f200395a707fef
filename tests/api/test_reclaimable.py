"""Reclaimable pods reported through the API: quota goes to others while the rest runs."""

from __future__ import annotations

import pytest

from sandbox import actions
from sandbox.models import Node, Workload
from tests.builders import cluster_queue, flavor, job, local_queue, node
from tests.sandbox.conftest import check_rows, row, tick

pytestmark = pytest.mark.django_db

KUEUE = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"


def reported(count: int, name: str = "main") -> dict:
    return {"status": {"reclaimablePods": [{"name": name, "count": count}]}}


@pytest.fixture
def full(make, person):
    """A queue whose four CPUs one job of four pods holds, while another waits."""
    sandbox = make(
        flavor(),
        cluster_queue("a", cpu=4),
        local_queue("main", cluster_queue="a"),
        job("big", queue="main", parallelism=4, runtime="100s"),
        job("next", queue="main", parallelism=2, arrival="1s", runtime="100s"),
    )
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 3)
    return sandbox


def named(sandbox, part: str) -> Workload:
    return Workload.objects.get(sandbox=sandbox, name__contains=part)


def admitted(sandbox, part: str) -> bool:
    status = named(sandbox, part).status
    return any(
        c["type"] == "Admitted" and c["status"] == "True"
        for c in status.get("conditions") or ()
    )


def path(sandbox) -> str:
    return f"/objects/Workload/default/{named(sandbox, 'big').name}"


def test_pods_reported_as_done_give_their_quota_to_who_waits(call, full):
    assert not admitted(full, "next")
    answer = call("patch", full, path(full), reported(2))
    assert answer.status_code == 200
    assert answer.json()["changed"] == [
        str(f"Workload/default/{named(full, 'big').name}")
    ]
    tick(full, 1)
    assert admitted(full, "big")
    assert admitted(full, "next")
    assert named(full, "big").status["reclaimablePods"] == [
        {"name": "main", "count": 2}
    ]
    check_rows(full)


@pytest.mark.parametrize(
    ("patch", "problem"),
    [
        (reported(5), "reclaimablePods[0].count"),
        (reported(1, "other"), "expected one of main"),
        ({"status": {"reclaimablePods": [{"name": "main"}]}}, "a whole number"),
    ],
)
def test_what_it_cannot_have_is_refused_and_changes_nothing(call, full, patch, problem):
    before = row(full).hash
    answer = call("patch", full, path(full), patch)
    assert answer.status_code == 422
    assert problem in str(answer.json())
    assert row(full).hash == before


def test_pods_given_back_are_not_taken_again_while_quota_is_held(call, full):
    call("patch", full, path(full), reported(2))
    answer = call("patch", full, path(full), reported(1))
    assert answer.status_code == 422
    assert "already given back" in answer.json()["message"]


def test_the_status_subresource_takes_them_as_kubectl_sends_them(call, full):
    name = named(full, "big").name
    answer = call("patch", full, f"{KUEUE}/{name}/status", reported(2))
    assert answer.status_code == 200, answer.json()
    assert (
        answer.json()["status"]["reclaimablePods"]
        == reported(2)["status"]["reclaimablePods"]
    )
    tick(full, 1)
    assert admitted(full, "next")


def test_conditions_are_not_reported_but_decided(call, full):
    before = named(full, "big").status
    answer = call("patch", full, path(full), {"status": {"conditions": []}})
    assert answer.json()["unchanged"] != []
    assert named(full, "big").status == before


def test_a_nodes_size_is_reported_through_its_status(call, make):
    sandbox = make(node("n", cpu=4))
    given = {"status": {"allocatable": {"cpu": "8", "memory": "1Gi", "pods": "9"}}}
    assert call("patch", sandbox, "/objects/Node/-/n", given).status_code == 200
    kept = Node.objects.get(sandbox=sandbox).status["allocatable"]
    assert kept["cpu"] == "8"
    check_rows(sandbox)
