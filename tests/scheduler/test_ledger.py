"""The ledger of releases: each row can be read, and what it concerns is detected."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections import Counter
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from scheduler.analysis.traits import traits_of
from scheduler.cli.plan import main
from scheduler.model.objects import Key, Object
from scheduler.model.policy import read_policy
from scheduler.model.releases import rules
from scheduler.model.releases.release import TITLES
from scheduler.model.releases.rules import RULES, Rule

LEDGER = Path(rules.__file__).parent

_POD = "spec: {{template: {{spec: {{containers: [{{resources: {}}}]}}}}}}"
_IN_POD = "spec: {{template: {{spec: {{containers: [], {}}}}}}}"
_ANNOTATED = (
    "spec: {{template: {{metadata: {{annotations: {{kueue.x-k8s.io/{}: x}}}}, "
    "spec: {{containers: []}}}}}}"
)
_RULE = "{requiredDuringSchedulingIgnoredDuringExecution: [{weight: 1}]}"

#: A trait -> the kind and the manifest of an object that has it.
OF_ONE: dict[str, tuple[str, str]] = {
    "several flavors": (
        "ClusterQueue",
        "spec: {resourceGroups: [{flavors: [{}, {}]}]}",
    ),
    "several resource groups": ("ClusterQueue", "spec: {resourceGroups: [{}, {}]}"),
    "several resources": (
        "ClusterQueue",
        "spec: {resourceGroups: [{coveredResources: [cpu, memory]}]}",
    ),
    "many flavors": (
        "ClusterQueue",
        "spec: {resourceGroups: [{flavors: [" + "{}, " * 17 + "]}]}",
    ),
    "preemption": (
        "ClusterQueue",
        "spec: {preemption: {withinClusterQueue: LowerPriority}}",
    ),
    "cohort preemption": (
        "ClusterQueue",
        "spec: {preemption: {reclaimWithinCohort: Any}}",
    ),
    "newer equal priority": (
        "ClusterQueue",
        "spec: {preemption: {withinClusterQueue: LowerOrNewerEqualPriority}}",
    ),
    "ClusterQueues without a cohort": ("ClusterQueue", "spec: {}"),
    "checks": (
        "ClusterQueue",
        "spec: {admissionChecksStrategy: {admissionChecks: [{name: a}]}}",
    ),
    "two checks": (
        "ClusterQueue",
        "spec: {admissionChecksStrategy: {admissionChecks: [{name: a}, {name: b}]}}",
    ),
    "checks on flavors": (
        "ClusterQueue",
        "spec: {admissionChecksStrategy: {admissionChecks: [{name: a, onFlavors: [f]}]}}",
    ),
    "flavor preference": (
        "ClusterQueue",
        "spec: {flavorFungibility: {preference: PreemptionOverBorrowing}}",
    ),
    "fair weights": ("LocalQueue", "spec: {fairSharing: {weight: 2}}"),
    "zero weights": ("Cohort", "spec: {fairSharing: {weight: '0'}}"),
    "nested cohorts": ("Cohort", "spec: {parentName: root}"),
    "flavors with a topology": ("ResourceFlavor", "spec: {topologyName: t}"),
    "deep topologies": ("Topology", "spec: {levels: [" + "{}, " * 9 + "]}"),
    "extended resources of DeviceClasses": (
        "DeviceClass",
        "spec: {extendedResourceName: example.com/gpu}",
    ),
    "device taints": (
        "ResourceSlice",
        "spec: {devices: [{name: a, taints: [{key: a, effect: NoExecute}]}]}",
    ),
    "in-tree pod groups": ("PodGroup.scheduling.k8s.io", "spec: {}"),
    "namespace quota annotations": (
        "Namespace",
        "metadata: {annotations: {yunikorn.apache.org/namespace.quota: '{}'}}",
    ),
    "node taints": ("Node", "spec: {taints: [{key: a, effect: NoExecute}]}"),
    "cordoned nodes": ("Node", "spec: {unschedulable: true}"),
    "failing nodes": ("Node", "status: {conditions: [{type: Ready, status: Unknown}]}"),
    "host name unlike its node": (
        "Node",
        "metadata: {labels: {kubernetes.io/hostname: other}}",
    ),
    "zero allocatable": ("Node", "status: {allocatable: {cpu: 0}}"),
    "limits without requests": ("Job", _POD.format("{limits: {cpu: 1}}")),
    "zero requests": ("Job", _POD.format("{requests: {cpu: 0m}}")),
    "negative requests": ("Job", _POD.format("{requests: {cpu: '-1'}}")),
    "huge requests": ("Job", _POD.format("{requests: {cpu: 9E}}")),
    "tiny requests": ("Job", _POD.format("{requests: {memory: '1'}}")),
    "decimal memory": ("Job", _POD.format("{requests: {memory: 1.5Gi}}")),
    "node affinity": (
        "Job",
        _IN_POD.format(f"affinity: {{nodeAffinity: {_RULE}}}"),
    ),
    "preferred node affinity": (
        "Job",
        _IN_POD.format(
            f"affinity: {{nodeAffinity: {_RULE.replace('required', 'preferred')}}}"
        ),
    ),
    "pod affinity": ("Job", _IN_POD.format(f"affinity: {{podAffinity: {_RULE}}}")),
    "pod anti-affinity": (
        "Job",
        _IN_POD.format(f"affinity: {{podAntiAffinity: {_RULE}}}"),
    ),
    "topology spread": ("Job", _IN_POD.format("topologySpreadConstraints: [{}]")),
    "sidecars": ("Job", _IN_POD.format("initContainers: [{restartPolicy: Always}]")),
    "sidecars with host ports": (
        "Job",
        _IN_POD.format(
            "initContainers: [{restartPolicy: Always, ports: [{hostPort: 1}]}]"
        ),
    ),
    "pod-level resources": ("Job", _IN_POD.format("resources: {limits: {cpu: 1}}")),
    "gated pods": ("Job", _IN_POD.format("schedulingGates: [{name: a}]")),
    "image volumes": ("Job", _IN_POD.format("volumes: [{image: {}}]")),
    "volumes that bind": (
        "Job",
        _IN_POD.format("volumes: [{persistentVolumeClaim: {}}]"),
    ),
    "pods of other schedulers": ("Job", _IN_POD.format("schedulerName: another")),
    "invalid pod labels": (
        "Job",
        "spec: {template: {metadata: {labels: {a: -}}, spec: {containers: []}}}",
    ),
    "podset groups": ("Job", _ANNOTATED.format("podset-group-name")),
    "slices": ("Job", _ANNOTATED.format("podset-slice-size")),
    "slice layers": (
        "Job",
        _ANNOTATED.format("podset-slice-required-topology-constraints"),
    ),
    "topology requests": ("Job", _ANNOTATED.format("podset-required-topology")),
    "unconstrained topology": (
        "Job",
        _ANNOTATED.format("podset-unconstrained-topology"),
    ),
    "priority boost": ("Job", _ANNOTATED.format("priority-boost")),
    "fast pod groups": ("Job", _ANNOTATED.format("pod-group-fast-admission")),
    "subgroups": (
        "Workload",
        "spec: {podSets: [{topologyRequest: {subGroupIndexLabel: a}, "
        "template: {spec: {containers: []}}}]}",
    ),
    "elastic jobs": ("Job", _IN_POD.format("")),
    "elastic jobs in rounds": (
        "Job",
        "spec: {completions: 3, parallelism: 2, template: {spec: {containers: []}}}",
    ),
    "slices of another namespace": (
        "Workload",
        "spec: {podSets: [{template: {spec: {containers: []}}}]}",
    ),
    "gated jobs": ("Job", _IN_POD.format("")),
    "many podsets": (
        "JobSet",
        "spec: {replicatedJobs: ["
        + "{}, " * 8
        + "{template: {spec: {containers: []}}}]}",
    ),
    "several podsets": (
        "JobSet",
        "spec: {replicatedJobs: [{}, {template: {spec: {containers: []}}}]}",
    ),
    "empty podsets": (
        "StatefulSet",
        "spec: {replicas: 0, template: {spec: {containers: []}}}",
    ),
    "backoff per index": (
        "Job",
        "spec: {backoffLimitPerIndex: 0, template: {spec: {containers: []}}}",
    ),
    "pod replacement policy": (
        "Job",
        "spec: {podReplacementPolicy: Failed, template: {spec: {containers: []}}}",
    ),
    "Jobs without completions": (
        "Job",
        "spec: {completions: 0, template: {spec: {containers: []}}}",
    ),
    "minReadySeconds": (
        "Deployment",
        "spec: {minReadySeconds: 5, template: {spec: {containers: []}}}",
    ),
    "StatefulSet of parallel pods": (
        "StatefulSet",
        "spec: {podManagementPolicy: Parallel, template: {spec: {containers: []}}}",
    ),
    "leader templates": (
        "LeaderWorkerSet",
        "spec: {leaderWorkerTemplate: {leaderTemplate: {spec: {containers: []}}}}",
    ),
    "LeaderWorkerSet with a long name": ("LeaderWorkerSet", _IN_POD.format("")),
    "long names": ("Job", _IN_POD.format("")),
    "owned jobs": ("Job", _IN_POD.format("")),
    "jobs in kube-system": ("Job", _IN_POD.format("")),
    "pod groups": ("Pod", "metadata: {labels: {kueue.x-k8s.io/pod-group-name: g}}"),
    "plain pods": ("Pod", "spec: {containers: []}"),
    "task groups": (
        "Pod",
        "metadata: {annotations: {yunikorn.apache.org/task-groups: '[]'}}",
    ),
    "gangs": ("Pod", "metadata: {labels: {scheduling.x-k8s.io/pod-group: g}}"),
}
#: What the metadata of some of them is.
METADATA: dict[str, dict[str, Any]] = {
    "elastic jobs": {"annotations": {"kueue.x-k8s.io/elastic-job": "true"}},
    "elastic jobs in rounds": {"annotations": {"kueue.x-k8s.io/elastic-job": "true"}},
    "slices of another namespace": {
        "annotations": {"kueue.x-k8s.io/workload-slice-replacement-for": "other/w"}
    },
    "gated jobs": {"annotations": {"kueue.x-k8s.io/admission-gated-by": "a/b"}},
    "LeaderWorkerSet with a long name": {"name": "n" * 40},
    "long names": {"name": "n" * 51},
    "owned jobs": {"ownerReferences": [{"kind": "CronJob"}]},
    "jobs in kube-system": {
        "namespace": "kube-system",
        "labels": {"kueue.x-k8s.io/queue-name": "q"},
    },
}
_FLAVOR = "spec: {topologyName: t}"
_LEVELS = "spec: {levels: [{nodeLabel: rack}, {nodeLabel: kubernetes.io/hostname}]}"
_HOST = "metadata: {{labels: {{rack: {}, kubernetes.io/hostname: {}}}}}"
_PRIORITY = "spec: {{containers: [], priority: {}}}"
#: A trait -> objects that have it together.
OF_SEVERAL: dict[str, list[tuple[str, str, str, str]]] = {
    "several topology flavors": [
        ("ResourceFlavor", "", "a", _FLAVOR),
        ("ResourceFlavor", "", "b", _FLAVOR),
    ],
    "LocalQueues of one name": [
        ("LocalQueue", "one", "q", "spec: {}"),
        ("LocalQueue", "two", "q", "spec: {}"),
    ],
    "host named as its top domain": [
        ("Topology", "", "t", _LEVELS),
        ("Node", "", "n", _HOST.format("n", "n")),
    ],
    "domains with a common prefix": [
        ("Topology", "", "t", _LEVELS),
        ("Node", "", "n1", _HOST.format("rack-1", "n1")),
        ("Node", "", "n2", _HOST.format("rack-10", "n2")),
    ],
    "tolerations spelled in two ways": [
        (
            "ResourceFlavor",
            "",
            "f",
            "spec: {tolerations: [{key: a, value: b, operator: Equal}]}",
        ),
        (
            "Job",
            "default",
            "j",
            "spec: {template: {spec: {containers: [], "
            "tolerations: [{key: a, value: b}]}}}",
        ),
    ],
    "group named as a Workload": [
        ("Workload", "default", "w", "spec: {}"),
        (
            "Pod",
            "default",
            "p",
            "metadata: {labels: {kueue.x-k8s.io/pod-group-name: w}}",
        ),
    ],
    "preemptible pods": [
        ("Pod", "default", "a", _PRIORITY.format(1)),
        ("Pod", "default", "b", _PRIORITY.format(2)),
    ],
}
OF_QUEUES = {
    "stateaware queues": {"properties": {"application.sort.policy": "stateaware"}},
    "fair queues": {"properties": {"application.sort.policy": "fair"}},
    "queue maxima": {"resources": {"max": {"vcore": "1"}}},
    "yunikorn preemption": {"resources": {"guaranteed": {"vcore": "1"}}},
    "quota preemption": {"properties": {"quota.preemption.delay": "1m"}},
    "placement rules": {},
}


def object_of(
    kind: str, namespace: str, name: str, text: str, **metadata: Any
) -> Object:
    manifest = yaml.safe_load(text)
    manifest["metadata"] = (manifest.get("metadata") or {}) | metadata
    return Object(key=Key(kind, namespace, name), manifest=manifest)


# ---- rows


@pytest.mark.parametrize("scheduler", TITLES)
def test_a_row_has_the_fields_of_a_rule_and_no_other(scheduler):
    known = {field.name for field in fields(Rule)} - {"scheduler"}
    for row in yaml.safe_load((LEDGER / f"{scheduler}.yaml").read_text()):
        assert set(row) <= known, row["id"]


def test_the_ledger_has_the_changes_of_the_branches_that_are_taken():
    counts = Counter(rule.scheduler for rule in RULES)
    assert counts["kueue"] >= 250
    assert counts["kubernetes"] >= 50
    assert counts["yunikorn"] >= 40


def test_a_row_that_is_followed_is_not_known_by_its_changelog_alone():
    for rule in RULES:
        assert rule.known != "told" or not rule.followed, rule.id


#: Rows whose test is run with the row turned over: all where QUOTALAB_RULES is "all".
HELD = [rule for rule in RULES if rule.test]
TURNED = HELD if os.environ.get("QUOTALAB_RULES") == "all" else HELD[::12]


def test_each_followed_row_names_the_test_that_holds_it_and_no_other_row_does():
    assert [rule.id for rule in RULES if rule.followed] == [rule.id for rule in HELD]


@pytest.mark.parametrize("rule", TURNED, ids=lambda rule: rule.id)
def test_the_test_of_a_followed_row_fails_when_the_row_is_turned_over(rule):
    words = ["-p", "tests.scheduler.rules_off", "-n0", "-q", "--tb=no", rule.test]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        env=os.environ | {"QUOTALAB_RULE_OFF": rule.id},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1, run.stdout
    assert " failed" in run.stdout


def test_what_a_row_concerns_is_a_kind_or_a_trait_that_is_detected():
    asked = {
        one for rule in RULES for group in rule.concerns for one in group.split("|")
    }
    detected = {*OF_ONE, *OF_SEVERAL, *OF_QUEUES}
    names = {one for one in asked - detected if not one.isalnum()}
    assert names == set()
    assert detected <= asked


# ---- what is detected


@pytest.mark.parametrize("trait", OF_ONE)
def test_an_object_has_its_trait_and_one_without_has_not(trait):
    kind, text = OF_ONE[trait]
    metadata = dict(METADATA.get(trait, {}))
    namespace, name = metadata.pop("namespace", "default"), metadata.pop("name", "n")
    obj = object_of(kind, namespace, name, text, **metadata)
    assert traits_of([obj]).get(trait) == [obj.key]
    blank = "spec: {cohortName: c}" if kind == "ClusterQueue" else "spec: {}"
    queued = {"labels": {"kueue.x-k8s.io/queue-name": "q"}} if kind == "Pod" else {}
    plain = object_of(kind.partition(".")[0], "default", "n", blank, **queued)
    assert trait not in traits_of([plain])


@pytest.mark.parametrize("trait", OF_SEVERAL)
def test_objects_have_a_trait_together_and_not_alone(trait):
    objects = [object_of(*each) for each in OF_SEVERAL[trait]]
    assert trait in traits_of(objects)
    assert all(trait not in traits_of([obj]) for obj in objects)


@pytest.mark.parametrize("trait", OF_QUEUES)
def test_the_queues_of_yunikorn_have_a_trait(trait):
    partition: dict[str, Any] = {
        "name": "default",
        "queues": [{"name": "root"} | OF_QUEUES[trait]],
    }
    if trait == "placement rules":
        partition["placementrules"] = [{"name": "tag", "value": "namespace"}]
    document = {
        "spec": {
            "stack": "yunikorn",
            "yunikorn": {"queues": {"partitions": [partition]}},
        }
    }
    assert trait in traits_of([], read_policy(document).spec)
    assert trait not in traits_of([], read_policy({"spec": {"stack": "yunikorn"}}).spec)


ODD = st.sampled_from([0, "x", True, None, [], [1], [None], {}, {"a": 1}, [{}], [[]]])

WITH_SPECS = [one for one in OF_ONE.values() if yaml.safe_load(one[1]).get("spec")]


@st.composite
def bent(draw: st.DrawFn) -> Object:
    """Draw an object of the examples with one value of its spec of another type."""
    kind, text = draw(st.sampled_from(WITH_SPECS))
    obj = object_of(kind, "default", "n", text)
    part: Any = obj.spec
    while True:
        keys = sorted(part) if isinstance(part, dict) else range(len(part))
        key = draw(st.sampled_from(keys))
        if not isinstance(part[key], dict | list) or not part[key]:
            break
        if draw(st.booleans()):
            break
        part = part[key]
    part[key] = draw(ODD)
    return obj


@given(bent())
def test_a_value_of_an_odd_type_ends_no_detection(obj):
    assert obj.key in traits_of([obj])[obj.key.kind]


# ---- what is said


LEADER = Path(__file__).parents[1] / "cases" / "leader-room.yaml"


def said(*words: str) -> tuple[int, list[str]]:
    out = io.StringIO()
    given = ["--on", str(LEADER), "--horizon", "1m", "--workers", "1", *words]
    return main(given, out), out.getvalue().splitlines()


def test_a_report_does_not_say_that_nothing_differs_where_something_could():
    code, lines = said("--release", "kueue=0.17.0", "--against", "kueue=0.17.4")
    assert (code, lines[1]) == (0, "nothing differs in what is followed")
    [line] = [one for one in lines if "topology-groups-without-places" in one]
    assert line.startswith("could differ, not followed: ")
    assert line.endswith("Concerns Workload default/w")


def test_a_report_names_the_change_that_admits_a_job_and_what_does_nothing():
    _, lines = said("--release", "kueue=0.17.0", "--against", "kueue=0.19.2")
    assert "start only then: 1: Workload/default/w" in lines
    [rule] = [one for one in lines if one.startswith("rule ")]
    assert rule.startswith("rule topology-leader-room: ")
    assert any(one.startswith("followed, and change nothing here: ") for one in lines)


def test_a_pipeline_fails_on_what_it_asks_for():
    could = ("--release", "kueue=0.17.0", "--against", "kueue=0.17.4")
    assert said(*could, "--fail-on", "could")[0] == 1
    assert said(*could, "--fail-on", "differs")[0] == 0
    differs = ("--release", "kueue=0.17.0", "--against", "kueue=0.19.2")
    assert said(*differs, "--fail-on", "differs")[0] == 1
    same = ("--release", "kueue=0.19.2", "--against", "kueue=0.19.2")
    code, lines = said(*same, "--fail-on", "could")
    assert (code, lines[1]) == (0, "nothing differs")
