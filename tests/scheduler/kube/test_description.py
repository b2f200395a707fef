"""A resolved configuration says where every plug-in works."""

from __future__ import annotations

from scheduler.model.kube.description import describe


def plugin(document: dict, name: str):
    (profile,) = describe(document)
    return next(one for one in profile.plugins if one.name == name)


def test_an_empty_document_is_the_default_profile():
    (profile,) = describe({})
    assert profile.scheduler_name == "default-scheduler"
    taints = next(one for one in profile.plugins if one.name == "TaintToleration")
    assert "filter" in taints.on
    assert taints.weight == 3


def test_a_plugin_disabled_at_a_point_works_at_its_others():
    plugins = {"score": {"disabled": [{"name": "NodeResourcesFit"}]}}
    fit = plugin({"profiles": [{"plugins": plugins}]}, "NodeResourcesFit")
    assert "score" in fit.points
    assert "score" not in fit.on
    assert "filter" in fit.on
    assert fit.weight is None


def test_arguments_have_their_defaults_filled_in():
    given = {"scoringStrategy": {"type": "MostAllocated"}}
    config = [{"name": "NodeResourcesFit", "args": given}]
    fit = plugin({"profiles": [{"pluginConfig": config}]}, "NodeResourcesFit")
    assert fit.args is not None
    assert fit.args["scoringStrategy"]["type"] == "MostAllocated"
    assert fit.args["ignoredResources"] == []


def test_a_list_of_configurations_is_reported_one_by_one():
    items = [{"profiles": [{"schedulerName": name}]} for name in ("a", "b")]
    found = describe({"kind": "List", "items": items})
    assert [(one.configuration, one.scheduler_name) for one in found] == [
        (0, "a"),
        (1, "b"),
    ]
