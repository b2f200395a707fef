"""Placement rules: where an application goes."""

from __future__ import annotations

import pytest

from scheduler.engine.yunikorn.placement.rules import Submission, place
from scheduler.model.hierarchy import PlacementRule, RuleFilter, Template
from tests.scheduler.yunikorn.worlds import World, cores, queue

ANN = Submission(queue="root.a", user="ann.b", tags={"namespace": "dev"})


def _placed(world: World, incoming: Submission = ANN) -> str | None:
    found = place(world.partition, incoming)
    return found.path if found is not None else None


def _world(*rules: PlacementRule, **given: object) -> World:
    tenants = queue("tenants", parent=True, **given)  # type: ignore[arg-type]
    return World(queue("a"), tenants, placement=rules)


def test_without_rules_the_queue_asked_for_counts() -> None:
    assert _placed(_world()) == "root.a"


def test_without_rules_an_unknown_queue_is_refused() -> None:
    assert _placed(_world(), Submission(queue="root.b")) is None


def test_a_default_queue_is_the_last_resort() -> None:
    world = World(queue("default"))
    assert _placed(world, Submission(queue="root.b")) == "root.default"


@pytest.mark.parametrize(
    ("rule", "path"),
    [
        pytest.param(PlacementRule(name="fixed", value="a"), "root.a", id="fixed"),
        pytest.param(
            PlacementRule(name="user", create=True), "root.ann_dot_b", id="user"
        ),
        pytest.param(
            PlacementRule(name="tag", value="namespace", create=True),
            "root.dev",
            id="tag",
        ),
        pytest.param(
            PlacementRule(
                name="user",
                create=True,
                parent=PlacementRule(name="fixed", value="tenants"),
            ),
            "root.tenants.ann_dot_b",
            id="below the parent rule's",
        ),
        pytest.param(PlacementRule(name="user"), None, id="nothing is made unasked"),
    ],
)
def test_a_rule_gives_a_queue(rule: PlacementRule, path: str | None) -> None:
    assert _placed(_world(rule)) == path


def test_the_first_rule_that_gives_a_queue_wins() -> None:
    rules = (PlacementRule(name="user"), PlacementRule(name="provided"))
    assert _placed(_world(*rules)) == "root.a"


@pytest.mark.parametrize(("deny", "path"), [(False, "root.a"), (True, None)])
def test_a_filter_lets_some_through(deny: bool, path: str | None) -> None:
    rule = PlacementRule(
        name="provided", filter=RuleFilter(deny=deny, users=("ann.b",))
    )
    assert _placed(_world(rule)) == path


def test_a_made_queue_starts_from_the_template() -> None:
    rule = PlacementRule(name="provided", create=True)
    world = _world(rule, template=Template(max=cores(3)))
    _placed(world, Submission(queue="root.tenants.new"))
    made = world.partition.queue("root.tenants.new")
    assert made is not None
    assert made.max == cores(3)
