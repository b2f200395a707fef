"""Each field that keeps a pod waiting is named with its value: the lists are of the codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from scheduler.analysis.explain.answers import answers
from scheduler.assembly import assemble
from scheduler.engine.tick import advance
from scheduler.engine.world import World
from scheduler.words.placing import Placing, Rejected, Stays
from tests.builders import node, pod, queue_tree, world_of

Manifest = dict[str, Any]
GPU = {"key": "gpu", "value": "true", "effect": "NoSchedule"}


def waiting(cpu: int = 1, arrival: str = "5s", **spec: Any) -> Manifest:
    made = pod("p", cpu=cpu, arrival=arrival)
    made["spec"] |= spec
    return made


def priority_class(name: str, value: int, **more: str) -> Manifest:
    made = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
    return {**made, "metadata": {"name": name}, "value": value, **more}


def affinity(*terms: Manifest, field: str = "matchExpressions") -> Manifest:
    needed = {"nodeSelectorTerms": [{field: list(terms)}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": needed}}


def needing(resource: str) -> Manifest:
    made = waiting()
    wants = {resource: "1"}
    made["spec"]["containers"][0]["resources"] = {"requests": wants, "limits": wants}
    return made


def text_of(world: World, about: str = "p") -> str:
    (found,) = answers(world, about)
    return "\n".join(found.sentences)


KUBE: dict[Placing, tuple[Callable[[], list[Manifest]], str]] = {
    Placing.TAINTS: (
        lambda: [{**node("n"), "spec": {"taints": [GPU]}}, waiting()],
        "Taints that it does not tolerate: gpu=true:NoSchedule.",
    ),
    Placing.SELECTOR: (
        lambda: [
            node("n", pool="b"),
            node("m"),
            waiting(nodeSelector={"pool": "a"}),
        ],
        "Its nodeSelector asks for pool=a; those nodes have no such label pool and pool=b.",
    ),
    Placing.AFFINITY: (
        lambda: [
            node("n", pool="b"),
            waiting(
                affinity=affinity(
                    {"key": "pool", "operator": "In", "values": ["a", "c"]}
                )
            ),
        ],
        "Its node affinity asks for pool in (a,c); those nodes have pool=b.",
    ),
    Placing.ALONE: (
        lambda: [
            node("n", cpu=1),
            node("m", cpu=4),
            waiting(
                2,
                affinity=affinity(
                    {"key": "metadata.name", "operator": "In", "values": ["n"]},
                    field="matchFields",
                ),
            ),
        ],
        "It may go to n alone.",
    ),
    Placing.NO_RESOURCE: (
        lambda: [node("n"), needing("nvidia.com/gpus")],
        "No node has nvidia.com/gpus; nodes have cpu, memory and pods.",
    ),
    Placing.NEVER: (
        lambda: [
            node("n"),
            priority_class("polite", 9, preemptionPolicy="Never"),
            pod("held", cpu=4, runtime="1h"),
            waiting(4, priorityClassName="polite"),
        ],
        "It preempts nobody: preemptionPolicy of PriorityClass polite is Never.",
    ),
    Placing.NOBODY_LOWER: (
        lambda: [
            node("n"),
            priority_class("high", 9),
            {**(one := pod("held", cpu=4, runtime="1h"))}
            | {"spec": {**one["spec"], "priorityClassName": "high"}},
            waiting(4, priorityClassName="high"),
        ],
        "It preempts nobody: no pod has a priority below its 9.",
    ),
    Placing.NO_SCHEDULER: (
        lambda: [node("n"), waiting(schedulerName="mine")],
        "Its schedulerName is mine, and no scheduler of this world has that name",
    ),
}


@pytest.mark.parametrize("code", KUBE, ids=str)
def test_kube_scheduler_names_the_field_and_its_value(code):
    made, said = KUBE[code]
    world = world_of(*made(), stack="kube")
    advance(world, 60_000)
    assert said in text_of(world)


def of(name: str, cpu: int, queue: str, **given: Any) -> Manifest:
    made = pod(name, cpu=cpu, **given)
    made["metadata"]["labels"] = {"applicationId": name, "queue": queue}
    return made


def run(*files: Manifest, queues: list[Manifest], **tree: Any) -> World:
    made = queue_tree(*queues, **tree)
    world = world_of(*files, stack="yunikorn", yunikorn={"queues": made})
    advance(world, 120_000)
    return world


def two(a: Manifest, b: Manifest, **held: Any) -> World:
    """Of 4 vcore root.b holds all, and a pod of root.a asks for 2."""
    one = of("held", 4, "root.b", runtime="1h")
    one["spec"] |= held
    files = [node("n"), priority_class("high", 9), one]
    queues = [{"name": "a", **a}, {"name": "b", **b}]
    return run(*files, of("p", 2, "root.a", arrival="5s"), queues=queues)


def sure(vcore: int, **properties: str) -> Manifest:
    resources = {"guaranteed": {"vcore": str(vcore)}}
    return {"resources": resources, "properties": properties}


FENCE = {"preemption.policy": "fence"}
OUT: Manifest = {"properties": {"preemption.policy": "disabled"}}
STAYS: dict[Stays, tuple[Callable[[], World], str]] = {
    Stays.NO_GUARANTEE: (
        lambda: two({}, {}),
        "Neither root.a nor a queue above it has guaranteed resources",
    ),
    Stays.BEYOND: (
        lambda: two(sure(1), {}),
        "guaranteed of root.a is 1 vcore: 0 vcore used, and 2 vcore more is beyond",
    ),
    Stays.FENCE: (
        lambda: two(sure(4, **FENCE), {}),
        "preemption.policy of root.a is fence: only pods below it may go.",
    ),
    Stays.FULL: (
        lambda: run(
            node("n", cpu=8),
            of("held", 4, "root.p.c", runtime="1h"),
            of("p", 2, "root.p.a", arrival="5s"),
            queues=[
                {
                    "name": "p",
                    "resources": {"max": {"vcore": "4"}},
                    "queues": [{"name": "a", **sure(2)}, {"name": "c", **OUT}],
                }
            ],
        ),
        "root.p would pass its max: only pods below it may go.",
    ),
    Stays.DISABLED: (
        lambda: two(sure(4), OUT),
        "preemption.policy of root.b is disabled: its pods stay.",
    ),
    Stays.WITHIN: (
        lambda: two(sure(4), sure(4)),
        "root.b uses 4 vcore of its guaranteed 4 vcore: its pods stay.",
    ),
    Stays.PRIORITY: (
        lambda: two(sure(4), {}, priorityClassName="high"),
        "1 pod of root.b has a priority above 0: it stays.",
    ),
}


def test_every_field_that_keeps_yunikorn_from_preempting_has_a_world():
    assert set(STAYS) == set(Stays)


@pytest.mark.parametrize("code", STAYS, ids=str)
def test_yunikorn_names_the_field_that_keeps_the_holders(code):
    make, said = STAYS[code]
    assert said in text_of(make())


def test_laws_that_decide_alike_are_told_once():
    said = text_of(two({}, {})).splitlines()
    assert [one for one in said if "would be preempted" in one] == [
        "Nobody would be preempted: Preemption queue guarantees check failed."
    ]


def test_laws_that_decide_otherwise_are_told_after_those_in_force():
    first, second = [
        one for one in text_of(two(sure(1), {})).splitlines() if "preempt" in one
    ][::2]
    assert first.startswith("Nobody would be preempted")
    assert second.startswith("By the laws that are documented, and not in force: ")


RULE = {"name": "tag", "value": "namespace"}
LIMITED = {"name": "a", "submitacl": "sue"}
REJECTED: dict[Rejected, tuple[Callable[[], World], str]] = {
    Rejected.WHY: (
        lambda: run(node("n"), of("p", 1, "root.no"), queues=[{"name": "a"}]),
        "no placement rule matched",
    ),
    Rejected.NO_QUEUE: (
        lambda: run(node("n"), of("p", 1, "root.no"), queues=[{"name": "a"}]),
        "Placement rule provided leads to root.no, which is not there",
    ),
    Rejected.LEAVES: (
        lambda: run(node("n"), of("p", 1, "root.no"), queues=[{"name": "a"}]),
        "Queues that user nobody may submit to: root.a.",
    ),
    Rejected.NO_LEAF: (
        lambda: run(
            node("n"),
            of("p", 1, "root.a"),
            queues=[{"name": "a", "queues": [{"name": "b"}]}],
        ),
        "Placement rule provided leads to root.a, which has queues below it.",
    ),
    Rejected.MAY_NOT: (
        lambda: run(node("n"), of("p", 1, "root.a"), queues=[LIMITED], submit=""),
        "User nobody may not submit to root.a",
    ),
    Rejected.NO_PATH: (
        lambda: run(
            node("n"),
            of("p", 1, "root.a"),
            queues=[{"name": "a"}],
            placementrules=[{"name": "tag", "value": "team"}],
        ),
        "Placement rule tag gives no queue for it.",
    ),
    Rejected.RULE: (
        lambda: run(node("n"), of("p", 1, "root.a b"), queues=[{"name": "a"}]),
        "Placement rule provided: invalid queue name",
    ),
}


def test_every_way_to_be_rejected_has_a_world():
    # No file makes a queue that drains: what leaves the configuration does.
    assert set(REJECTED) == {*Rejected} - {Rejected.STATE}


@pytest.mark.parametrize("code", REJECTED, ids=str)
def test_yunikorn_names_the_rule_the_queue_and_the_user_of_what_it_rejects(code):
    make, said = REJECTED[code]
    assert said in text_of(make())


def naming(name: str, replicas: int = 2) -> Manifest:
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {**pod("x")["spec"], "nodeName": name},
    }
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}}
    meta = {"name": "web", "namespace": "default"}
    made = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta}
    return {**made, "spec": {**spec, "template": template}}


def test_pods_of_a_deployment_that_name_a_node_that_is_not_there_are_told():
    world = world_of(node("n"), naming("gone"), stack="kube")
    advance(world, 10_000)
    assert "Its nodeName is gone, and there is no node gone" in text_of(world, "web")


def test_a_template_that_names_a_node_that_is_not_there_is_a_finding():
    files = [
        (f"{n}.json", json.dumps(m)) for n, m in enumerate((node("n"), naming("gone")))
    ]
    said = [str(one) for one in assemble(files).loaded.findings]
    assert any(
        "spec.template.spec.nodeName: Node gone doesn't exist" in one for one in said
    )
