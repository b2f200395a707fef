"""Nodes that are added, closed, lost and found again; pods that are pinned to them."""

from __future__ import annotations

import pytest

from sandbox import actions
from sandbox.base.errors import (
    ConflictError,
    InvalidError,
    NotFoundError,
)
from sandbox.models import Event, Node, Pod, Sandbox
from tests import stored
from tests.builders import (
    cluster_queue,
    flavor,
    job,
    local_queue,
    node,
    pod,
    queue_tree,
)
from tests.sandbox.conftest import check_rows, row, tick

pytestmark = pytest.mark.django_db

QUEUES = queue_tree({"name": "a"})


def yunikorn_pod(name: str) -> dict:
    labels = {"applicationId": "app", "queue": "root.a"}
    made = pod(name, cpu=1, labels=labels, runtime="300s", recreate="true")
    made["spec"]["schedulerName"] = "yunikorn"
    return made


STACKS = {
    "kueue": (
        [
            flavor(),
            cluster_queue("a", cpu=40),
            local_queue("main", cluster_queue="a"),
            job("work", queue="main", parallelism=4, runtime="300s"),
        ],
        {"stack": "kueue"},
    ),
    "kube": (
        [pod(f"p{n}", cpu=1, runtime="300s", recreate="true") for n in range(4)],
        {"stack": "kube"},
    ),
    "yunikorn": (
        [yunikorn_pod(f"p{n}") for n in range(4)],
        {"stack": "yunikorn", "yunikorn": {"queues": QUEUES}},
    ),
}


@pytest.fixture(params=STACKS)
def running(request, make, person) -> Sandbox:
    """Four pods of one CPU on two nodes of four, under each stack."""
    manifests, policy = STACKS[request.param]
    nodes = [node("n1", cpu=4), node("n2", cpu=4)]
    sandbox = make(*nodes, *manifests, policy=policy)
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 3)
    assert len(places(sandbox)) == 4
    return sandbox


def places(sandbox: Sandbox) -> list[str]:
    return sorted(filter(None, stored.places(sandbox.pk).values()))


def state(sandbox: Sandbox, name: str) -> dict:
    return Node.objects.get(sandbox=sandbox, name=name).status


@pytest.mark.parametrize("change", ["drain", "fail"])
def test_pods_of_a_lost_node_go_on_elsewhere(running, person, change):
    actions.do_node(person, running.pk, "n1", change)
    tick(running, 3)
    assert places(running) == ["n2"] * 4
    reasons = Event.objects.filter(sandbox=running, type="Evict")
    assert "NodeLost" in reasons.values_list("reason", flat=True)
    edit = Event.objects.get(sandbox=running, type="Edit", subject="Node//n1")
    assert edit.reason == change.capitalize()
    check_rows(running)


def test_a_failed_node_is_not_ready_until_it_recovers(running, person):
    actions.do_node(person, running.pk, "n1", "fail")
    (ready,) = state(running, "n1")["conditions"]
    assert (ready["type"], ready["status"]) == ("Ready", "Unknown")
    actions.do_node(person, running.pk, "n1", "recover")
    (ready,) = state(running, "n1")["conditions"]
    assert ready["status"] == "True"
    check_rows(running)


def test_a_node_that_was_added_takes_the_pods_of_those_that_close(running, person):
    actions.do_add_node(person, running.pk, "n3", like="n1")
    for name in ("n1", "n2"):
        actions.do_node(person, running.pk, name, "drain")
    tick(running, 3)
    assert places(running) == ["n3"] * 4
    actions.do_node(person, running.pk, "n1", "uncordon")
    check_rows(running)


def test_a_cordoned_node_keeps_its_pods(running, person):
    before = places(running)
    actions.do_node(person, running.pk, "n1", "cordon")
    tick(running, 2)
    assert places(running) == before


def test_an_added_node_says_its_size_or_whose(make, person):
    sandbox = make(node("n1"))
    with pytest.raises(InvalidError, match="expected allocatable"):
        actions.do_add_node(person, sandbox.pk, "n2")
    with pytest.raises(InvalidError, match="not a node"):
        actions.do_add_node(person, sandbox.pk, "n2", allocatable={"cpu": "many"})
    with pytest.raises(ConflictError, match="n1"):
        actions.do_add_node(person, sandbox.pk, "n1", like="n1")
    with pytest.raises(NotFoundError, match="n9"):
        actions.do_add_node(person, sandbox.pk, "n2", like="n9")


# ------------------------------------------------------------------- pins


def waiting(make, person, stack: str) -> Sandbox:
    """A pod that waits while both nodes are closed."""
    closed = [node("n1", cpu=4), node("n2", cpu=4)]
    for one in closed:
        one["spec"] = {"unschedulable": True}
    policy = STACKS[stack][1]
    one = yunikorn_pod("p") if stack == "yunikorn" else pod("p", runtime="300s")
    sandbox = make(*closed, one, policy=policy)
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 2)
    return sandbox


@pytest.mark.parametrize("stack", ["kube", "yunikorn", "kueue"])
def test_a_pinned_pod_waits_for_its_node(make, person, stack):
    sandbox = waiting(make, person, stack)
    actions.do_pin(person, sandbox.pk, "default", "p", "n2")
    actions.do_node(person, sandbox.pk, "n1", "uncordon")
    tick(sandbox, 12)
    assert places(sandbox) == []
    actions.do_node(person, sandbox.pk, "n2", "uncordon")
    tick(sandbox, 12)
    assert places(sandbox) == ["n2"]
    check_rows(sandbox)


@pytest.mark.parametrize("stack", ["kube", "yunikorn", "kueue"])
def test_an_unpinned_pod_goes_where_there_is_room(make, person, stack):
    sandbox = waiting(make, person, stack)
    actions.do_pin(person, sandbox.pk, "default", "p", "n2")
    actions.do_pin(person, sandbox.pk, "default", "p", "")
    actions.do_node(person, sandbox.pk, "n1", "uncordon")
    tick(sandbox, 12)
    assert places(sandbox) == ["n1"]


def test_a_pod_that_runs_elsewhere_begins_again_on_its_pin(make, person):
    sandbox = make(
        node("n1"), node("n2"), pod("p", runtime="300s"), policy={"stack": "kube"}
    )
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 2)
    (here,) = places(sandbox)
    other = "n2" if here == "n1" else "n1"
    actions.do_pin(person, sandbox.pk, "default", "p", other)
    tick(sandbox, 2)
    assert places(sandbox) == [other]
    check_rows(sandbox)


def test_a_pod_that_a_run_owns_is_pinned_while_it_waits_only(make, person):
    manifests, policy = STACKS["kueue"]
    sandbox = make(node("n1"), node("n2"), *manifests, policy=policy)
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 3)
    one = Pod.objects.filter(sandbox=sandbox).first()
    other = "n2" if stored.node_of(one) == "n1" else "n1"
    with pytest.raises(ConflictError, match="its owner would make another"):
        actions.do_pin(person, sandbox.pk, one.namespace, one.name, other)


def test_what_is_done_to_nodes_is_undone_like_any_edit(running, person):
    before = row(running).hash
    actions.do_node(person, running.pk, "n1", "fail")
    actions.do_undo(person, running.pk)
    assert row(running).hash == before
