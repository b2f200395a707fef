"""Pods of Jobs that have ended stay until their Job goes."""

from __future__ import annotations

import asyncio
import copy
import json

import pytest
from django.test import AsyncClient

from sandbox import actions
from sandbox.access.people import local_user
from scheduler.model.objects import Key
from scheduler.model.pod import default_container
from tests.api.cluster.test_controlled import JOBS, PODS, job, queued
from tests.builders import cluster_queue, flavor, local_queue, node
from tests.sandbox.conftest import row, tick

pytestmark = [pytest.mark.django_db]


def timed(made, runtime="3s"):
    annotations = {"quotalab.dev/runtime": runtime}
    metadata = {**made["metadata"], "annotations": annotations}
    return {**made, "metadata": metadata}


@pytest.fixture
def cluster(make):
    """A sandbox of one node with a Job under Kueue, one without, and one of rounds."""
    return make(
        node("n1", cpu=64),
        flavor("f"),
        cluster_queue("team", cpu=8, flavor="f"),
        local_queue("main", cluster_queue="team"),
        timed(queued("train")),
        timed(job("once")),
        timed(job("rounds", parallelism=2, completions=5)),
        timed(job("indexed", completionMode="Indexed", completions=2, parallelism=2)),
    )


def advance(sandbox, ticks):
    actions.do_step(local_user(), sandbox.pk, ticks=ticks)
    tick(sandbox, ticks)


def pods_of(call, sandbox, name):
    path = f"{PODS}?labelSelector=job-name={name}"
    return call("get", sandbox, path).json()["items"]


@pytest.mark.parametrize(
    ("name", "count"), [("train", 2), ("once", 1), ("rounds", 5), ("indexed", 2)]
)
def test_they_stay_with_their_node_and_say_that_they_succeeded(
    call, cluster, name, count
):
    advance(cluster, 60)
    pods = pods_of(call, cluster, name)
    assert len({one["metadata"]["name"] for one in pods}) == count
    for one in pods:
        assert one["status"]["phase"] == "Succeeded"
        assert one["spec"]["nodeName"] == "n1"
        assert one["metadata"]["ownerReferences"][0]["name"] == name
        assert "finalizers" not in one["metadata"]
        state = one["status"]["containerStatuses"][0]["state"]
        assert state["terminated"]["reason"] == "Completed"


@pytest.mark.parametrize("made", [job, queued])
def test_those_that_failed_with_their_job_stay(call, make, made):
    fails = made("fails")
    fails["metadata"]["annotations"] = {"quotalab.dev/fails-after": "3s"}
    fails["spec"]["backoffLimit"] = 1
    sandbox = make(
        node("n1", cpu=64),
        flavor("f"),
        cluster_queue("team", cpu=8, flavor="f"),
        local_queue("main", cluster_queue="team"),
        fails,
    )
    advance(sandbox, 60)
    pods = pods_of(call, sandbox, "fails")
    count = {1: 2, 2: 2}[fails["spec"].get("parallelism", 1)]
    assert [one["status"]["phase"] for one in pods] == ["Failed"] * count
    assert all(one["spec"]["nodeName"] == "n1" for one in pods)


def test_they_are_the_pods_that_ran(call, cluster):
    advance(cluster, 2)
    known = {one["metadata"]["uid"]: one for one in pods_of(call, cluster, "once")}
    advance(cluster, 60)
    for one in pods_of(call, cluster, "once"):
        before = known[one["metadata"]["uid"]]
        assert one["metadata"]["name"] == before["metadata"]["name"]
        path = f"{PODS}/{one['metadata']['name']}"
        assert call("get", cluster, path).json()["status"] == one["status"]


def test_an_indexed_job_has_one_of_each_index(call, cluster):
    advance(cluster, 60)
    label = "batch.kubernetes.io/job-completion-index"
    pods = pods_of(call, cluster, "indexed")
    assert {one["metadata"]["labels"][label] for one in pods} == {"0", "1"}


def test_a_pod_of_an_indexed_job_has_one_index_while_it_runs(call, make):
    spec = {"parallelism": 2, "completions": 5, "completionMode": "Indexed"}
    one_by_one = node("n1", cpu="150m")
    sandbox = make(one_by_one, timed(job("rounds", **spec)))
    label = "batch.kubernetes.io/job-completion-index"
    shown = set()
    for _ in range(10):
        advance(sandbox, 2)
        for one in pods_of(call, sandbox, "rounds"):
            shown.add((one["metadata"]["uid"], one["metadata"]["labels"][label]))
    assert sorted(index for _, index in shown) == ["0", "1", "2", "3", "4"]


NAMED = "kueue.x-k8s.io/prebuilt-workload-name"


@pytest.mark.parametrize("place", ["labels", "annotations"])
def test_pods_of_a_job_that_names_its_workload_are_told_by_that(call, make, place):
    made = timed(queued("train"))
    made["metadata"][place][NAMED] = "w"
    template = copy.deepcopy(made["spec"]["template"])
    for container in template["spec"]["containers"]:
        default_container(container)
    sets = [{"name": "main", "count": 2, "template": template}]
    workload = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": "w", "namespace": "default"},
        "spec": {"queueName": "main", "podSets": sets},
    }
    queues = [
        flavor("f"),
        cluster_queue("team", cpu=8, flavor="f"),
        local_queue("main", cluster_queue="team"),
    ]
    sandbox = make(node("n1", cpu=64), *queues, workload, made)
    advance(sandbox, 60)
    pods = pods_of(call, sandbox, "train")
    assert [one["status"]["phase"] for one in pods] == ["Succeeded"] * 2
    for one in pods:
        assert one["metadata"]["annotations"]["kueue.x-k8s.io/workload"] == "w"


def test_they_go_with_their_job(call, cluster):
    advance(cluster, 60)
    call("delete", cluster, f"{JOBS}/train?propagationPolicy=Background")
    assert pods_of(call, cluster, "train") == []


@pytest.mark.django_db(transaction=True)
async def test_a_watch_shows_that_they_end_and_that_they_go(cluster, person):
    def ran(ticks):
        advance(cluster, ticks)
        return row(cluster).revision

    def delete():
        actions.do_delete(person, cluster.pk, [Key("Job", "default", "once")])

    since = await asyncio.to_thread(ran, 2)
    await asyncio.to_thread(ran, 60)
    path = f"/api/v1/sandboxes/{cluster.pk}{PODS}?watch=1&timeoutSeconds=20"
    picked = f"{path}&labelSelector=job-name%3Donce&resourceVersion={since}"
    answer = await AsyncClient().get(picked)
    lines = answer.streaming_content.__aiter__()
    ended = json.loads(await anext(lines))
    assert (ended["type"], ended["object"]["status"]["phase"]) == (
        "MODIFIED",
        "Succeeded",
    )
    await asyncio.to_thread(delete)
    gone = json.loads(await anext(lines))
    assert gone["type"] == "DELETED"
    assert gone["object"]["metadata"]["name"] == ended["object"]["metadata"]["name"]
    await lines.aclose()
