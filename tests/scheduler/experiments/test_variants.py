"""What an experiment document says, and what it may not say."""

from __future__ import annotations

from pathlib import Path

import pytest

from scheduler.analysis.experiments.document import (
    ExperimentError,
    read_experiment,
    seeds_of,
)
from scheduler.analysis.experiments.variants import axes_of, variants_of
from scheduler.cli.experiment import read_file
from scheduler.model.errors import PolicyError


def spec_of(**spec):
    document = {"kind": "Experiment", "spec": {"base": {"files": ["w.yaml"]}, **spec}}
    return read_experiment(document).spec


def names(**spec) -> list[str]:
    return [variant.name for variant in variants_of(spec_of(**spec))]


def test_without_variants_there_is_the_base_alone():
    assert names() == ["base"]


def test_a_grid_is_every_combination():
    grid = [
        {"name": "arrivals", "values": [1, 2]},
        {"name": "laws", "policy": "yunikorn.laws", "values": ["released"]},
    ]
    assert names(grid=grid) == [
        "arrivals=1, laws=released",
        "arrivals=2, laws=released",
    ]


def test_a_path_of_the_policy_becomes_a_patch():
    axis = {"name": "delay", "policy": "simulation.podStartMs", "values": [7]}
    [variant] = variants_of(spec_of(grid=[axis]))
    assert variant.policy == {"simulation": {"podStartMs": 7}}


def test_choices_are_named_after_their_axis():
    choices = [{"name": "slow", "arrivals": 0.5}, {"name": "usual"}]
    assert names(grid=[{"name": "pace", "choices": choices}]) == [
        "pace=slow",
        "pace=usual",
    ]


def test_a_search_draws_from_its_own_seed_alone():
    axis = {"name": "arrivals", "range": {"low": 1, "high": 10, "scale": "log"}}
    search = {"axes": [axis], "samples": 5, "seed": 3}
    assert names(search=search) == names(search=search, seeds=[4, 5])
    scales = [v.arrivals for v in variants_of(spec_of(search=search))]
    assert all(1 <= scale <= 10 for scale in scales)
    assert len(set(scales)) == 5


def test_what_each_variant_has_on_an_axis_is_known():
    scales = {"name": "arrivals", "values": [1, 2]}
    pace = {"name": "pace", "choices": [{"name": "slow", "arrivals": 0.5}]}
    search = {"axes": [pace], "samples": 1}
    spec = spec_of(variants=[{"name": "usual"}], grid=[scales], search=search)
    places = [{}, {"arrivals": "1"}, {"arrivals": "2"}, {"pace": "slow"}]
    assert axes_of(spec) == places
    assert len(variants_of(spec)) == len(places)


def test_whole_numbers_are_drawn_where_they_are_asked_for():
    axis = {"name": "arrivals", "range": {"low": 1, "high": 9, "whole": True}}
    search = {"axes": [axis], "samples": 8}
    assert all(v.arrivals % 1 == 0 for v in variants_of(spec_of(search=search)))


@pytest.mark.parametrize(
    ("seeds", "expected"),
    [
        pytest.param(None, [9], id="the base's own"),
        pytest.param([3, 1, 3], [3, 1], id="a list, each once"),
        pytest.param({"count": 3, "start": 5}, [5, 6, 7], id="a range"),
    ],
)
def test_seeds(seeds, expected):
    given = {} if seeds is None else {"seeds": seeds}
    assert seeds_of(spec_of(**given), 9) == expected


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        pytest.param({"seed": 1}, "spec", id="an unknown field"),
        pytest.param({"seeds": []}, "spec.seeds", id="no seed"),
        pytest.param({"seeds": {"count": 10**15}}, "spec.seeds", id="endless seeds"),
        pytest.param({"seeds": [2**63]}, "spec.seeds", id="a seed beyond 63 bits"),
        pytest.param({"horizon": "soon"}, "spec.horizon", id="a horizon that is none"),
        pytest.param({"assertions": [{}]}, "spec.assertions[0]", id="nothing asserted"),
        pytest.param(
            {"base": {"files": ["a"], "sandbox": "b"}}, "spec.base", id="two bases"
        ),
        pytest.param(
            {"variants": [{"name": "a", "arrivals": "fast"}]},
            "spec.variants[0].arrivals",
            id="a text for a number",
        ),
    ],
)
def test_what_is_wrong_with_a_document_is_named_by_field(spec, field):
    with pytest.raises(ExperimentError) as caught:
        spec_of(**spec)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        pytest.param(
            {"variants": [{"name": "a"}] * 2}, "'a' twice", id="one name twice"
        ),
        pytest.param(
            {"variants": [{"name": "a", "arrivals": 0}]}, "above 0", id="no arrivals"
        ),
        pytest.param(
            {"seeds": {"count": 6_000}, "variants": [{"name": "a"}, {"name": "b"}]},
            "more than",
            id="too many runs",
        ),
        pytest.param(
            {"grid": [{"name": "arrivals", "values": ["fast"]}]},
            "expected numbers",
            id="a text for a scale",
        ),
        pytest.param(
            {
                "search": {
                    "samples": 1,
                    "axes": [
                        {
                            "name": "arrivals",
                            "range": {"low": 1, "high": -1, "scale": "log"},
                        }
                    ],
                }
            },
            "low to high",
            id="a range that runs backwards",
        ),
        pytest.param(
            {"grid": [{"name": "arrivals", "range": {"low": 1, "high": 2}}]},
            "needs values",
            id="a range in a grid",
        ),
        pytest.param(
            {"grid": [{"name": "odd", "values": [1]}]}, "axis odd", id="an empty axis"
        ),
        pytest.param(
            {"variants": [{"name": "a", "policy": {"stak": "kube"}}]},
            "stak",
            id="a policy that is none",
        ),
    ],
)
def test_variants_that_cannot_be_are_refused(spec, words):
    with pytest.raises(PolicyError, match=words):
        variants_of(spec_of(**spec))


def test_the_example_of_the_documentation_is_an_experiment():
    path = Path(__file__).resolve().parents[3] / "docs" / "examples" / "experiment.yaml"
    experiment, _ = read_file(path)
    assert len(variants_of(experiment.spec)) == 4
