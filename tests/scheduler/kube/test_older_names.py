"""Configurations of older releases: read as what replaced them, with a notice."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from scheduler.engine.kube.plugins.node_resources_fit import NodeResourcesFitArgs
from scheduler.input.manifests.load import load
from scheduler.model.errors import PolicyError
from scheduler.model.kube.configuration import notices, read_configurations
from scheduler.model.kube.older_names import modernized

SHAPE = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]


def older(name: str, args: dict[str, Any] | None = None, **entry: Any) -> Any:
    profile: dict[str, Any] = {
        "plugins": {"score": {"enabled": [{"name": name, **entry}]}}
    }
    if args is not None:
        profile["pluginConfig"] = [{"name": name, "args": args}]
    return {"profiles": [profile]}


def fit_of(document: Any) -> NodeResourcesFitArgs:
    args = read_configurations(document)[0].profiles[0].args["NodeResourcesFit"]
    assert isinstance(args, NodeResourcesFitArgs)
    return args


@pytest.mark.parametrize(
    ("name", "strategy"),
    [
        ("NodeResourcesLeastAllocated", "LeastAllocated"),
        ("NodeResourcesMostAllocated", "MostAllocated"),
    ],
)
def test_an_older_scorer_is_a_strategy_of_the_fit(name: str, strategy: str) -> None:
    document = older(name, weight=5)
    scoring = fit_of(document).scoring_strategy
    assert scoring is not None
    assert scoring.type == strategy
    profile = read_configurations(document)[0].profiles[0]
    assert profile.weights["NodeResourcesFit"] == 5
    assert name not in profile.points["score"]


def test_the_map_of_weights_becomes_a_list_of_resources() -> None:
    args = {"shape": SHAPE, "resourceToWeightMap": {"nvidia.com/gpu": 3, "cpu": 1}}
    scoring = fit_of(older("RequestedToCapacityRatio", args)).scoring_strategy
    assert scoring is not None
    assert scoring.type == "RequestedToCapacityRatio"
    found = [(resource.name, resource.weight) for resource in scoring.resources]
    assert found == [("cpu", 1), ("nvidia.com/gpu", 3)]
    assert scoring.requested_to_capacity_ratio is not None
    assert len(scoring.requested_to_capacity_ratio.shape) == 2


def test_each_older_name_has_a_notice_at_its_place() -> None:
    args = {"shape": SHAPE, "resourceToWeightMap": {"cpu": 1}}
    document = older("RequestedToCapacityRatio", args)
    document["apiVersion"] = "kubescheduler.config.k8s.io/v1beta2"
    assert [notice.path for notice in notices(document)] == [
        "apiVersion",
        "profiles[0].plugins.score.enabled",
        "profiles[0].pluginConfig[0]",
        "profiles[0].pluginConfig[0].args.resourceToWeightMap",
    ]


def test_a_file_with_older_names_is_read_with_warnings_by_line() -> None:
    text = """
apiVersion: kubescheduler.config.k8s.io/v1beta1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    score:
      enabled:
      - name: RequestedToCapacityRatio
  pluginConfig:
  - name: RequestedToCapacityRatio
    args:
      shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]
      resourceToWeightMap: {cpu: 1}
"""
    loaded = load([("scheduler.yaml", text)])
    assert not loaded.errors
    found = {(f.place.line, f.level) for f in loaded.findings}
    assert found == {(2, "warning"), (7, "warning"), (10, "warning"), (13, "warning")}


def test_disabling_an_older_scorer_takes_the_fit_out_of_scoring() -> None:
    score = {"disabled": [{"name": "NodeResourcesLeastAllocated"}]}
    document = {"profiles": [{"plugins": {"score": score}}]}
    profile = read_configurations(document)[0].profiles[0]
    assert "NodeResourcesFit" not in profile.points["score"]
    assert "NodeResourcesFit" in profile.points["filter"]


def test_changing_one_older_scorer_for_another_keeps_the_fit() -> None:
    score = {
        "disabled": [{"name": "NodeResourcesLeastAllocated"}],
        "enabled": [{"name": "NodeResourcesMostAllocated"}],
    }
    document = {"profiles": [{"plugins": {"score": score}}]}
    scoring = fit_of(document).scoring_strategy
    assert scoring is not None
    assert scoring.type == "MostAllocated"


def test_two_older_scorers_at_once_are_refused() -> None:
    document = older("NodeResourcesMostAllocated")
    enabled = document["profiles"][0]["plugins"]["score"]["enabled"]
    enabled.append({"name": "RequestedToCapacityRatio"})
    with pytest.raises(PolicyError, match="keep one of them"):
        read_configurations(document)


def test_what_is_in_todays_names_has_no_notice_and_is_read_as_it_stands() -> None:
    scoring = {
        "type": "RequestedToCapacityRatio",
        "resources": [{"name": "cpu", "weight": 1}],
        "requestedToCapacityRatio": {"shape": SHAPE},
    }
    args = {"scoringStrategy": scoring}
    document = older("NodeResourcesFit", args, weight=5)
    document["apiVersion"] = "kubescheduler.config.k8s.io/v1"
    before = copy.deepcopy(document)
    assert modernized(document) == (document, [])
    assert document == before
