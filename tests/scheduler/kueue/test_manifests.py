"""Documents that Kueue's webhooks would refuse are refused, by line and field."""

from __future__ import annotations

import pytest
import yaml

from scheduler.input.manifests.documents import read_documents
from scheduler.input.manifests.generator import generate, is_generator
from scheduler.input.manifests.kueue import CHECKS
from scheduler.input.manifests.load import load
from scheduler.input.manifests.simulation_gaps.unsimulated import unsimulated
from scheduler.input.manifests.versions import as_written, to_older, to_served
from scheduler.model.errors import ManifestError, PolicyError
from scheduler.model.kueue.check_answers import check_reclaimable
from scheduler.model.kueue.configuration import read_configuration
from scheduler.model.objects import Key, Object

QUEUE = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: q}
spec:
  cohortName: lab
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - name: f
      resources:
      - {name: cpu, nominalQuota: 9}
      - {name: memory, nominalQuota: 36Gi}
"""
WORKLOAD = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: w}
spec:
  queueName: q
  podSets:
  - name: main
    count: 3
    template:
      spec:
        containers:
        - {name: c, image: i, resources: {requests: {cpu: 1}}}
"""


def check(text: str) -> dict:
    (document,) = read_documents(text, file="in.yaml")
    return CHECKS[document.kind](document)


def problem(text: str, old: str, new: str) -> str:
    assert old in text
    with pytest.raises(ManifestError) as caught:
        check(text.replace(old, new))
    return str(caught.value)


def test_a_cluster_queue_gets_its_defaults_written_out():
    spec = check(QUEUE)["spec"]
    assert spec["queueingStrategy"] == "BestEffortFIFO"
    assert spec["stopPolicy"] == "None"
    assert spec["preemption"]["reclaimWithinCohort"] == "Never"
    assert spec["flavorFungibility"] == {
        "whenCanBorrow": "MayStopSearch",
        "whenCanPreempt": "TryNextFlavor",
    }


@pytest.mark.parametrize(
    ("old", "new", "line", "field", "words"),
    [
        pytest.param(
            "nominalQuota: 9}",
            "nominalQuota: nine}",
            13,
            "resources[0].nominalQuota",
            "'nine'",
            id="a quota that is no quantity",
        ),
        pytest.param(
            "nominalQuota: 9}",
            "nominalQuota: -1}",
            13,
            "nominalQuota",
            "negative",
            id="a negative quota",
        ),
        pytest.param(
            "{name: cpu, nominalQuota: 9}",
            "{name: cpu}",
            13,
            "nominalQuota",
            "expected a quantity",
            id="a quota that is missing",
        ),
        pytest.param(
            "nominalQuota: 9}",
            "nominalQuota: 9, lendingLimit: 10}",
            13,
            "lendingLimit",
            "no more than the nominal quota 9",
            id="lending more than there is",
        ),
        pytest.param(
            "[cpu, memory]",
            "[memory, cpu]",
            12,
            "flavors[0].resources",
            "in their order",
            id="resources in another order than covered",
        ),
        pytest.param(
            "[cpu, memory]",
            "[cpu, cpu]",
            9,
            "coveredResources[1]",
            "covered already",
            id="a resource covered twice",
        ),
        pytest.param(
            "cohortName: lab",
            "cohortNam: lab",
            6,
            "spec.cohortNam",
            "did you mean cohortName?",
            id="a field that does not exist",
        ),
        pytest.param(
            "cohortName: lab",
            "queueingStrategy: FIFO",
            6,
            "queueingStrategy",
            "BestEffortFIFO, StrictFIFO",
            id="an unknown queueing strategy",
        ),
        pytest.param(
            "cohortName: lab",
            "preemption: {borrowWithinCohort: {policy: LowerPriority}}",
            6,
            "borrowWithinCohort.policy",
            "reclaimWithinCohort is Never",
            id="borrowing by preemption without reclaiming",
        ),
        pytest.param(
            "cohortName: lab",
            "flavorFungibility: {preference: PreemptionOverBorrowing}",
            6,
            "preference",
            "both TryNextFlavor",
            id="a preference that never applies",
        ),
        pytest.param(
            "cohortName: lab",
            "fairSharing: {weight: 1n}",
            6,
            "weight",
            "got '1n'",
            id="a weight that is next to nothing",
        ),
        pytest.param(
            "namespaceSelector: {}",
            "namespaceSelector: {matchExpressions: [{key: a, operator: In}]}",
            7,
            "values",
            "expected values",
            id="a selector without values",
        ),
    ],
)
def test_a_cluster_queue_is_refused(old, new, line, field, words):
    reported = problem(QUEUE, old, new)
    assert f"in.yaml:{line}: " in reported
    assert field in reported
    assert words in reported


def test_limits_need_somebody_to_borrow_from():
    reported = problem(
        QUEUE.replace("  cohortName: lab\n", ""),
        "nominalQuota: 9}",
        "nominalQuota: 9, borrowingLimit: 1}",
    )
    assert "expected no limit without spec.cohortName" in reported


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        pytest.param("cpu: 1", "pods: 1", "counts pods by itself", id="asks for pods"),
        pytest.param("count: 3", "count: -1", "at least 0", id="a negative count"),
        pytest.param(
            "count: 3", "minCount: 4", "at most the count", id="too large a minimum"
        ),
        pytest.param("cpu: 1", "cpu: one", "'one'", id="a request that is no quantity"),
        pytest.param("queueName: q", "queue: q", "unknown field", id="unknown field"),
        pytest.param(
            "queueName: q", "active: maybe", "true or false", id="active is no flag"
        ),
    ],
)
def test_a_workload_is_refused(old, new, words):
    assert words in problem(WORKLOAD, old, new)


def test_a_podset_whose_name_and_count_are_null_has_those_of_the_schema():
    text = WORKLOAD.replace("count: 3", "count: null").replace("name: main", "name: ~")
    (podset,) = check(text)["spec"]["podSets"]
    assert (podset["name"], podset["count"]) == ("main", 1)


def test_reclaimable_pods_name_podsets_that_exist():
    status = "status: {reclaimablePods: [{name: side, count: 1}]}\n"
    with pytest.raises(ManifestError, match="expected one of main, got 'side'"):
        check(WORKLOAD + status)


def test_v1beta1_is_read_as_v1beta2():
    text = QUEUE.replace("v1beta2", "v1beta1").replace("cohortName", "cohort")
    text += "  flavorFungibility: {whenCanBorrow: Borrow, whenCanPreempt: Preempt}\n"
    text += "  admissionChecks: [a]\n"
    spec = check(text)["spec"]
    assert spec["cohortName"] == "lab"
    assert spec["flavorFungibility"]["whenCanBorrow"] == "MayStopSearch"
    assert spec["flavorFungibility"]["whenCanPreempt"] == "MayStopSearch"
    assert spec["admissionChecksStrategy"] == {"admissionChecks": [{"name": "a"}]}


def test_the_priority_class_of_v1beta1_becomes_a_reference():
    text = WORKLOAD.replace("v1beta2", "v1beta1")
    text += "  priorityClassSource: scheduling.k8s.io/priorityclass\n"
    text += "  priorityClassName: high\n"
    assert check(text)["spec"]["priorityClassRef"] == {
        "group": "scheduling.k8s.io",
        "kind": "PriorityClass",
        "name": "high",
    }


@pytest.mark.parametrize(
    ("reference", "spec"),
    [
        ("x", {}),
        ({"kind": "PriorityClass"}, {}),
        ({"name": "high"}, {"priorityClassName": "high"}),
    ],
)
def test_a_reference_that_an_older_import_took_is_written_in_v1beta1(reference, spec):
    kept = {"kind": "Workload", "spec": {"priorityClassRef": reference}}
    assert to_older(kept)["spec"] == spec


def test_words_for_stopping_that_are_no_texts_stay_for_the_check():
    wrong = {"whenCanBorrow": []}
    served = to_served(older("ClusterQueue", flavorFungibility=wrong))
    assert served["spec"]["flavorFungibility"] == wrong


def test_a_choice_that_may_be_empty_is_said_by_its_others():
    text = WORKLOAD.replace("v1beta2", "v1beta1") + "  priorityClassSource: other\n"
    with pytest.raises(ManifestError, match="priorityclass, got 'other'"):
        check(text)


def older(kind: str, **spec: object) -> dict:
    version = "kueue.x-k8s.io/v1beta1"
    return {"apiVersion": version, "kind": kind, "metadata": {}, "spec": spec}


def test_a_field_that_moved_is_read_from_its_old_place_and_written_there():
    given = older("MultiKueueCluster", kubeConfig={"location": "a"})
    served = to_served(given)
    assert served["spec"] == {"clusterSource": {"kubeConfig": {"location": "a"}}}
    assert to_older(served)["spec"] == given["spec"]


def test_a_field_that_the_newest_version_does_not_have_is_dropped():
    given = older("AdmissionCheck", controllerName="c", retryDelayMinutes=3)
    assert to_served(given)["spec"] == {"controllerName": "c"}


def test_an_older_text_is_held_to_its_own_version_by_its_own_lines():
    older_queue = QUEUE.replace("v1beta2", "v1beta1")
    text = older_queue.replace("cohortName", "cohort")
    assert "in.yaml:6: spec.cohort: expected a text" in problem(text, "lab", "[lab]")
    assert "did you mean cohort?" in problem(older_queue, "lab", "lab")


def test_the_parent_of_a_cohort_is_written_as_its_text_has_it():
    served = {"kind": "Cohort", "spec": {"parentName": "p"}}
    assert as_written(served, older("Cohort", parentName="o"))["spec"] == {
        "parentName": "p"
    }
    assert as_written(served, older("Cohort", parent="o"))["spec"] == {"parent": "p"}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("cohortName: lab", "cohortName: [lab]", "cohortName: expected a text, got ["),
        (
            "spec:",
            "specs: {}\nspec:",
            "unknown field; known: apiVersion, kind, metadata",
        ),
        ("cohortName: lab", "stopPolicy: Held", "one of None, Hold, HoldAndDrain, got"),
        (
            "cohortName: lab",
            "admissionScope: {admissionMode: Some}",
            "one of UsageBasedAdmissionFairSharing, NoAdmissionFairSharing, got 'Some'",
        ),
        (
            "cohortName: lab",
            "preemption: {borrowWithinCohort: {maxPriorityThreshold: 4294967296}}",
            "expected a 32 bit number, got 4294967296",
        ),
        ("[cpu, memory]", "[]", "expected 1 to 64 coveredResources, got 0"),
        (
            "namespaceSelector: {}",
            "namespaceSelector: {matchLabels: {a: 1}}",
            "in quotes",
        ),
    ],
)
def test_what_a_field_must_be_is_that_of_its_schema(old, new, words):
    assert words in problem(QUEUE, old, new)


def test_fair_sharing_is_on_by_presence_and_in_v1beta1_by_enable():
    old = {"apiVersion": "config.kueue.x-k8s.io/v1beta1", "fairSharing": {}}
    assert not read_configuration(old).fair
    assert read_configuration({**old, "fairSharing": {"enable": True}}).fair
    assert read_configuration({"fairSharing": {}}).fair


def test_what_is_not_simulated_is_listed():
    document = {
        "integrations": {"frameworks": ["batch/job"], "labelKeysToCopy": ["team"]},
        "resources": {"deviceClassMappings": []},
        "fairSharing": {},
    }
    settings = read_configuration(document)
    assert settings.kept == ("resources.deviceClassMappings",)
    assert settings.copied_labels == ("team",)


def test_fields_inside_of_a_section_that_are_not_simulated_are_listed():
    settings = read_configuration(
        {
            "fairSharing": {"preemptionStrategies": [], "decay": 2},
            "waitForPodsReady": {
                "timeout": "5m",
                "maxUnavailable": 1,
                "requeuingStrategy": {"backoffLimitCount": 1, "jitter": "1s"},
            },
        }
    )
    assert settings.kept == (
        "fairSharing.decay",
        "waitForPodsReady.maxUnavailable",
        "waitForPodsReady.requeuingStrategy.jitter",
    )


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"fairSharin": {}}, "kueue.fairSharin"),
        ({"apiVersion": "v1"}, "kueue.apiVersion"),
        (
            {"resources": {"transformations": [{"input": "a", "strategy": "Drop"}]}},
            "kueue.resources.transformations[0].strategy",
        ),
        (
            {"resources": {"transformations": [{"input": "a"}, {"input": "a"}]}},
            "kueue.resources.transformations[1].input",
        ),
        (
            {"resources": {"transformations": [{"input": "a", "outputs": {"b": "x"}}]}},
            "kueue.resources.transformations[0].outputs.b",
        ),
        ({"resources": {"quotaCheckStrategy": "No"}}, "resources.quotaCheckStrategy"),
        ({"waitForPodsReady": {"timeout": "soon"}}, "waitForPodsReady.timeout"),
        (
            {"fairSharing": {"preemptionStrategies": ["Most"]}},
            "preemptionStrategies[0]",
        ),
        (
            {
                "fairSharing": {
                    "preemptionStrategies": [
                        "LessThanInitialShare",
                        "LessThanOrEqualToFinalShare",
                    ]
                }
            },
            "preemptionStrategies",
        ),
    ],
)
def test_a_configuration_is_refused_by_path(document, words):
    with pytest.raises(PolicyError) as caught:
        read_configuration(document)
    assert words in str(caught.value)


GENERATOR = {
    "cohorts": [
        {
            "className": "c",
            "count": 2,
            "queuesSets": [
                {
                    "className": "q",
                    "count": 3,
                    "nominalQuota": 20,
                    "borrowingLimit": 100,
                    "reclaimWithinCohort": "Any",
                    "workloadsSets": [
                        {
                            "count": 4,
                            "creationIntervalMs": 100,
                            "workloads": [
                                {
                                    "className": "small",
                                    "runtimeMs": 200,
                                    "priority": 50,
                                    "request": 1,
                                }
                            ],
                        }
                    ],
                }
            ],
        }
    ]
}


def test_a_generator_file_stands_for_queues_and_arrivals():
    (document,) = read_documents(yaml.safe_dump(GENERATOR))
    assert is_generator(document.data)
    objects = list(generate(document))
    kinds = [obj.key.kind for obj in objects]
    assert kinds.count("ClusterQueue") == 6
    assert kinds.count("Workload") == 24
    arrivals = {
        obj.annotations["quotalab.dev/arrival"]
        for obj in objects
        if obj.key.kind == "Workload"
    }
    assert arrivals == {"100ms", "200ms", "300ms", "400ms"}


def test_fields_that_decide_nothing_are_named():
    manifest = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {}}
    manifest["spec"] = {"replicas": 3}
    assert [path for path, *_ in unsimulated(manifest)] == ["spec.replicas"]


def test_the_migration_of_a_queue_is_one_of_two():
    text = QUEUE + "  concurrentAdmissionPolicy: {migration: {mode: Best}}\n"
    with pytest.raises(ManifestError, match="TryPreferredFlavors"):
        check(text)


def reserving(count: int) -> Object:
    manifest = check(WORKLOAD)
    return Object(
        key=Key("Workload", "default", "w"),
        manifest=manifest,
        status={
            "conditions": [{"type": "QuotaReserved", "status": "True"}],
            "reclaimablePods": [{"name": "main", "count": count}],
        },
    )


@pytest.mark.parametrize(("held", "count"), [(True, 2), (False, 0)])
def test_pods_given_back_may_become_fewer_only_where_no_quota_is_held(held, count):
    work = reserving(1)
    if not held:
        del work.status["conditions"]
    check_reclaimable(work, [{"name": "main", "count": count}])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([{"name": "main", "count": 0}], "no less than the 1"),
        ([], "expected podset main to stay"),
        ([{"name": "main", "count": 4}], "expected 0 to 3"),
        ([{"name": "side", "count": 1}], "expected one of main"),
        ([{"name": "main", "count": "2"}], "whole number"),
    ],
)
def test_reclaimable_pods_are_refused(given, words):
    with pytest.raises(ManifestError, match=words):
        check_reclaimable(reserving(1), given)


def test_a_generator_file_loads_as_it_is():
    loaded = load([("generator.yaml", yaml.safe_dump(GENERATOR))])
    assert loaded.errors == []
    assert len([o for o in loaded.objects if o.key.kind == "Workload"]) == 24


def test_what_two_generator_files_make_differently_is_named():
    text = yaml.safe_dump(GENERATOR)
    again = text.replace("priority: 50", "priority: 60")
    findings = load([("a.yaml", text), ("b.yaml", again)]).findings
    assert len(findings) == 24
    assert "stands at a.yaml:1: the generator's is left out" in findings[0].problem


def test_a_broken_generator_file_names_the_field():
    broken = yaml.safe_dump(GENERATOR).replace("runtimeMs: 200", "runtimeMs: long")
    (finding,) = load([("generator.yaml", broken)]).errors
    assert "runtimeMs: expected a whole number, got 'long'" in str(finding)


def test_a_configuration_that_is_loaded_names_what_it_does_not_simulate():
    text = (
        "apiVersion: config.kueue.x-k8s.io/v1beta2\n"
        "kind: Configuration\n"
        "multiKueue: {gcInterval: 1m}\n"
    )
    (finding,) = load([("config.yaml", text)]).findings
    assert str(finding) == "config.yaml:3: multiKueue.gcInterval: kept, not simulated"
