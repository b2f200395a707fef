"""A field of Kueue's Configuration that is wrong is named by its path, in a sentence."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.model.errors import PolicyError
from scheduler.model.kueue.configuration import read_configuration

PODS = "waitForPodsReady"
WRONG: list[tuple[dict[str, Any], str]] = [
    (
        {"apiVersion": "v1"},
        "kueue.apiVersion: expected config.kueue.x-k8s.io/v1beta1 or "
        "config.kueue.x-k8s.io/v1beta2, got 'v1'",
    ),
    ({"fairSharing": 3}, "kueue.fairSharing: expected an object, got 3"),
    (
        {"fairSharing": {"preemptionStrategies": ["LessThanInitialShare", "x"]}},
        "kueue.fairSharing.preemptionStrategies[1]: expected one of",
    ),
    (
        {"fairSharing": {"preemptionStrategies": ["LessThanInitialShare"] * 2}},
        "kueue.fairSharing.preemptionStrategies: expected [",
    ),
    (
        {PODS: {"requeuingStrategy": {"timestamp": "Now"}}},
        "kueue.waitForPodsReady.requeuingStrategy.timestamp: expected Eviction or "
        "Creation, got 'Now'",
    ),
    (
        {PODS: {"requeuingStrategy": {"backoffLimitCount": -1}}},
        "kueue.waitForPodsReady.requeuingStrategy.backoffLimitCount: expected a count "
        "of 0 or more, got -1",
    ),
    (
        {PODS: {"requeuingStrategy": {"backoffBaseSeconds": True}}},
        "kueue.waitForPodsReady.requeuingStrategy.backoffBaseSeconds: expected",
    ),
    (
        {PODS: {"requeuingStrategy": {"backoffMaxSeconds": "9"}}},
        "kueue.waitForPodsReady.requeuingStrategy.backoffMaxSeconds: expected",
    ),
    ({PODS: {"timeout": "soon"}}, "kueue.waitForPodsReady.timeout: "),
    ({PODS: {"recoveryTimeout": "soon"}}, "kueue.waitForPodsReady.recoveryTimeout: "),
    (
        {"resources": {"quotaCheckStrategy": "x"}},
        "kueue.resources.quotaCheckStrategy: expected IgnoreUndeclared or "
        "BlockUndeclared, got 'x'",
    ),
    (
        {"resources": {"transformations": [3]}},
        "kueue.resources.transformations[0]: expected an object, got 3",
    ),
    (
        {"resources": {"transformations": [{"input": "a"}, {"input": "a"}]}},
        "kueue.resources.transformations[1].input: a has a transformation already",
    ),
    (
        {"resources": {"transformations": [{"input": "a", "x": 1}]}},
        "kueue.resources.transformations[0].x: unknown field; known: input, "
        "multiplyBy, outputs, strategy",
    ),
    (
        {"resources": {"transformations": [{"input": ""}]}},
        "kueue.resources.transformations[0].input: expected the name of a resource",
    ),
    (
        {"resources": {"transformations": [{"input": "a", "strategy": "x"}]}},
        "kueue.resources.transformations[0].strategy: expected Retain or Replace, "
        "got 'x'",
    ),
    (
        {"resources": {"transformations": [{"input": "a", "outputs": {"b": "x"}}]}},
        "kueue.resources.transformations[0].outputs.b: ",
    ),
    (
        {"admissionFairSharing": {"usageSamplingInterval": "0s"}},
        "kueue.admissionFairSharing.usageSamplingInterval: expected more than 0s",
    ),
    (
        {"admissionFairSharing": {"usageHalfLifeTime": "-1s"}},
        "kueue.admissionFairSharing.usageHalfLifeTime: expected 0s or more, got '-1s'",
    ),
    (
        {"admissionFairSharing": {"usageHalfLifeTime": "x"}},
        "kueue.admissionFairSharing.usageHalfLifeTime: ",
    ),
    (
        {"admissionFairSharing": {"resourceWeights": {"cpu": -1}}},
        "kueue.admissionFairSharing.resourceWeights.cpu: expected a number of 0 or "
        "more, got -1",
    ),
    (
        {"admissionFairSharing": {"resourceWeights": {"cpu": True}}},
        "kueue.admissionFairSharing.resourceWeights.cpu: expected a number",
    ),
    (
        {"objectRetentionPolicies": {"workloads": 3}},
        "kueue.objectRetentionPolicies.workloads: expected an object, got 3",
    ),
    (
        {"objectRetentionPolicies": {"workloads": {"x": "1s"}}},
        "kueue.objectRetentionPolicies.workloads.x: unknown field; known: "
        "afterFinished, afterDeactivatedByKueue",
    ),
    (
        {"objectRetentionPolicies": {"workloads": {"afterFinished": "-1s"}}},
        "kueue.objectRetentionPolicies.workloads.afterFinished: expected 0 or more",
    ),
    (
        {"objectRetentionPolicies": {"workloads": {"afterFinished": "x"}}},
        "kueue.objectRetentionPolicies.workloads.afterFinished: ",
    ),
    ({"unheard": 1}, "kueue.unheard: unknown field; known: "),
    *(
        (
            {"multiKueue": {"incrementalDispatcherConfig": {"stepSize": size}}},
            "kueue.multiKueue.incrementalDispatcherConfig.stepSize: expected a count "
            f"of 1 or more, got {size!r}",
        )
        for size in (0, True, "2")
    ),
    (
        {"multiKueue": {"workerLostTimeout": "x"}},
        "kueue.multiKueue.workerLostTimeout: ",
    ),
]


@pytest.mark.parametrize(
    ("document", "sentence"), WRONG, ids=[f"{i}" for i in range(len(WRONG))]
)
def test_a_wrong_field_is_named_by_its_path(document, sentence):
    with pytest.raises(PolicyError) as raised:
        read_configuration(document)
    assert str(raised.value).startswith(sentence)
