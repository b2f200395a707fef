"""What a world asks for in vain is reported, and nothing that is simulated is."""

from __future__ import annotations

import pytest
import yaml

from scheduler.manifests.load import load
from scheduler.manifests.report import report_of
from scheduler.manifests.simulation_gaps.unsimulated import unsimulated
from scheduler.scenarios import assemble
from scheduler.unsimulated import features_of

BETWEEN = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {
                "labelSelector": {"matchLabels": {"a": "b"}},
                "topologyKey": "kubernetes.io/hostname",
            }
        ]
    }
}


def lines(stack, *objects, **policy):
    text = yaml.safe_dump_all(objects)
    made = assemble([("w.yaml", text)], policy={"stack": stack, **policy})
    return features_of(made.world)


SET = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet"}
RAY = {"apiVersion": "ray.io/v1alpha1", "kind": "RayCluster"}
JOB = {"apiVersion": "batch/v1", "kind": "Job"}
CONTAINERS = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
CLAIM = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim"}
MATCHES = {
    "name": "gpu",
    "exactly": {
        "deviceClassName": "gpu",
        "selectors": [{"cel": {"expression": 'device.driver.startsWith("x")'}}],
    },
}
UNFOLLOWED = {
    "start together": SET
    | {
        "spec": {
            "startupPolicy": {"startupPolicyOrder": "InOrder"},
            "replicatedJobs": [
                {"name": "r", "template": {"spec": {"template": CONTAINERS}}}
            ],
        }
    },
    "keep their replicas": RAY
    | {
        "spec": {
            "enableInTreeAutoscaling": True,
            "headGroupSpec": {"template": CONTAINERS},
        }
    },
    "runs here as any other": JOB
    | {"spec": {"managedBy": "example.com/x", "template": CONTAINERS}},
    "it accepts all": CLAIM | {"spec": {"devices": {"requests": [MATCHES]}}},
    "wait for no volume": {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "spec": {"volumeClaimTemplates": [{}], "template": CONTAINERS},
    },
    "deadline of a pod": JOB
    | {
        "spec": {
            "template": {"spec": {**CONTAINERS["spec"], "activeDeadlineSeconds": 9}}
        }
    },
}


@pytest.mark.parametrize("said", UNFOLLOWED)
def test_an_import_says_what_a_controller_would_obey_and_nothing_here_does(said):
    manifest = UNFOLLOWED[said] | {"metadata": {"name": "x"}}
    (finding,) = report_of(load([("w.yaml", yaml.safe_dump(manifest))])).findings
    assert said in finding.problem
    assert finding.effect
    assert finding.places[0].line > 1


def test_versions_of_older_clusters_are_read_and_those_of_other_projects_kept():
    texts = {
        "batch/v1beta1": "kind: CronJob\nspec: {schedule: '@daily', jobTemplate: "
        "{spec: {template: {spec: {containers: [{name: c}]}}}}}",
        "kueue.x-k8s.io/v1alpha1": "kind: Cohort\nspec: {parent: root}",
        "kubeflow.org/v1beta2": "kind: TFJob\nspec: {}",
    }
    for version, rest in texts.items():
        text = f"apiVersion: {version}\nmetadata: {{name: x}}\n{rest}\n"
        loaded = load([("w.yaml", text)])
        assert not loaded.errors
        (obj,) = loaded.objects
        if obj.key.kind == "Cohort":
            assert obj.spec == {"parentName": "root"}
        if obj.key.kind == "TFJob.kubeflow.org":
            (finding,) = loaded.findings
            assert "'v1beta2' of TFJob is not read; known: v1" in finding.problem


def pod(**spec):
    container = {"name": "c", "image": "i"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default"},
        "spec": {"containers": [container], **spec},
    }


def node(**spec):
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n"},
        "spec": spec,
        "status": {"allocatable": {"cpu": "4", "pods": "10"}},
    }


WISHES = {
    "nodeAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 1, "preference": {}}
        ]
    }
}


@pytest.mark.parametrize(
    ("stack", "reported"), [("yunikorn", True), ("kube", False), ("kueue", False)]
)
def test_preferred_node_affinity_is_looked_at_but_under_yunikorn(stack, reported):
    found = lines(stack, node(), pod(affinity=WISHES))
    sentence = "preferred node affinity is not looked at under YuniKorn (1)"
    assert (found == [sentence]) == reported


@pytest.mark.parametrize("stack", ["kueue", "yunikorn", "kube"])
def test_affinity_between_pods_is_looked_at_everywhere(stack):
    assert lines(stack, node(), pod(affinity=BETWEEN)) == []


@pytest.mark.parametrize(
    ("stack", "reported"),
    [
        ("kueue", []),
        ("yunikorn", ["devices", "volumes"]),
        ("kube", []),
    ],
)
def test_claims_are_reported_where_they_hold_no_pod_back(stack, reported):
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
    asked = pod(volumes=volumes, resourceClaims=[{"name": "gpu"}])
    found = lines(stack, node(), asked)
    assert [line.partition(" ")[0] for line in found] == reported


def test_gangs_and_elastic_quotas_without_their_plug_in_are_reported():
    quota = {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "ElasticQuota",
        "metadata": {"name": "q", "namespace": "default"},
        "spec": {"min": {"cpu": "1"}},
    }
    grouped = pod(schedulingGroup={"podGroupName": "g"})
    found = lines("kube", node(), quota, grouped)
    assert [line.rpartition(" ")[0].split(": ")[-1] for line in found] == [
        "no profile has GangScheduling",
        "no profile has CapacityScheduling",
    ]


def test_a_volume_that_needs_no_claim_is_not_reported():
    assert lines("kube", node(), pod(volumes=[{"name": "v", "emptyDir": {}}])) == []


def test_a_world_of_kueue_without_nodes_says_so():
    assert lines("kueue", pod()) == [
        "no Node here: pods are placed nowhere and are ready after podStartMs"
    ]


def test_a_configuration_is_reported_where_it_would_decide():
    configuration = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "metrics": {"enableClusterQueueResources": True},
        "multiKueue": {"gcInterval": "1m"},
    }
    found = lines("kueue", node(), kueue=configuration)
    assert found == ["Configuration: multiKueue.gcInterval is not simulated"]


ELASTIC = {"kueue.x-k8s.io/elastic-job": "true"}


@pytest.mark.parametrize(
    ("kind", "annotations", "template", "said"),
    [
        ("Job", {}, {}, []),
        ("JobSet", {}, {}, ["this kind"]),
        ("Job", {"kueue.x-k8s.io/job-min-parallelism": "1"}, {}, ["fewer pods"]),
        ("Job", {}, {"kueue.x-k8s.io/podset-required-topology": "rack"}, ["topology"]),
    ],
)
def test_an_elastic_job_that_keeps_its_size_is_reported(
    kind, annotations, template, said
):
    manifest = {
        "kind": kind,
        "metadata": {"name": "j", "annotations": {**ELASTIC, **annotations}},
        "spec": {"template": {"metadata": {"annotations": template}}},
    }
    notes = [note for _, note in unsimulated(manifest)]
    assert len(notes) == len(said)
    assert all(part in note for part, note in zip(said, notes, strict=True))
