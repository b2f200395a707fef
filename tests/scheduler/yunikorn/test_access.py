"""ACLs: who may submit to which queue."""

from __future__ import annotations

import pytest

from scheduler.engine.yunikorn.objects.model import NullListener
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.placement.rules import Submission, place, read
from scheduler.input.manifests import queues_yaml as manifests
from scheduler.model.errors import ManifestError
from scheduler.model.objects import Key
from scheduler.model.registry import lookup
from tests.builders import queue_tree
from tests.scheduler.yunikorn.clusters import pod, run, subjects, world

QUEUES = """
partitions:
- name: default
  queues:
  - name: root
    submitacl: boss
    queues:
    - name: open
      submitacl: "*"
    - name: team
      submitacl: "ann dev"
      adminacl: "root"
    - name: shut
"""


def _placed(queue: str, user: str, *groups: str) -> bool:
    laws = lookup("laws", "released")()
    partition = Partition(manifests.read_text(QUEUES), laws, NullListener())
    submission = Submission(queue=f"root.{queue}", user=user, groups=groups)
    return place(partition, submission) is not None


@pytest.mark.parametrize(
    ("queue", "user", "groups", "admitted"),
    [
        pytest.param("open", "eve", (), True, id="anybody"),
        pytest.param("team", "ann", (), True, id="a user"),
        pytest.param("team", "eve", ("dev",), True, id="a group"),
        pytest.param("team", "root", (), True, id="an admin"),
        pytest.param("team", "eve", ("ops",), False, id="neither"),
        pytest.param("shut", "eve", (), False, id="no list of its own"),
        pytest.param("shut", "boss", (), True, id="by the list of an ancestor"),
    ],
)
def test_an_acl_admits(
    queue: str, user: str, groups: tuple[str, ...], admitted: bool
) -> None:
    assert _placed(queue, user, *groups) is admitted


@pytest.mark.parametrize(
    ("text", "admitted"),
    [("", False), ("*", True), (" dev", True), ("ann,* ops", False), ("* ops", True)],
)
def test_a_text_admits_a_developer(text: str, admitted: bool) -> None:
    assert read(text).admits("eve", ("dev",)) is admitted


def test_a_pod_that_nobody_admits_is_rejected() -> None:
    made = world(queues=queue_tree({"name": "q", "submitacl": "ann"}, submit=""))
    made.put(pod("p", "root.q"))
    run(made, 2)
    status = made.get(Key("Pod", "default", "p")).status
    assert (status["phase"], status["reason"]) == ("Failed", "ApplicationRejected")


def test_a_configuration_without_any_acl_is_open_and_says_so() -> None:
    made = world(queues=queue_tree({"name": "q"}, submit=""))
    made.put(pod("p", "root.q"))
    assert subjects(run(made, 2), "Bind") == ["p"]
    assert any("submitacl" in problem.text for problem in made.problems())


def test_a_second_partition_is_checked_and_stays_empty() -> None:
    text = QUEUES + "- name: gpu\n  queues:\n  - name: root\n"
    assert [other.name for other in manifests.read_text(text).others] == ["gpu"]


def test_a_configuration_without_a_default_partition_is_refused() -> None:
    with pytest.raises(ManifestError, match="default"):
        manifests.read_text(QUEUES.replace("name: default", "name: gpu"))
