"""Kueue's Configuration: each field and each default."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from scheduler.model.kueue.configuration import read_configuration
from scheduler.model.kueue.multikueue import read_multi_kueue

WHOLE: dict[str, Any] = {
    "apiVersion": "config.kueue.x-k8s.io/v1beta2",
    "kind": "Configuration",
    "metadata": {"name": "any"},
    "fairSharing": {"preemptionStrategies": ["LessThanInitialShare"]},
    "waitForPodsReady": {
        "timeout": "7s",
        "recoveryTimeout": "3s",
        "blockAdmission": True,
        "requeuingStrategy": {
            "timestamp": "Creation",
            "backoffLimitCount": 4,
            "backoffBaseSeconds": 5,
            "backoffMaxSeconds": 6,
            "more": 1,
        },
        "other": 1,
    },
    "integrations": {"labelKeysToCopy": ["team"], "frameworks": ["batch/job"]},
    "manageJobsWithoutQueueName": True,
    "managedJobsNamespaceSelector": {"matchLabels": {"a": "b"}},
    "admissionFairSharing": {
        "usageHalfLifeTime": "90s",
        "usageSamplingInterval": "2m",
        "resourceWeights": {"cpu": 2, "memory": 0},
    },
    "resources": {
        "excludeResourcePrefixes": ["net/"],
        "quotaCheckStrategy": "IgnoreUndeclared",
        "transformations": [
            {
                "input": "gpu",
                "strategy": "Replace",
                "outputs": {"credits": "2500m"},
                "multiplyBy": "cpu",
            },
            {"input": "cpu", "outputs": {"units": 3}},
        ],
    },
    "featureGates": {
        "TASProfileMixed": False,
        "PriorityBoost": True,
        "LendingLimit": True,
        "ReclaimablePods": False,
        "Unheard": True,
    },
    "objectRetentionPolicies": {
        "workloads": {"afterFinished": "1h", "afterDeactivatedByKueue": "2s"}
    },
    "multiKueue": {"gcInterval": "1m", "origin": "here"},
    "metrics": {"bindAddress": ":8080"},
}


def test_every_field_is_read():
    settings = read_configuration(WHOLE)
    waiting, usage = settings.waiting, settings.usage
    assert waiting is not None
    assert usage is not None
    assert (settings.fair, settings.preemption) == (True, "FairSharing")
    assert settings.strategies == ("LessThanInitialShare",)
    assert (waiting.timeout_ms, waiting.recovery_ms) == (7000, 3000)
    assert (waiting.block, waiting.by_eviction) == (True, False)
    assert (waiting.limit, waiting.base_s, waiting.most_s) == (4, 5, 6)
    assert (settings.copied_labels, settings.unqueued_jobs) == (("team",), True)
    assert settings.frameworks == ("batch/job",)
    assert settings.managed_namespaces.matches({"a": "b"})
    assert not settings.managed_namespaces.matches({"a": "c"})
    assert (usage.half_life_s, usage.interval_us) == (90, 120_000_000)
    assert usage.weights == {"cpu": 2.0, "memory": 0.0}
    assert settings.ignores_undeclared
    assert settings.retention is not None
    assert settings.retention.finished_ms == 3_600_000
    assert settings.retention.deactivated_ms == 2000
    assert not settings.topology_gates.profile_mixed
    assert settings.gates.priority_boost


def test_transformations_are_read():
    transform = read_configuration(WHOLE).transform
    assert transform is not None
    assert transform.excluded == ("net/",)
    gpu, cpu = (transform.transformations[name] for name in ("gpu", "cpu"))
    assert (gpu.retain, gpu.multiply_by) == (False, "cpu")
    assert gpu.outputs == {"credits": Fraction(5, 2)}
    assert (cpu.retain, cpu.multiply_by, cpu.outputs) == (True, "", {"units": 3})


def test_what_decides_nothing_is_kept():
    assert read_configuration(WHOLE).kept == (
        "featureGates.ReclaimablePods",
        "featureGates.Unheard",
        "metrics",
        "multiKueue.gcInterval",
        "waitForPodsReady.other",
        "waitForPodsReady.requeuingStrategy.more",
    )


def test_a_recovery_timeout_of_zero_is_off():
    waiting = read_configuration(
        {"waitForPodsReady": {"recoveryTimeout": "0s"}}
    ).waiting
    assert waiting is not None
    assert waiting.recovery_ms is None


def test_an_empty_document_gives_the_defaults():
    settings = read_configuration({})
    assert (settings.fair, settings.preemption) == (False, "Classical")
    assert settings.strategies == (
        "LessThanOrEqualToFinalShare",
        "LessThanInitialShare",
    )
    assert (settings.waiting, settings.usage, settings.retention) == (None, None, None)
    assert (settings.copied_labels, settings.unqueued_jobs) == ((), False)
    assert (settings.transform, settings.ignores_undeclared) == (None, False)
    assert settings.kept == ()
    of_system = {"kubernetes.io/metadata.name": "kueue-system"}
    assert not settings.managed_namespaces.matches(of_system)
    assert settings.managed_namespaces.matches({"kubernetes.io/metadata.name": "a"})


def test_a_section_that_is_empty_gives_its_defaults():
    settings = read_configuration({"waitForPodsReady": {}, "admissionFairSharing": {}})
    waiting, usage = settings.waiting, settings.usage
    assert waiting is not None
    assert usage is not None
    assert (waiting.timeout_ms, waiting.recovery_ms) == (300_000, None)
    assert (waiting.block, waiting.by_eviction) == (False, True)
    assert (waiting.limit, waiting.base_s, waiting.most_s) == (None, 60, 3600)
    assert (usage.half_life_s, usage.interval_us) == (0, 300_000_000)
    assert usage.weights == {}


@pytest.mark.parametrize("enable", [None, False, True])
def test_in_the_older_version_a_section_is_on_when_it_says_so(enable):
    section = {} if enable is None else {"enable": enable}
    given = {"fairSharing": section, "waitForPodsReady": section}
    old = read_configuration({"apiVersion": "config.kueue.x-k8s.io/v1beta1", **given})
    assert (old.fair, old.waiting is not None) == (bool(enable), bool(enable))
    new = read_configuration(given)
    assert (new.fair, new.waiting is not None) == (True, True)


def test_workers_are_asked_as_the_section_says():
    usual = read_multi_kueue({})
    assert usual.dispatcher == "kueue.x-k8s.io/multikueue-dispatcher-all-at-once"
    assert (usual.step, usual.origin, usual.lost_ms) == (3, "multikueue", 900_000)
    given = read_multi_kueue(
        {
            "dispatcherName": "mine",
            "incrementalDispatcherConfig": {"stepSize": 1},
            "origin": "here",
            "workerLostTimeout": "4s",
        }
    )
    assert (given.dispatcher, given.step) == ("mine", 1)
    assert (given.origin, given.lost_ms) == ("here", 4000)


@pytest.mark.parametrize("name", ["backoffBaseSeconds", "backoffMaxSeconds"])
def test_a_backoff_of_nothing_is_nothing(name):
    section = {"requeuingStrategy": {name: 0}}
    waiting = read_configuration({"waitForPodsReady": section}).waiting
    assert waiting is not None
    expected = {
        "backoffBaseSeconds": waiting.base_s,
        "backoffMaxSeconds": waiting.most_s,
    }
    assert expected[name] == 0
