"""queues.yaml: read, checked, written back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.input.manifests import queues_yaml as yunikorn
from scheduler.input.manifests.documents import read_documents
from scheduler.model.errors import ManifestError
from scheduler.model.yunikorn.properties import problems
from tests.builders import queue_tree, world_of

WHOLE = """
partitions:
  - name: Default
    nodesortpolicy:
      type: binpacking
      resourceweights: {vcore: 4.0, memory: 1}
    preemption: {enabled: true, quotapreemptionenabled: true}
    placementrules:
      - name: tag
        value: namespace
        create: true
        filter: {type: deny, users: [eve]}
        parent: {name: fixed, value: root.tenants}
    limits:
      - limit: everyone
        users: ["*"]
        maxresources: {vcore: "8"}
        maxapplications: 3
    queues:
      - name: root
        submitacl: "*"
        adminacl: ops
        queues:
          - name: tenants
            parent: true
            childtemplate:
              maxapplications: 10
              properties: {application.sort.policy: fair}
              resources: {max: {memory: 8Gi}}
          - name: Prod
            maxapplications: 5
            properties: {preemption.delay: 10s, priority.offset: 5}
            resources:
              guaranteed: {vcore: 500m, memory: 1Gi}
              max: {vcore: "4"}
            limits:
              - groups: [dev, "*"]
                maxresources: {memory: 1G}
"""


def _tree(body: str) -> str:
    return f"partitions:\n- name: default\n  queues:\n  - name: root\n{body}"


def test_every_part_is_read() -> None:
    partition = yunikorn.read_text(WHOLE)
    tenants, prod = partition.root.queues
    assert (partition.name, partition.node_sort) == ("default", "binpacking")
    assert partition.weights == {"vcore": 4.0, "memory": 1.0}
    assert prod.guaranteed == {"vcore": 500, "memory": 2**30}
    assert prod.max == {"vcore": 4000}
    assert prod.properties["priority.offset"] == "5"
    assert prod.limits[0].groups == ("dev", "*")
    assert tenants.template is not None
    assert partition.placement[0].parent is not None


def test_what_is_written_reads_the_same() -> None:
    partition = yunikorn.read_text(WHOLE)
    again = yunikorn.from_plain(yunikorn.to_plain(partition))
    assert again.root == partition.root
    assert again.placement == partition.placement
    assert again.limits == partition.limits


def test_what_has_no_effect_is_listed_by_name() -> None:
    dumped = WHOLE.replace("name: Default", "name: Default\n    statedumpfilepath: x")
    partition = yunikorn.read_text(dumped)
    assert partition.unsimulated == ("partitions[0].statedumpfilepath",)


def test_a_config_map_is_looked_into() -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yunikorn-configs}\n"
    inner = "\n".join(f"    {line}" for line in WHOLE.splitlines())
    (document,) = read_documents(f"{text}data:\n  queues.yaml: |\n{inner}\n")
    assert yunikorn.holds_queues(document)
    assert yunikorn.read(document).root == yunikorn.read_text(WHOLE).root


@pytest.mark.parametrize(
    ("body", "field", "line"),
    [
        pytest.param("    colour: red\n", "colour", 5, id="an unknown key"),
        pytest.param(
            "    queues:\n    - name: a\n      resources: {max: {vcore: '1.5'}}\n",
            "max.vcore",
            7,
            id="a quantity with decimals",
        ),
        pytest.param(
            "    queues:\n    - name: a\n    - name: A\n",
            "queues[1].name",
            7,
            id="a queue given twice",
        ),
        pytest.param(
            "    queues:\n    - name: a\n"
            "      resources: {guaranteed: {vcore: 3}, max: {vcore: 2}}\n",
            "guaranteed",
            7,
            id="a guarantee above the max",
        ),
        pytest.param(
            "    queues:\n    - name: a\n      resources: {max: {vcore: 2}}\n"
            "      queues:\n      - name: b\n        resources: {max: {vcore: 3}}\n",
            "max",
            10,
            id="a child above its parent's max",
        ),
        pytest.param(
            "    queues:\n    - name: a\n      resources: {guaranteed: {vcore: 2}}\n"
            "      queues:\n"
            "      - {name: b, resources: {guaranteed: {vcore: 2}}}\n"
            "      - {name: c, resources: {guaranteed: {vcore: 1}}}\n",
            "guaranteed",
            7,
            id="children promised more than their parent",
        ),
    ],
)
def test_a_bad_tree_is_refused_with_its_place(body: str, field: str, line: int) -> None:
    with pytest.raises(ManifestError) as caught:
        yunikorn.read_text(_tree(body))
    place = caught.value.place
    assert place is not None
    assert place.field.endswith(field)
    assert place.line == line


def test_a_rule_is_named_in_any_case() -> None:
    text = WHOLE.replace("- name: tag", "- name: Tag")
    assert yunikorn.read_text(text).placement == yunikorn.read_text(WHOLE).placement


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("preemption.delay", "0s", "expected a duration above 0"),
        ("preemption.delay", "soon", "expected a duration above 0"),
        ("preemption.policy", "fences", "expected one of default, fence, disabled"),
        ("application.sort.policy", "lifo", "expected one of fifo, fair, stateaware"),
        ("priority.policy", "fenced", "expected one of default, fence"),
        ("priority.offset", "many", "expected a whole number"),
    ],
)
def test_a_property_that_is_not_taken_is_named_with_what_counts_instead(
    name: str, given: str, said: str
) -> None:
    (problem,) = problems({name: given})
    assert problem.text.startswith(f"{name}: {said}")
    assert problem.text.endswith(" is used")


def test_a_world_names_the_queue_of_a_property_that_is_not_taken() -> None:
    leaf = {"name": "a", "properties": {"preemption.delay": "0s"}}
    world = world_of(queue_tree(leaf), stack="yunikorn")
    assert any(
        line.startswith("root.a: preemption.delay: expected a duration above 0")
        for line in world.context.journal.problems
    )


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "preemption.delay": st.sampled_from(["1ms", "30s", "2h"]),
            "preemption.policy": st.sampled_from(["default", "Fence", "disabled"]),
            "priority.offset": st.integers(-(2**31), 2**31 - 1).map(str),
        },
    )
)
def test_properties_that_are_taken_are_not_reported(texts: dict[str, str]) -> None:
    assert list(problems(texts)) == []


def limits_down_the_tree(name: str) -> str:
    """Return queues of which the lowest lets ann have what the highest denies `name`."""
    return f"""
partitions:
- name: default
  queues:
  - name: root
    limits: [{{users: ['{name}'], maxresources: {{gpu: 1}}}}]
    queues:
    - name: a
      limits: [{{users: [ann], maxresources: {{vcore: 2}}}}]
      queues:
      - name: b
        limits: [{{users: [ann], maxresources: {{gpu: 4}}}}]
"""


def test_a_limit_is_inherited_by_the_same_name() -> None:
    with pytest.raises(ManifestError, match="gpu is more than the limit further up"):
        yunikorn.read_text(limits_down_the_tree("ann"))


def test_a_limit_of_all_users_is_not_inherited_below_an_own_one() -> None:
    assert yunikorn.read_text(limits_down_the_tree("*")).name == "default"
