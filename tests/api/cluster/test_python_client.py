"""The official Python client, and an informer made of it, against a running server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from kubernetes import client as kube
from kubernetes import watch as kube_watch
from kubernetes.client.exceptions import ApiException

from api.client import Client
from tests.builders import cluster_queue, flavor, local_queue, node
from tests.sandbox.conftest import text_of
from tests.services.default_run import DefaultRun

KUEUE = ("kueue.x-k8s.io", "v1beta2")
TEXT = text_of(
    node("n1", cpu=8),
    flavor("f"),
    cluster_queue("team", cpu=4, flavor="f"),
    local_queue("main", cluster_queue="team"),
)


@pytest.fixture
def ours(shared_run: DefaultRun) -> Iterator[tuple[Client, str, kube.ApiClient]]:
    server = Client(shared_run.url)
    key = server.create(files=[("world.yaml", TEXT)])["id"]
    host = f"{shared_run.url}/api/v1/sandboxes/{key}"
    with kube.ApiClient(kube.Configuration(host=host)) as asked:
        yield server, key, asked
    server.delete(key)


def _container() -> kube.V1Container:
    asked = kube.V1ResourceRequirements(requests={"cpu": "1"})
    return kube.V1Container(name="main", image="busybox", resources=asked)


def _job(name: str) -> kube.V1Job:
    pods = kube.V1PodSpec(restart_policy="Never", containers=[_container()])
    labels = {"kueue.x-k8s.io/queue-name": "main"}
    return kube.V1Job(
        metadata=kube.V1ObjectMeta(name=name, labels=labels),
        spec=kube.V1JobSpec(template=kube.V1PodTemplateSpec(spec=pods)),
    )


def _deployment() -> kube.V1Deployment:
    labels = {"app": "web"}
    template = kube.V1PodTemplateSpec(
        metadata=kube.V1ObjectMeta(labels=labels),
        spec=kube.V1PodSpec(containers=[_container()]),
    )
    return kube.V1Deployment(
        metadata=kube.V1ObjectMeta(name="web"),
        spec=kube.V1DeploymentSpec(
            replicas=1,
            selector=kube.V1LabelSelector(match_labels=labels),
            template=template,
        ),
    )


def test_twenty_calls_of_the_official_client_are_answered(ours):
    server, key, asked = ours
    core, batch = kube.CoreV1Api(asked), kube.BatchV1Api(asked)
    apps, custom = kube.AppsV1Api(asked), kube.CustomObjectsApi(asked)
    assert kube.VersionApi(asked).get_code().major == "1"
    names = {one.name for one in kube.ApisApi(asked).get_api_versions().groups}
    assert {"apps", "batch", KUEUE[0]} <= names
    kinds = {one.name for one in batch.get_api_resources().resources}
    assert {"jobs", "jobs/status", "cronjobs"} <= kinds
    space = kube.V1Namespace(metadata=kube.V1ObjectMeta(name="red"))
    assert core.create_namespace(space).status.phase == "Active"
    assert [one.metadata.name for one in core.list_node().items] == ["n1"]
    assert core.read_node("n1").status.allocatable["cpu"] == "8"
    assert batch.create_namespaced_job("default", _job("train")).spec.suspend
    server.step(key, 3)
    job = batch.read_namespaced_job("train", "default")
    assert (job.spec.suspend, job.status.active) == (False, 1)
    selector = "batch.kubernetes.io/job-name=train"
    pods = core.list_namespaced_pod("default", label_selector=selector).items
    assert [one.status.phase for one in pods] == ["Running"]
    found = custom.list_namespaced_custom_object(*KUEUE, "default", "workloads")
    assert len(found["items"]) == 1
    queue = custom.get_cluster_custom_object(*KUEUE, "clusterqueues", "team")
    assert queue["status"]["admittedWorkloads"] == 1
    hold = {"spec": {"stopPolicy": "Hold"}}
    queue = custom.patch_cluster_custom_object(*KUEUE, "clusterqueues", "team", hold)
    assert queue["spec"]["stopPolicy"] == "Hold"
    apps.create_namespaced_deployment("default", _deployment())
    scale = {"spec": {"replicas": 2}}
    scaled = apps.patch_namespaced_deployment_scale("web", "default", scale)
    assert scaled.spec.replicas == 2
    web = apps.read_namespaced_deployment("web", "default")
    web.spec.template.spec.containers[0].image = "busybox:2"
    assert apps.replace_namespaced_deployment("web", "default", web).spec.replicas == 2
    settings = kube.V1ConfigMap(metadata=kube.V1ObjectMeta(name="a"), data={"x": "1"})
    core.create_namespaced_config_map("red", settings)
    with pytest.raises(ApiException) as refused:
        core.create_namespaced_config_map("red", settings)
    assert (refused.value.status, refused.value.reason) == (409, "Conflict")
    assert core.delete_namespaced_config_map("a", "red").status == "Success"
    assert batch.delete_namespaced_job("train", "default").status is not None
    with pytest.raises(ApiException, match="404"):
        batch.read_namespaced_job("train", "default")


def test_an_informer_lists_and_then_follows_from_that_version(ours):
    _, _, asked = ours
    core = kube.CoreV1Api(asked)

    def write(name: str) -> None:
        metadata = kube.V1ObjectMeta(name=name)
        core.create_namespaced_config_map(
            "default", kube.V1ConfigMap(metadata=metadata)
        )

    write("first")
    listed = core.list_namespaced_config_map("default", limit=500)
    store = {one.metadata.name: one for one in listed.items}
    since = listed.metadata.resource_version
    write("second")
    core.patch_namespaced_config_map("first", "default", {"data": {"x": "1"}})
    core.delete_namespaced_config_map("second", "default")
    write("third")
    seen: list[str] = []
    last = _follow(core, since, store, seen)
    assert set(store) == {"first", "third"}
    assert store["first"].data == {"x": "1"}
    write("fourth")
    _follow(core, last, store, seen)  # from the bookmark on, nothing comes twice
    assert seen == ["MODIFIED first", "ADDED third", "ADDED fourth"]


def _follow(core: Any, since: str, store: dict[str, Any], seen: list[str]) -> str:
    """Follow a watch to its end; return the version to go on from."""
    stream = kube_watch.Watch().stream(
        core.list_namespaced_config_map,
        "default",
        resource_version=since,
        allow_watch_bookmarks=True,
        timeout_seconds=4,
    )
    for event in stream:
        if event["type"] == "BOOKMARK":
            since = event["raw_object"]["metadata"]["resourceVersion"]
            continue
        thing = event["object"]
        since = thing.metadata.resource_version
        seen.append(f"{event['type']} {thing.metadata.name}")
        if event["type"] == "DELETED":
            store.pop(thing.metadata.name, None)
        else:
            store[thing.metadata.name] = thing
    return str(since)
