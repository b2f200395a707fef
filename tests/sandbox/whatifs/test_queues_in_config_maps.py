"""YuniKorn's ConfigMap is what it is in a cluster: edited, its queues hold at once."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from sandbox import actions
from sandbox.base.errors import InvalidError
from sandbox.whatifs.changes import operation_of
from sandbox.world import operations
from scheduler.engine.world import fork
from scheduler.model.objects import Key
from tests.builders import world_of
from tests.scheduler.test_verdict_cases import YUNIKORN, raised_at, tree

MAP = {"kind": "ConfigMap", "namespace": "yunikorn", "name": "yunikorn-configs"}
QUEUES = {"data": {"queues.yaml": yaml.safe_dump(tree(4))}}
WHOLE = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": MAP["name"], "namespace": MAP["namespace"]},
    **QUEUES,
}
POLICY = {
    "apiVersion": "quotalab.dev/v1",
    "kind": "Policy",
    "spec": {"stack": "yunikorn", "yunikorn": {"queues": tree(2)}},
}


@pytest.mark.parametrize(
    "change", [{"patch": {**MAP, "body": QUEUES}}, {"apply": WHOLE}]
)
def test_an_edit_of_it_in_a_what_if_is_that_of_the_policy(
    change: dict[str, Any],
) -> None:
    world = world_of(*raised_at("1h"), **YUNIKORN)
    policy = {"policy": {"spec": {"yunikorn": {"queues": tree(4)}}}}
    after = []
    for asked in (change, policy):
        side = fork(world)
        operations.perform(side, operation_of(world, [asked]))
        after.append(side.policy.document())
    assert after[0] == after[1] != world.policy.document()


def test_a_what_if_that_deletes_it_is_refused_with_what_to_do_instead() -> None:
    world = world_of(*raised_at("1h"), **YUNIKORN)
    with pytest.raises(InvalidError, match="patch its data") as refused:
        operation_of(world, [{"delete": MAP}])
    [cause] = refused.value.causes
    assert cause.field == "changes[0].delete.data.queues.yaml"


@pytest.mark.django_db
def test_to_delete_it_is_refused_and_changes_nothing(make, person) -> None:
    sandbox = make(POLICY, *raised_at("1h"))
    with pytest.raises(InvalidError, match="patch its data"):
        actions.do_delete(person, sandbox.pk, [Key(*MAP.values())])
    assert actions.do_delete(person, sandbox.pk, [Key("Change", "", "c")])
