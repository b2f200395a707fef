"""Findings of an import carry what repairs them."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.assembly import InputError, assemble
from scheduler.engine.tick import simulate
from scheduler.input.manifests.load import load
from scheduler.input.manifests.loading.loaded import Loaded
from scheduler.input.manifests.missing_nodes import nodes_by_quota, nodes_of_pods
from scheduler.input.manifests.repairs import (
    ADDED,
    Repair,
    Repairs,
    amount_meant,
    applied,
)
from tests.builders import assembled, job, node, pod, world_of

QUEUES = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: research}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - name: default
      resources:
      - name: cpu
        nominalQuota: 10
      - name: memory
        nominalQuota: 36Gi
"""
LOCAL = """\
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: main, namespace: team}
spec: {clusterQueue: research}
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  namespace: team
  labels:
    kueue.x-k8s.io/queue-name: main
spec:
  parallelism: 2
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: c
        image: x
        resources:
          requests: {cpu: 1, memory: 1Gi}
"""
Sources = list[tuple[str, str]]


def loaded_of(sources: Sources) -> Loaded:
    try:
        return assemble(sources, skip_errors=True).loaded
    except InputError as error:
        return error.loaded


def found(sources: Sources) -> dict[str, tuple[Repair, ...]]:
    loaded = loaded_of(sources)
    repairs = Repairs(loaded=loaded)
    return {str(one): repairs.of(one) for one in loaded.findings}


def only(sources: Sources) -> tuple[Repair, ...]:
    (repairs,) = found(sources).values()
    return repairs


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("2Gb", "2G"),
        ("4GB", "4G"),
        ("500mb", "500M"),
        ("4gi", "4Gi"),
        ("1 Gi", "1Gi"),
        ("1.5GiB", "1.5Gi"),
        ("7KB", "7k"),
        ("100 m", "100m"),
        ("four", ""),
        ("4 cores", ""),
        ("4Gi", ""),
    ],
)
def test_a_quantity_with_a_wrong_suffix_means_one(given: str, meant: str) -> None:
    assert amount_meant(given) == meant


def test_a_local_queue_that_is_missing_is_added_for_the_only_cluster_queue() -> None:
    (repair,) = only([("q.yaml", QUEUES), ("j.yaml", JOB)])
    assert (repair.file, repair.line) == (ADDED, 0)
    assert "clusterQueue: research" in repair.document
    assert "namespace: team" in repair.document


def test_several_cluster_queues_are_choices_for_a_missing_local_queue() -> None:
    second = QUEUES[QUEUES.index("---") :].replace("research", "other")
    repairs = only([("q.yaml", QUEUES + second), ("j.yaml", JOB)])
    assert [one.said.holes["queue"] for one in repairs] == ["other", "research"]


def test_a_local_queue_that_is_there_and_wrong_is_not_added_as_well() -> None:
    wrong = LOCAL.replace("LocalQueue", "LocalQeue")
    repairs = found([("q.yaml", QUEUES + wrong), ("j.yaml", JOB)]).values()
    assert [one.document for choices in repairs for one in choices] == [""]


@pytest.mark.parametrize(("name", "added"), [("team", ["a: b"]), ("other", [])])
def test_no_namespace_is_added_with_the_name_of_another(name, added) -> None:
    labels = f"{{matchLabels: {{a: b, kubernetes.io/metadata.name: {name}}}}}"
    queue = QUEUES.replace("{}\n", f"{labels}\n", 1)
    repairs = found([("q.yaml", queue + LOCAL), ("j.yaml", JOB)]).values()
    documents = [yaml.safe_load(one.document) for all_ in repairs for one in all_]
    given = [one["metadata"]["labels"] for one in documents]
    assert [yaml.safe_dump(one).strip() for one in given] == added


def test_a_flavor_and_a_priority_class_that_are_missing_are_added() -> None:
    queues = QUEUES[QUEUES.index("---") :] + LOCAL
    label = "kueue.x-k8s.io/queue-name: main"
    job = JOB.replace(label, f"{label}\n    kueue.x-k8s.io/priority-class: high")
    repairs = found([("q.yaml", queues), ("j.yaml", job)])
    documents = [one.document for choices in repairs.values() for one in choices]
    assert any("kind: ResourceFlavor" in one for one in documents)
    assert any("name: high\nvalue: 0" in one for one in documents)


def test_a_key_whose_like_is_of_another_shape_has_no_repair() -> None:
    queue = QUEUES.replace("namespaceSelector: {}", "admissionChecks: [fits]")
    (repairs,) = found([("q.yaml", queue)]).values()
    assert repairs == ()


def test_a_text_that_stands_twice_in_its_line_is_named_with_its_key() -> None:
    job = JOB.replace("{cpu: 1, memory: 1Gi}", "{ephemeral-storage: 2Gb, memory: 2Gb}")
    repairs = found([("q.yaml", QUEUES + LOCAL), ("j.yaml", job)])
    olds = {one.old for choices in repairs.values() for one in choices}
    assert "memory: 2Gb" in olds


FAULTS = (
    ("q.yaml", "36Gi", "36Gb"),
    ("q.yaml", "36Gi", "'36 Gi'"),
    ("q.yaml", "nominalQuota: 10", "nominalQuotas: 10"),
    ("q.yaml", "kind: LocalQueue", "kind: LocalQeue"),
    ("q.yaml", "kind: ResourceFlavor", "kind: ResourceFlavour"),
    ("q.yaml", LOCAL, ""),
    ("j.yaml", "memory: 1Gi", "memory: 1gi"),
    ("j.yaml", "parallelism", "paralelism"),
    ("j.yaml", "batch/v1", "batch/v1beta1"),
    ("j.yaml", "restartPolicy", "restartPolcy"),
    ("j.yaml", "labels:", "labels:\n    kueue.x-k8s.io/priority-class: high"),
)


@given(st.sets(st.sampled_from(FAULTS), min_size=1, max_size=6))
@settings(max_examples=40, deadline=None)
def test_every_repair_of_a_report_removes_its_finding_and_adds_no_error(
    faults: set[tuple[str, str, str]],
) -> None:
    texts = {"q.yaml": QUEUES + LOCAL, "j.yaml": JOB}
    for file, good, bad in faults:
        texts[file] = texts[file].replace(good, bad)
    sources = list(texts.items())
    for _ in range(5):
        repairs = found(sources)
        todo = [
            one for choices in repairs.values() if len(choices) == 1 for one in choices
        ]
        if not todo:
            break
        sources = applied(sources, todo)
        left = found(sources)
        assert not [
            name for name, choices in repairs.items() if choices and name in left
        ]
    assert not loaded_of(sources).errors
    assert not [one for choices in found(sources).values() for one in choices]


def mended(sources: Sources) -> list[tuple[str, str]]:
    """Return the files with the one repair of each finding that has one."""
    choices = found(sources).values()
    return applied(sources, [one[0] for one in choices if len(one) == 1])


def test_a_namespace_that_a_cluster_queue_selects_is_added_with_its_labels() -> None:
    queues = QUEUES.replace("{}", "{matchLabels: {team: a}}", 1) + LOCAL
    (repair,) = only([("q.yaml", queues)])
    assert repair.said.holes["labels"] == "team=a"
    assert found(mended([("q.yaml", queues)])) == {}


def test_a_namespace_that_may_have_several_labels_is_not_guessed() -> None:
    several = "{matchExpressions: [{key: team, operator: In, values: [a, b]}]}"
    assert only([("q.yaml", QUEUES.replace("{}", several, 1) + LOCAL)]) == ()


def test_a_topology_is_added_with_the_levels_that_jobs_ask_for() -> None:
    flavor = (
        "metadata: {name: default}\nspec: {topologyName: racks, nodeLabels: {a: b}}"
    )
    queues = QUEUES.replace("metadata: {name: default}", flavor)
    asks = "metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: rack}}"
    work = JOB.replace("  template:\n", f"  template:\n    {asks}\n", 1)
    sources = [("q.yaml", queues + LOCAL), ("j.yaml", work)]
    assert "levels rack, kubernetes.io/hostname" in only(sources)[0].said.text
    assert found(mended(sources)) == {}


def test_an_admission_check_that_is_missing_is_added() -> None:
    checks = "  admissionChecksStrategy: {admissionChecks: [{name: budget}]}\n"
    sources = [("q.yaml", QUEUES + checks)]
    assert only(sources)[0].said.code == "repair.addCheck"
    assert found(mended(sources)) == {}


def test_the_priority_class_of_a_pod_template_is_added() -> None:
    work = JOB.replace("restartPolicy", "priorityClassName: high\n      restartPolicy")
    sources = [("q.yaml", QUEUES + LOCAL), ("j.yaml", work)]
    assert only(sources)[0].said.text == "Add PriorityClass high with value 0"
    assert found(mended(sources)) == {}


POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: x}}
spec:
  nodeName: {node}
  containers:
  - name: c
    image: i
    resources: {{requests: {{cpu: {cpu}, nvidia.com/gpu: 3}}, limits: {{nvidia.com/gpu: 3}}}}
"""


def test_pods_alone_are_offered_the_nodes_that_they_name() -> None:
    pods = [("a", "n1", 30), ("b", "n1", 3), ("c", "n2", 1)]
    text = "---\n".join(POD.format(name=a, node=n, cpu=c) for a, n, c in pods)
    (repair,) = only([("pods.yaml", text)])
    assert repair.said.text == "Add the 2 nodes, each as large as what runs on it"
    nodes = {
        one["metadata"]["name"]: one["status"]["allocatable"]
        for one in yaml.safe_load_all(repair.document)
    }
    assert nodes["n1"]["cpu"] == "48"
    assert nodes["n1"]["nvidia.com/gpu"] == "8"
    assert nodes["n2"]["cpu"] == "4"
    assert found(mended([("pods.yaml", text)])) == {}


def test_a_repair_adds_as_many_nodes_as_it_says() -> None:
    pods = [POD.format(name=f"p{n}", node=f"n{n}", cpu=1) for n in range(600)]
    loaded = load([("pods.yaml", "---\n".join(pods))])
    count, text = nodes_of_pods(loaded.objects)
    assert count == 600 == text.count("kind: Node\n")


def test_nodes_are_offered_by_the_quota_of_the_flavors() -> None:
    queues = QUEUES.replace("name: cpu", "name: nvidia.com/gpu", 1)
    queues = queues.replace("[cpu,", "[nvidia.com/gpu,").replace("10", "56")
    loaded = loaded_of([("q.yaml", queues)])
    made = [(one.nodes, one.each) for one in nodes_by_quota(loaded.objects)]
    assert made == [(7, 8), (14, 4), (56, 1)]


# ---- pods without any node


def offered_for(*manifests: dict, stack: str) -> tuple[int, list[str]]:
    """Return how many findings say that no node is here, and what is offered."""
    made = assembled(*manifests, stack=stack)
    found = [f for f in made.loaded.findings if f.said.code == "missing.nowhere"]
    repairs = [r for f in found for r in Repairs(loaded=made.loaded).of(f)]
    return len(found), [repair.document for repair in repairs]


@pytest.mark.parametrize("stack", ["kube", "yunikorn"])
def test_pods_without_any_node_are_said_once_with_nodes_that_hold_them_all(stack):
    work = [job(f"j{n}", cpu=40, parallelism=2) for n in range(2)]
    found, [document] = offered_for(*work, pod("p", cpu=1), stack=stack)
    assert (found, document.count("kind: Node")) == (1, 4)  # of 64 cpu
    world = world_of(*work, *yaml.safe_load_all(document), stack=stack)
    simulate(world, until_ms=5_000)
    pods = [world.objects[key] for key in world.keys("Pod")]
    assert [bool(each.spec.get("nodeName")) for each in pods] == [True] * 4


def test_nothing_is_said_where_a_node_is_here():
    assert offered_for(job("j"), node("n"), stack="kube") == (0, [])


def test_a_pod_larger_than_the_usual_machine_gets_one_as_large():
    _, [document] = offered_for(pod("p", cpu=100), stack="kube")
    assert yaml.safe_load(document)["status"]["allocatable"]["cpu"] == "128"
