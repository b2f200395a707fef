"""Real configuration documents become profiles; wrong ones name the place."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.input.manifests.documents import read_documents
from scheduler.input.manifests.kubernetes import CHECKS
from scheduler.model.errors import ManifestError, PolicyError, UnknownNameError
from scheduler.model.kube.configuration import read_configurations
from scheduler.model.kube.profiles import (
    DEFAULTS,
    NOT_SIMULATED,
    read_profiles,
)


def one(plugins: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"profiles": [{"plugins": plugins, **more}]}


def test_an_empty_configuration_is_the_default_profile() -> None:
    (profile,) = read_profiles({})
    assert profile.scheduler_name == "default-scheduler"
    assert profile.points["filter"] == [
        "NodeUnschedulable",
        "NodeName",
        "TaintToleration",
        "NodeAffinity",
        "NodePorts",
        "NodeResourcesFit",
        "VolumeRestrictions",
        "NodeVolumeLimits",
        "VolumeBinding",
        "VolumeZone",
        "PodTopologySpread",
        "InterPodAffinity",
        "DynamicResources",
    ]
    assert profile.weights["TaintToleration"] == 3
    assert set(DEFAULTS) > NOT_SIMULATED


def test_set_anew_comes_first_then_the_general_ones_then_the_rest() -> None:
    score = {
        "disabled": [{"name": "ImageLocality"}],
        "enabled": [
            {"name": "ImageLocality", "weight": 5},
            {"name": "NodeResourcesFit", "weight": 9},
        ],
    }
    (profile,) = read_profiles(one({"score": score}))
    assert profile.points["score"][:2] == ["ImageLocality", "NodeResourcesFit"]
    assert profile.weights["ImageLocality"] == 5
    assert profile.weights["NodeAffinity"] == 2


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        pytest.param(
            one({"filter": {"enabled": [{"name": "NodeResurcesFit"}]}}),
            r"profiles\[0\].plugins.filter.enabled\[0\]: unknown plugin",
            id="a name that nothing enrolled",
        ),
        pytest.param(
            one({"score": {"enabled": [{"name": "NodeName"}]}}),
            r"plugins.score: plugin NodeName has nothing to do",
            id="a plug-in at a point it does not have",
        ),
        pytest.param(one({"filters": {}}), "unknown key 'filters'", id="a wrong point"),
        pytest.param({"profilez": []}, "unknown key 'profilez'", id="a wrong key"),
        pytest.param(
            one({"queueSort": {"enabled": [{"name": "QOSSort"}]}}),
            "exactly one queueSort plugin, got PrioritySort, QOSSort",
            id="two sorts",
        ),
        pytest.param(
            {
                "profiles": [
                    {"schedulerName": "a"},
                    {
                        "schedulerName": "b",
                        "plugins": {
                            "queueSort": {
                                "enabled": [{"name": "QOSSort"}],
                                "disabled": [{"name": "*"}],
                            }
                        },
                    },
                ]
            },
            "must use the same queueSort",
            id="profiles that sort differently",
        ),
        pytest.param(
            one({}, pluginConfig=[{"name": "NodeResourcesFit", "args": {"x": 1}}]),
            r"pluginConfig\[0\].args: Object contains unknown field `x`",
            id="an argument that does not exist",
        ),
        pytest.param(
            one({}, percentageOfNodesToScore=101), "0 to 100, got 101", id="over 100"
        ),
    ],
)
def test_what_is_wrong_is_named(document: dict[str, Any], problem: str) -> None:
    with pytest.raises((PolicyError, UnknownNameError), match=problem):
        read_configurations(document)


def test_two_schedulers_cannot_serve_one_name() -> None:
    with pytest.raises(PolicyError, match="served by two schedulers"):
        read_configurations({"kind": "List", "items": [{}, {}]})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param(
            "kind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n"
            "    resources:\n      requests:\n        cpu: two\n",
            r"file:8: spec.containers\[0\].resources.requests.cpu",
            id="a bad quantity",
        ),
        pytest.param(
            "kind: Pod\nmetadata: {name: p}\nspec:\n  containers: []\n",
            "file:4: spec.containers: expected at least one container",
            id="no container",
        ),
        pytest.param(
            "kind: Node\nmetadata: {name: n}\nspec:\n  taints:\n  - key: k\n"
            "    effect: Never\n",
            r"file:6: spec.taints\[0\].effect: expected one of NoSchedule",
            id="a taint that does nothing",
        ),
        pytest.param(
            "kind: PriorityClass\nmetadata: {name: c}\nvalue: 2000000000\n",
            "file:3: value: expected at most 1000000000",
            id="a priority of the system",
        ),
        pytest.param(
            "kind: PodGroup\nmetadata: {name: g}\nspec:\n  minMember: -1\n",
            "file:4: spec.minMember: expected at least 0",
            id="a negative gang",
        ),
    ],
)
def test_a_document_that_cannot_be_names_file_line_and_field(
    text: str, problem: str
) -> None:
    (document,) = read_documents(text, file="file")
    with pytest.raises(ManifestError, match=problem):
        CHECKS[document.kind](document)


def test_limits_stand_in_for_requests() -> None:
    text = (
        "kind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n"
        "    resources: {limits: {cpu: 2, memory: 1Gi}, requests: {cpu: 1}}\n"
    )
    (document,) = read_documents(text, file="file")
    manifest = CHECKS["Pod"](document)
    resources = manifest["spec"]["containers"][0]["resources"]
    assert resources["requests"] == {"cpu": 1, "memory": "1Gi"}
