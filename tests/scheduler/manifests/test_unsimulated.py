"""What a world asks for in vain is reported, and nothing that is simulated is."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
import yaml

from scheduler.analysis.conversion.unsimulated import features_of
from scheduler.assembly import assemble
from scheduler.cli.run import main as run
from scheduler.input.manifests.kinds import TABLE
from scheduler.input.manifests.load import load
from scheduler.input.manifests.report import report_of
from scheduler.input.manifests.simulation_gaps.unfollowed import unfollowed
from scheduler.input.manifests.simulation_gaps.unsimulated import (
    find_gated,
    gated,
    unsimulated,
)
from scheduler.model.kueue.feature_gates import NAMES as FEATURE_GATES
from scheduler.model.kueue.feature_gates import TOPOLOGY_GATES, FeatureGates
from scheduler.model.schemas import types
from scheduler.words.effects import Effect

ROOT = Path(__file__).parents[3]
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
    return [line.text for line in features_of(made.world)]


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
    "it accepts all": CLAIM | {"spec": {"devices": {"requests": [MATCHES]}}},
    "wait for no volume": {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "spec": {
            "leaderWorkerTemplate": {
                "volumeClaimTemplates": [{}],
                "workerTemplate": CONTAINERS,
            }
        },
    },
    "gone are kept": {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "spec": {
            "persistentVolumeClaimRetentionPolicy": {"whenScaled": "Delete"},
            "template": CONTAINERS,
        },
    },
    "as a resource gets no device": {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "spec": {"extendedResourceName": "example.com/gpu"},
    },
    "a disk named in the pod": JOB
    | {
        "spec": {
            "template": {
                "spec": {
                    **CONTAINERS["spec"],
                    "volumes": [{"name": "v", "gcePersistentDisk": {"pdName": "d"}}],
                }
            }
        }
    },
    "executors are not added": {
        "apiVersion": "sparkoperator.k8s.io/v1beta2",
        "kind": "SparkApplication",
        "spec": {
            "sparkConf": {"spark.dynamicAllocation.enabled": "true"},
            "driver": {"cores": 1},
            "executor": {"instances": 1, "cores": 1},
        },
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


BOOSTED = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: x, annotations: {kueue.x-k8s.io/priority-boost: "1"}}
spec: {clusterQueue: a}
"""
GATES = """\
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
featureGates: {PriorityBoost: %s}
"""


def test_a_gate_counts_wherever_it_is_switched():
    world = {"featureGates": {"PriorityBoost": True}}
    for on, count in (("true", 0), ("false", 1)):
        loaded = load([("w.yaml", BOOSTED), ("config.yaml", GATES % on)])
        assert len(loaded.findings) == count
        find_gated(loaded, world)  # what is loaded counts over what is there
        assert len(loaded.findings) == count
    loaded = load([("w.yaml", BOOSTED)])
    assert [found.place.line for found in loaded.findings] == [3]
    find_gated(loaded, world)
    assert loaded.findings == []


def test_a_scheduler_that_would_not_start_is_refused_with_its_place_and_alone():
    text = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {queueSort: {enabled: [{name: QOSSort}]}}
---
apiVersion: v1
kind: Namespace
metadata: {name: n}
"""
    loaded = load([("w.yaml", text)])
    (error,) = loaded.errors
    assert str(error).startswith(
        "w.yaml:4: profiles[0]: expected exactly one queueSort"
    )
    assert [obj.key.name for obj in loaded.objects] == ["n"]
    assert loaded.policy == {}


def test_settings_are_named_by_what_they_change():
    settings = """\
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
health: {}
webhook: {}
featureGates: {TopologyAwareScheduling: true, ReclaimablePods: false}
"""
    found = report_of(load([("config.yaml", settings)])).findings
    assert {one.problem.partition(":")[0]: one.count for one in found} == {
        "kept; a setting of Kueue's own process": 2,
        "featureGates.ReclaimablePods": 1,
    }
    assert all(one.effect for one in found)


def test_what_a_config_map_of_yunikorn_says_beside_its_queues_is_named():
    text = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: yunikorn-defaults, namespace: yunikorn}
data:
  service.placeholderImage: x
  log.level: "-1"
"""
    (finding,) = load([("w.yaml", text)]).findings
    assert (finding.place.line, finding.place.field) == (
        5,
        "data.service.placeholderImage",
    )


def test_an_elastic_job_under_a_gate_that_is_off_is_named():
    off = FeatureGates(elastic_jobs=False)
    manifest = {"kind": "Job", "metadata": {"name": "j", "annotations": ELASTIC}}
    (gap,) = gated(manifest, off)
    assert "ElasticJobsViaWorkloadSlices" in gap.problem.text
    assert gap.effect == Effect.ADMITTED_SIZE


@pytest.mark.parametrize(
    "kind", [k for k in TABLE if k.level == "kept"], ids=lambda k: k.kind
)
def test_every_kind_that_is_only_kept_says_what_that_changes(kind):
    assert kind.note
    assert kind.effect


def test_every_effect_is_said_of_something():
    sources = (ROOT / "scheduler").rglob("*.py")
    said = "".join(one.read_text("utf-8") for one in sources)
    of_fields = {one.unread for fields in types().values() for one in fields.values()}
    named = {one.name for one in Effect if one.value and one.value in of_fields}
    found = named | set(re.findall(r"Effect\.([A-Z_]+)", said))
    assert {one.name for one in Effect} == found


KEPT = {
    "v1 ComponentStatus": "no decision depends on it",
    "autoscaling/v2 HorizontalPodAutoscaler": "from its start to its end",
    "autoscaling/v1 HorizontalPodAutoscaler": "from its start to its end",
    "storage.k8s.io/v1 CSIStorageCapacity": "where no storage is left",
    "storage.k8s.io/v1 VolumeAttachment": "more volumes than it can attach",
    "resource.k8s.io/v1alpha3 DeviceTaintRule": "that nobody should use",
    "scheduling.k8s.io/v1alpha9 Workload": "nothing of it counts",
}


@pytest.mark.parametrize("said", KEPT)
def test_what_the_real_scheduler_or_server_obeys_is_not_said_to_decide_nothing(said):
    version, kind = said.split()
    text = f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: x}}\n"
    loaded = load([("w.yaml", text)])
    assert not loaded.errors
    (finding,) = report_of(loaded).findings
    assert KEPT[said] in finding.effect


SEMANTICS = ROOT / "docs" / "semantics"


def test_the_documents_name_what_an_import_says_is_not_followed():
    text = "".join(path.read_text("utf-8") for path in SEMANTICS.glob("*.md"))
    given = [one | {"metadata": {"name": "x"}} for one in UNFOLLOWED.values()]
    fields = [path for one in given for path, *_ in unfollowed(one)]
    assert len(fields) == len(UNFOLLOWED)
    devices = {"expression": "*CEL.*", "extendedResourceName": "extended resources"}
    for path in fields:
        # A key with dots (spark.dynamicAllocation.enabled) is named by its section.
        name = "sparkConf" if "sparkConf" in path else path.rpartition(".")[2]
        assert devices.get(name, f"`{name}`") in text, name
    for gate in (*FEATURE_GATES, *TOPOLOGY_GATES):
        assert gate in text, gate


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


def test_zones_without_their_plug_in_are_reported():
    topology = {
        "apiVersion": "topology.node.k8s.io/v1alpha2",
        "kind": "NodeResourceTopology",
        "metadata": {"name": "n"},
        "zones": [],
    }
    (found,) = lines("kube", node(), topology)
    assert "no profile has NodeResourceTopologyMatch" in found


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
    notes = [note.text for _, note, _ in unsimulated(manifest)]
    assert len(notes) == len(said)
    assert all(part in note for part, note in zip(said, notes, strict=True))


def test_a_job_set_that_would_restart_after_its_failure_is_told_so():
    spec = {"failurePolicy": {"maxRestarts": 3}}
    named = {"quotalab.dev/fails-after": "60s"}
    for ours, count in ((named, 1), ({}, 0)):
        job_set = {"kind": "JobSet", "metadata": {"annotations": ours}}
        found = [gap.field for gap in unfollowed({**job_set, "spec": spec})]
        assert found == ["spec.failurePolicy"] * count


def test_the_command_names_a_field_that_would_decide_and_is_not_followed(tmp_path):
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "j"},
        "spec": {
            "podReplacementPolicy": "Failed",
            "template": {
                "spec": {
                    "restartPolicy": "Never",
                    "containers": [{"name": "c", "image": "i"}],
                }
            },
        },
    }
    file, out = tmp_path / "job.yaml", io.StringIO()
    file.write_text(yaml.safe_dump(job))
    run([str(file), "--until", "1s"], out)
    [line] = [one for one in out.getvalue().splitlines() if "not followed" in one]
    assert "spec.podReplacementPolicy: Job" in line
    assert "pods are replaced and started at once" in line
