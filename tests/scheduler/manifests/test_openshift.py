"""OpenShift's `Kueue` object is the Configuration that its operator makes of it."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from scheduler.assembly import Assembled, InputError, assemble
from tests.builders import small_cluster

GROUPS = ("kueue.openshift.io/v1", "operator.openshift.io/v1alpha1")


def taken(api_version: str = GROUPS[0], **config: Any) -> Assembled:
    spec = {"managementState": "Managed", "config": config}
    head = {"apiVersion": api_version, "kind": "Kueue", "metadata": {"name": "cluster"}}
    documents = [{**head, "spec": spec}, *small_cluster()]
    return assemble([("kueue.yaml", yaml.safe_dump_all(documents))])


def settings(**config: Any) -> Any:
    kueue = taken(**config).world.kueue
    assert kueue is not None
    return kueue.settings


@pytest.mark.parametrize("api_version", GROUPS)
def test_its_preemption_policy_decides(api_version):
    kueue = taken(
        api_version, preemption={"preemptionPolicy": "FairSharing"}
    ).world.kueue
    assert kueue.settings.preemption == "FairSharing"
    assert settings(preemption={"preemptionPolicy": "Classical"}).fair is False


@pytest.mark.parametrize(
    ("admission", "block"), [("Sequential", True), ("Parallel", False)]
)
def test_gangs_by_workload_wait_for_their_pods(admission, block):
    policy = {"policy": "ByWorkload", "byWorkload": {"admission": admission}}
    waiting = settings(gangScheduling=policy).waiting
    assert (waiting.block, waiting.timeout_ms) == (block, 1_800_000)


def test_gangs_by_workload_wait_as_long_and_come_again_as_it_says():
    again = {"retryLimit": 3, "backoffBaseSeconds": 30, "timeReference": "Creation"}
    given = {"timeoutSeconds": 60, "recoveryTimeoutSeconds": 90}
    policy = {
        "policy": "ByWorkload",
        "byWorkload": {**given, "requeuingStrategy": again},
    }
    waiting = settings(gangScheduling=policy).waiting
    assert (waiting.timeout_ms, waiting.recovery_ms) == (60_000, 90_000)
    assert (waiting.limit, waiting.base_s, waiting.by_eviction) == (3, 30, False)


def test_without_a_policy_of_gangs_no_pod_is_ever_late():
    waiting = settings(gangScheduling={"policy": "None"}).waiting
    assert waiting.timeout_ms == 365 * 86_400_000


def test_only_the_frameworks_that_it_lists_are_managed():
    found = settings(integrations={"frameworks": ["BatchJob", "RayJob"]})
    assert found.frameworks == ("batch/job", "ray.io/rayjob")


def test_jobs_without_a_queue_are_managed_where_the_label_policy_is_none():
    assert settings(workloadManagement={"labelPolicy": "None"}).unqueued_jobs is True


def test_usage_of_queues_is_weighed_as_it_says():
    custom = {
        "usageHalfLifeTimeSeconds": 60,
        "resourceWeights": [{"name": "cpu", "weight": "0.5"}],
    }
    found = settings(admissionFairSharing={"configuration": "Custom", "custom": custom})
    assert found.usage is not None


def test_the_namespaces_that_the_operator_selects_are_named():
    said = [finding.said.text for finding in taken().loaded.findings]
    assert any("kueue.openshift.io/managed=true" in text for text in said)


def test_what_of_it_is_not_followed_is_named_by_its_field():
    gangs = {"policy": "New", "byWorkload": {"admission": "Parallel", "window": 3}}
    found = taken(multiKueue={"gcInterval": "1m"}, gangScheduling=gangs)
    named = {f.place.field for f in found.loaded.findings if f.level == "unsupported"}
    inner = {"multiKueue", "gangScheduling.policy", "gangScheduling.byWorkload.window"}
    assert named == {f"spec.config.{name}" for name in inner}


def test_a_framework_that_it_does_not_know_is_refused_by_its_place():
    with pytest.raises(
        InputError, match=r"frameworks\[1\].*expected one of AppWrapper"
    ):
        taken(integrations={"frameworks": ["BatchJob", "batch/job"]})
