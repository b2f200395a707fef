"""Events of the simulation as the components of a cluster write them."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from api.cluster import events
from sandbox import actions
from sandbox.access.people import local_user
from tests.builders import (
    cluster_queue,
    flavor,
    job,
    local_queue,
    node,
    pod,
    workload_priority,
)
from tests.sandbox.conftest import tick

QUEUED = {"kueue.x-k8s.io/queue-name": "main"}
EVENTS = "/api/v1/namespaces/default/events"


def told(call, sandbox, query: str = "") -> list[dict]:
    return call("get", sandbox, f"{EVENTS}?{query}").json()["items"]


def test_a_job_is_told_of_its_workload_and_of_its_admission(call, busy):
    tick(busy, 8)
    (found, *_) = told(call, busy, "fieldSelector=reason=Started")
    assert found["message"].startswith("Admitted by clusterQueue ")
    assert found["source"] == {"component": "batch/job-kueue-controller"}
    about = found["involvedObject"]
    path = f"/apis/batch/v1/namespaces/default/jobs/{about['name']}"
    assert call("get", busy, path).json()["metadata"]["uid"] == about["uid"]
    name = f"fieldSelector=involvedObject.uid={about['uid']}"
    reasons = {one["reason"] for one in told(call, busy, name)}
    assert {"CreatedWorkload", "Suspended", "Started", "Resumed"} <= reasons


def test_a_pod_is_told_where_it_goes(call, make):
    sandbox = make(node("n1", cpu=4), pod("lone", cpu=1))
    actions.do_step(local_user(), sandbox.pk, ticks=3)
    tick(sandbox, 3)
    (found,) = told(call, sandbox, "fieldSelector=reason=Scheduled")
    assert found["message"] == "Successfully assigned default/lone to n1"


def test_a_wait_is_said_only_where_its_beginning_is_known(call, busy, monkeypatch):
    tick(busy, 8)
    full = {one["metadata"]["name"]: one["message"] for one in told(call, busy)}
    for most in range(1, 30):
        monkeypatch.setattr(events, "MOST_EVENTS", most)
        for one in told(call, busy, "fieldSelector=reason=QuotaReserved"):
            name, message = one["metadata"]["name"], one["message"]
            without = re.sub(r", wait time[^;]*", "", full[name])
            assert message in (full[name], without)


def web(call, make):
    """Return a sandbox in which a Deployment of two pods runs."""
    labels = {"app": "web"}
    pods = {"metadata": {"labels": labels}, "spec": pod("x", cpu=1)["spec"]}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": pods},
    }
    sandbox = make(node("n1", cpu=4), deployment)
    actions.do_step(local_user(), sandbox.pk, ticks=3)
    tick(sandbox, 3)
    return sandbox


def test_pods_of_a_replica_set_that_is_deleted_come_anew(call, make):
    sandbox = web(call, make)
    path = "/apis/apps/v1/namespaces/default/replicasets"
    (found,) = call("get", sandbox, path).json()["items"]
    before = uids(call, sandbox)
    answer = call("delete", sandbox, f"{path}/{found['metadata']['name']}").json()
    assert answer["status"] == "Success"
    actions.do_step(local_user(), sandbox.pk, ticks=3)
    tick(sandbox, 3)
    after = uids(call, sandbox)
    assert (len(after), after & before) == (2, set())


def uids(call, sandbox) -> set[str]:
    pods = call("get", sandbox, "/api/v1/pods").json()["items"]
    return {one["metadata"]["uid"] for one in pods}


def test_a_deployment_is_told_of_the_replica_set_that_it_scales(call, make):
    sandbox = web(call, make)
    (found,) = told(call, sandbox, "fieldSelector=reason=ScalingReplicaSet")
    sets = call("get", sandbox, "/apis/apps/v1/replicasets").json()["items"]
    name, uid = (sets[0]["metadata"][field] for field in ("name", "uid"))
    assert found["message"] == f"Scaled up replica set {name} from 0 to 2"
    made = told(call, sandbox, f"fieldSelector=involvedObject.uid={uid}")
    assert [one["reason"] for one in made] == ["SuccessfulCreate"] * 2


def test_a_deployment_tells_that_it_is_scaled_in_and_which_pod_goes(call, make):
    sandbox = web(call, make)
    path = "/apis/apps/v1/namespaces/default/deployments/web"
    before = names_of(call, sandbox)
    call("patch", sandbox, path, {"spec": {"replicas": 1}})
    actions.do_step(local_user(), sandbox.pk, ticks=3)
    tick(sandbox, 3)
    [name] = before - names_of(call, sandbox)
    _, scaled = told(call, sandbox, "fieldSelector=reason=ScalingReplicaSet")
    assert scaled["message"].endswith("from 2 to 1")
    [one] = told(call, sandbox, "fieldSelector=reason=SuccessfulDelete")
    assert one["message"] == f"Deleted pod: {name}"


def test_a_pod_that_is_made_anew_is_no_step_of_its_deployment(call, make):
    sandbox = web(call, make)
    [name, _] = sorted(names_of(call, sandbox))
    call("delete", sandbox, f"/api/v1/namespaces/default/pods/{name}")
    actions.do_step(local_user(), sandbox.pk, ticks=3)
    tick(sandbox, 3)
    scaled = told(call, sandbox, "fieldSelector=reason=ScalingReplicaSet")
    assert [one["message"][-11:] for one in scaled] == ["from 0 to 2"]


def test_a_pod_keeps_its_name_while_its_deployment_rolls(call, make):
    sandbox = web(call, make)
    before = names_of(call, sandbox)
    path = "/apis/apps/v1/namespaces/default/deployments/web"
    nowhere = {"spec": {"nodeSelector": {"kubernetes.io/hostname": "none"}}}
    call("patch", sandbox, path, {"spec": {"template": nowhere}})
    actions.do_step(local_user(), sandbox.pk, ticks=3)
    tick(sandbox, 3)
    after = names_of(call, sandbox)
    assert (before <= after, len(after)) == (True, 3)


def names_of(call, sandbox) -> set[str]:
    pods = call("get", sandbox, "/api/v1/pods").json()["items"]
    return {one["metadata"]["name"] for one in pods}


def test_a_stateful_set_that_waits_has_made_its_first_pod(call, make):
    pods = {"metadata": {"labels": {"app": "db"}}, "spec": pod("x", cpu=2)["spec"]}
    chosen = {"matchLabels": {"app": "db"}}
    db = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db", "namespace": "default", "labels": QUEUED},
        "spec": {"replicas": 2, "selector": chosen, "template": pods},
    }
    queues = [
        cluster_queue("team", cpu=1, flavor="f"),
        local_queue("main", cluster_queue="team"),
    ]
    sandbox = make(node("n1", cpu=4), flavor("f"), *queues, db)
    actions.do_step(local_user(), sandbox.pk, ticks=2)
    tick(sandbox, 2)
    (one,) = told(call, sandbox, "fieldSelector=reason=SuccessfulCreate")
    assert one["message"] == "Create Pod db-0 in StatefulSet db successful"


def _of_template(number: int) -> dict:
    return {"template": {"metadata": {"annotations": {"revision": str(number)}}}}


_AT_ONCE = {"podManagementPolicy": "Parallel"}
_FROM_2 = {"updateStrategy": {"rollingUpdate": {"partition": 2}}}
_RECREATE = {"strategy": {"type": "Recreate", "rollingUpdate": None}}


@pytest.mark.parametrize(
    ("kind", "given", "edits"),
    [
        ("StatefulSet", {}, [{"replicas": 0}, {"replicas": 2}]),
        ("StatefulSet", _AT_ONCE, [{"replicas": 0}, {"replicas": 4}]),
        ("StatefulSet", {}, [_of_template(2), _FROM_2, _of_template(3)]),
        ("StatefulSet", _FROM_2, [_of_template(2), {"replicas": 0}]),
        ("Deployment", {}, [{"replicas": 1}, {"replicas": 2}]),
        ("Deployment", {}, [_of_template(2), {"replicas": 1}, _of_template(1)]),
        ("Deployment", {}, [_of_template(2), _RECREATE, _of_template(3)]),
    ],
)
def test_what_is_told_of_an_instant_is_not_changed_by_later_edits(
    call, make, kind, given, edits
):
    pods = {"metadata": {"labels": {"app": "web"}}, "spec": pod("x", cpu=1)["spec"]}
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": pods}
    queues = [
        cluster_queue("team", cpu=8, flavor="f"),
        local_queue("main", cluster_queue="team"),
    ]
    made = {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "web", "namespace": "default", "labels": QUEUED},
        "spec": {"replicas": 3, **spec, **given},
    }
    sandbox = make(node("n1", cpu=8), flavor("f"), *queues, made)
    path = f"/apis/apps/v1/namespaces/default/{kind.lower()}s/web"
    before: Counter[tuple[str, str, str]] = Counter()
    for edit in [{}, *edits]:
        if edit:
            answer = call("patch", sandbox, path, {"spec": edit})
            assert answer.status_code == 200, answer.json()["message"]
        actions.do_step(local_user(), sandbox.pk, ticks=20)
        tick(sandbox, 20)
        now = Counter(
            (one["reason"], one["message"], one["metadata"]["creationTimestamp"])
            for one in told(call, sandbox)
        )
        assert before - now == Counter()
        before = now


def test_an_event_keeps_its_name_whoever_asks(call, busy):
    tick(busy, 8)
    every = {one["metadata"]["name"] for one in told(call, busy)}
    listed = call("get", busy, "/api/v1/events").json()["items"]
    assert every == {one["metadata"]["name"] for one in listed}
    assert len(every) == len(listed)


def test_a_reservation_tells_of_the_flavors_that_were_passed_over(call, make):
    small, large = cluster_queue("team", cpu=1, flavor="small"), flavor("large")
    (group,) = small["spec"]["resourceGroups"]
    resources = [{"name": "cpu", "nominalQuota": "4"}]
    group["flavors"].append({"name": "large", "resources": resources})
    queue = local_queue("main", cluster_queue="team")
    jobs = job("a", queue="main", cpu=2)
    sandbox = make(node("n1", cpu=4), flavor("small"), large, small, queue, jobs)
    actions.do_step(local_user(), sandbox.pk, ticks=2)
    tick(sandbox, 2)
    (one,) = told(call, sandbox, "fieldSelector=reason=QuotaReserved")
    why = "insufficient quota for cpu in flavor small, previously considered podsets"
    told_of = one["message"].partition("; Flavors considered: ")[2]
    assert told_of.startswith(f"main: small(NoFit;{why}")


def test_an_edited_job_that_waits_has_its_workload_updated(call, make):
    sandbox = make(
        flavor("f"),
        cluster_queue("team", cpu=1, flavor="f"),
        local_queue("main", cluster_queue="team"),
        job("a", queue="main", cpu=2, completions=4),
    )
    actions.do_step(local_user(), sandbox.pk, ticks=2)
    tick(sandbox, 2)
    path = "/apis/batch/v1/namespaces/default/jobs/a"
    call("patch", sandbox, path, {"spec": {"parallelism": 2}})
    actions.do_step(local_user(), sandbox.pk, ticks=2)
    tick(sandbox, 2)
    (one,) = told(call, sandbox, "fieldSelector=reason=UpdatedWorkload")
    assert one["message"].startswith("Updated not matching Workload for suspended job")


def test_a_preemption_is_told_of_both_and_of_the_job_that_stops(call, make):
    sandbox = make(
        node("n1", cpu=4),
        flavor("f"),
        cluster_queue("team", cpu=2, flavor="f", within="LowerPriority"),
        local_queue("main", cluster_queue="team"),
        workload_priority("high", 10),
        job("low", queue="main", cpu=2, runtime="10m"),
        job("urgent", queue="main", cpu=2, priority_class="high", arrival="3s"),
    )
    actions.do_step(local_user(), sandbox.pk, ticks=6)
    tick(sandbox, 6)
    said = {
        one["reason"]: (one["involvedObject"]["name"], one["message"])
        for one in told(call, sandbox)
    }
    ranks = "preemptor effective priority: 10 (base: 10, boost: 0)"
    assert ranks in said["Preempted"][1]
    assert said["PreemptedWorkload"][1].startswith("Preempted workload default/job-low")
    assert said["EvictedDueToPreempted"][1] == said["Stopped"][1]
    assert said["Stopped"][0] == "low"
    (pod_,) = call("get", sandbox, "/api/v1/pods").json()["items"]
    assert said["SuccessfulDelete"][1].startswith("Deleted pod: low-")
    assert pod_["metadata"]["name"] not in said["SuccessfulDelete"][1]
