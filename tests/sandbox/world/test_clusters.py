"""A sandbox with worker clusters: stored, shown, edited, rewound, archived."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox import actions
from sandbox.base.errors import ConflictError, DisruptionError
from sandbox.explain import explaining
from sandbox.explain.explaining import key_of
from sandbox.models import Event, Sandbox
from sandbox.world import history, worlds
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key, cluster_of
from tests.builders import job, local_queue, node
from tests.sandbox.conftest import check_rows, row, text_of, tick
from tests.scheduler.multikueue.builders import (
    a_job,
    check_of,
    in_cluster,
    manager,
    worker,
)


@pytest.fixture
def linked(make, person) -> Sandbox:
    """Return a manager with workers `a` and `b`, two jobs and a job of `a`'s own."""
    sandbox: Sandbox = make(
        *manager(),
        *check_of("a", "b"),
        *worker("a"),
        *worker("b"),
        *in_cluster("a", node("n1"), job("own", queue="main", runtime="5s")),
        *in_cluster("b", node("n1")),
        a_job("x", cpu=3, arrival="1s", runtime="20s"),
        a_job("y", cpu=3, arrival="2s", runtime="20s"),
        policy={"kueue": {"multiKueue": {"workerLostTimeout": "4s"}}},
    )
    actions.do_play(person, sandbox.pk)
    return sandbox


def page(sandbox: Sandbox) -> dict[str, Any]:
    """Return the page as everybody has it."""
    present = row(sandbox)
    return history.page_at(present, present.revision)


def card(sandbox: Sandbox, name: str) -> dict[str, Any]:
    """Return the manager's card of a job's Workload."""
    return next(
        one
        for one in page(sandbox).values()
        if one["kind"] == "Workload" and one["name"].startswith(f"job-{name}-")
    )


def lose(person, sandbox: Sandbox) -> None:
    """Have the manager lose its connection to `a`."""
    actions.do_cluster(person, sandbox.pk, "a", "lose")


def test_every_tick_of_linked_clusters_has_the_page_of_its_rows(linked, person):
    for _ in range(6):
        tick(linked, 5)
        check_rows(linked)
    queues = [one for one in page(linked) if one.startswith("ClusterQueue")]
    assert queues == [
        "ClusterQueue//main",
        "ClusterQueue//a:main",
        "ClusterQueue//b:main",
    ]


def test_a_card_says_where_its_copy_runs(linked):
    tick(linked, 3)
    (check,) = card(linked, "x")["checks"]
    assert (check["state"], card(linked, "x")["worker"]) == ("Ready", "a")
    pods = [one for one in page(linked).values() if one["kind"] == "Pod"]
    assert {one["node"] for one in pods} == {"a:n1", "b:n1"}


def test_a_cluster_is_lost_by_hand_and_the_edit_is_undone(linked, person):
    tick(linked, 3)
    lose(person, linked)
    tick(linked, 6)
    check_rows(linked)
    cluster = page(linked)["MultiKueueCluster//a"]
    assert (cluster["active"], cluster["sinceMs"]) == (False, 3_000)
    assert cluster["reason"] == "ClientConnectionFailed"
    assert card(linked, "x")["evictions"] == 1
    actions.do_undo(person, linked.pk)
    check_rows(linked)
    assert card(linked, "x")["evictions"] == 0


def test_linked_clusters_are_rewound_and_decide_the_same(linked, person):
    known = {step.tick: row(linked).hash for step in tick(linked, 12)[-1:]}
    actions.do_rewind(person, linked.pk, tick=5)
    check_rows(linked)
    worlds.forget_all()
    actions.do_play(person, linked.pk)
    tick(linked, 7)
    assert row(linked).hash == known[12]


def test_a_node_of_a_worker_is_failed_and_recovers(linked, person):
    tick(linked, 3)
    actions.do_node(person, linked.pk, "a:n1", "fail")
    tick(linked, 1)
    check_rows(linked)
    assert page(linked)["Node//a:n1"]["state"] == "failed"
    assert page(linked)["Node//b:n1"]["state"] == "ready"
    actions.do_add_node(person, linked.pk, "a:n2", like="a:n1")
    assert page(linked)["Node//a:n2"]["state"] == "ready"
    check_rows(linked)


def test_linked_clusters_are_archived_and_opened_as_they_were(linked, person):
    tick(linked, 4)
    before = row(linked).hash
    actions.do_pause(person, linked.pk)
    actions.do_archive(person, linked.pk)
    actions.do_unarchive(person, linked.pk)
    assert row(linked).hash == before
    check_rows(linked)


def test_what_runs_in_a_worker_is_explained_there(linked):
    tick(linked, 3)
    keys = [key_of(text) for text in page(linked) if "/a:" in text]
    for kind in ("Pod", "Workload"):
        key = next(one for one in keys if one.kind == kind)
        found = explaining.explain_object(linked, key, None)
        assert key.name.removeprefix("a:") in str(found)


def test_an_edit_of_a_workers_object_is_noted_under_that_object(linked, person):
    given = text_of(*in_cluster("a", node("n1", cpu="9")))
    actions.do_import(person, linked.pk, [("given", given)])
    edit = Event.objects.filter(sandbox=linked, type="Edit").latest("revision")
    assert (edit.reason, edit.subject) == ("Update", "Node//a:n1")
    assert edit.data["before"]["metadata"]["annotations"] == {
        "quotalab.dev/cluster": "a"
    }


def pod_in(sandbox: Sandbox, cluster: str, part: str = "") -> Key:
    """Return the first pod of a worker whose name has a part."""
    found = (key_of(text) for text in page(sandbox) if text.startswith("Pod/"))
    return next(k for k in found if cluster_of(k) == cluster and part in k.name)


def test_a_pod_of_a_worker_that_runs_on_its_node_is_pinned_to_it(linked, person):
    tick(linked, 3)
    pod = pod_in(linked, "a", "own")
    actions.do_pin(person, linked.pk, pod.namespace, pod.name, "a:n1")
    assert page(linked)[str(pod)]["phase"] == "ready"
    check_rows(linked)


def test_a_pod_is_not_pinned_to_a_node_of_another_cluster(linked, person):
    tick(linked, 3)
    pod = pod_in(linked, "a", "own")
    with pytest.raises(ConflictError, match="of worker cluster a, node b:n1 of worker"):
        actions.do_pin(person, linked.pk, pod.namespace, pod.name, "b:n1")


def test_a_pod_of_a_workers_owner_is_not_taken_off_its_node_by_a_pin(linked, person):
    tick(linked, 3)
    given = text_of(*in_cluster("a", node("n2")))
    actions.do_import(person, linked.pk, [("given", given)])
    pod = pod_in(linked, "a", "own")
    with pytest.raises(ConflictError, match="its owner would make another"):
        actions.do_pin(person, linked.pk, pod.namespace, pod.name, "a:n2")


def test_a_disruption_budget_of_a_worker_protects_its_pods(linked, person):
    tick(linked, 3)
    pod = pod_in(linked, "a", "own")
    selector = {"matchLabels": {"kueue.x-k8s.io/podset": "main"}}
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "all", "namespace": pod.namespace},
        "spec": {"maxUnavailable": 0, "selector": selector},
    }
    given = text_of(*in_cluster("a", budget))
    actions.do_import(person, linked.pk, [("given", given)])
    key = Key("Pod", pod.namespace, pod.name)
    session = actions.edit_session(person, linked.pk)
    with pytest.raises(DisruptionError), session as held:
        actions.evict(person, held, key)


def test_a_workload_is_moved_within_its_worker_and_nowhere_else(linked, person):
    tick(linked, 3)
    given = text_of(*in_cluster("a", local_queue("spare", cluster_queue="main")))
    actions.do_import(person, linked.pk, [("given", given)])
    own = next(key_of(text) for text in page(linked) if "/a:job-own" in text)
    own = Key("Workload", own.namespace, own.name.removesuffix("-main-0"))
    there, elsewhere = (Key("LocalQueue", "", f"{name}:spare") for name in "ab")
    with pytest.raises(ConflictError, match="different clusters"):
        actions.do_move(person, linked.pk, own, elsewhere)
    actions.do_move(person, linked.pk, own, there)
    assert page(linked)[str(own)]["localQueue"] == "a:spare"
    check_rows(linked)


def test_a_queue_of_a_worker_joins_a_cohort_of_it(linked, person):
    queue, cohort = Key("ClusterQueue", "", "a:main"), Key("Cohort", "", "a:team")
    actions.do_move(person, linked.pk, queue, cohort)
    assert page(linked)[str(queue)]["cohort"] == str(cohort.name)
    with pytest.raises(ConflictError, match="no worker cluster"):
        actions.do_move(
            person, linked.pk, Key("Cohort", "", "z:x"), Key("Cohort", "", "z:y")
        )


def test_what_would_let_a_workers_workload_in_is_refused_with_a_sentence(linked):
    tick(linked, 3)
    own = next(key_of(text) for text in page(linked) if "Workload/default/a:" in text)
    with pytest.raises(SchedulerError, match="is of worker cluster a"):
        explaining.explain_counterfactuals(linked, own, None, horizon_ms=1, limit=1)
