"""Each plug-in by which kube-scheduler keeps a pod waiting: what it says, and what helps.

The list is made from the registry. Of each there is a world in which it is the reason,
and a change of the pod, its group, its quota or its nodes that was run and starts it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from scheduler.analysis.explain.answers import answers
from scheduler.analysis.explain.places import together
from scheduler.analysis.explain.would import helps
from scheduler.engine.tick import advance
from scheduler.engine.world import World
from scheduler.input.manifests.kinds import BY_KIND
from scheduler.model import registry
from scheduler.model.kube.profiles import plugin_class
from scheduler.model.objects import Key
from tests.builders import node, pod, queue_tree, world_of
from tests.scheduler.kube.test_devices import device_class, devices, request, template
from tests.scheduler.kube.test_volumes import claim, csi_node, volume

Manifest = dict[str, Any]
POD = Key("Pod", "default", "p")
WEB = {"labelSelector": {"matchLabels": {"app": "web"}}}


def asking(cpu: int = 1, **spec: Any) -> Manifest:
    made = pod("p", cpu=cpu, labels={"app": "web"})
    made["spec"] |= spec
    return made


def other(**spec: Any) -> Manifest:
    """A pod that runs on n for an hour."""
    made = pod("other", cpu=1, labels={"app": "web"}, runtime="1h")
    made["spec"] |= {"nodeName": "n", **spec}
    return made


def nodes(**spec: Any) -> Manifest:
    made = node("n", cpu=4, host="n", zone="a")
    made["spec"] = spec
    return made


def ports(made: Manifest) -> Manifest:
    made["spec"]["containers"][0]["ports"] = [{"hostPort": 80, "containerPort": 80}]
    return made


def full() -> Manifest:
    made = nodes()
    made["status"]["allocatable"]["pods"] = "1"
    return made


ZONE = "topology.kubernetes.io/zone"
ONE_CLAIM = {"name": "gpu", "resourceClaimTemplateName": "one"}


def of_claim(name: str) -> Manifest:
    return {"name": name, "persistentVolumeClaim": {"claimName": name}}


def of_disk(name: str, *, mode: str = "ReadWriteOnce") -> list[Manifest]:
    """A claim that is bound to a disk of a driver."""
    driver = {"driver": "csi.example.com", "volumeHandle": name}
    disk = {"accessModes": [mode], "csi": driver}
    return [volume(f"disk-{name}", **disk), claim(name, mode=mode)]


def one_volume() -> Manifest:
    """The driver's limit on n."""
    made = csi_node("n", 1)
    made["spec"]["drivers"][0]["nodeID"] = "n"
    return made


def in_zone_a() -> Manifest:
    made = nodes()
    made["metadata"]["labels"][ZONE] = "a"
    return made


def holding(name: str) -> Manifest:
    """The other pod, with a volume."""
    return other(volumes=[of_claim(name)])


TAINT = {"key": "gpu", "value": "true", "effect": "NoSchedule"}
APART = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "host", **WEB}
        ]
    }
}
NEAR = {
    "podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "host", "labelSelector": {"matchLabels": {"app": "none"}}}
        ]
    }
}
SPREAD = [
    {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", **WEB}
]
TERM = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["b"]}]}
ZONE_B = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [TERM]}
    }
}


def enabled(name: str, **points: Any) -> Manifest:
    """A scheduler with one more plug-in, which alone does what `points` name."""
    only = {"disabled": [{"name": "*"}], "enabled": [{"name": name}]}
    multi = {"enabled": [{"name": name}]}
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {
                "schedulerName": "default-scheduler",
                "plugins": {"multiPoint": multi, **dict.fromkeys(points, only)},
            }
        ],
    }


def elastic(name: str, **given: str) -> Manifest:
    """An ElasticQuota of a namespace with this min, and perhaps a max, of CPU."""
    return {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "ElasticQuota",
        "metadata": {"name": name, "namespace": name},
        "spec": {field: {"cpu": value} for field, value in given.items()},
    }


def members(count: int, label: Manifest, **spec: Any) -> list[Manifest]:
    """The pod p and others of its gang; the node has room for four."""
    made = [pod(f"w{number}", cpu=1, labels=label) for number in range(1, count)]
    made = [pod("p", cpu=1, labels=label), *made]
    for one in made:
        one["spec"] |= spec
    return made


def in_two_zones() -> Manifest:
    """The node's four CPU, two in each of two NUMA zones."""
    zone = {
        "type": "Node",
        "resources": [
            {
                "name": name,
                **dict.fromkeys(("capacity", "allocatable", "available"), of),
            }
            for name, of in (("cpu", "2"), ("memory", "8Gi"))
        ],
    }
    return {
        "apiVersion": "topology.node.k8s.io/v1alpha2",
        "kind": "NodeResourceTopology",
        "metadata": {"name": "n"},
        "attributes": [
            {"name": "topologyManagerPolicy", "value": "single-numa-node"},
            {"name": "topologyManagerScope", "value": "pod"},
        ],
        "zones": [{"name": "node-0", **zone}, {"name": "node-1", **zone}],
    }


def guaranteed(cpu: int) -> Manifest:
    made = asking(cpu)
    resources = made["spec"]["containers"][0]["resources"]
    resources["requests"]["memory"] = "1Gi"
    resources["limits"] = dict(resources["requests"])
    return made


GROUP_LABEL = {"scheduling.x-k8s.io/pod-group": "train"}
CASES: list[tuple[str, Callable[[], list[Manifest]], str, str]] = [
    (
        "NodeUnschedulable",
        lambda: [nodes(unschedulable=True), asking()],
        "node(s) were unschedulable",
        "node n no longer cordoned",
    ),
    (
        "TaintToleration",
        lambda: [nodes(taints=[TAINT]), asking()],
        "untolerated taint",
        "a toleration of gpu=true:NoSchedule",
    ),
    (
        "NodeAffinity",
        lambda: [nodes(), asking(nodeSelector={"zone": "b"})],
        "didn't match Pod's node affinity/selector",
        "no nodeSelector zone=b",
    ),
    (
        "NodeAffinity",
        lambda: [nodes(), asking(affinity=ZONE_B)],
        "didn't match Pod's node affinity/selector",
        "no affinity",
    ),
    (
        "NodePorts",
        lambda: [nodes(), ports(other()), ports(asking())],
        "didn't have free ports",
        "one more node like n",
    ),
    (
        "NodeResourcesFit",
        lambda: [nodes(), asking(cpu=8)],
        "Insufficient cpu",
        "1/2 of what each pod asks: 4 CPU",
    ),
    (
        "NodeResourcesFit",
        lambda: [full(), other(), asking()],
        "Too many pods",
        "one more node like n",
    ),
    (
        "PodTopologySpread",
        lambda: [
            nodes(),
            node("far", cpu=0, zone="b"),
            other(),
            asking(topologySpreadConstraints=SPREAD),
        ],
        "topology spread constraints",
        "no topologySpreadConstraints",
    ),
    (
        "InterPodAffinity",
        lambda: [nodes(), other(), asking(affinity=APART)],
        "anti-affinity rules",
        "no affinity",
    ),
    (
        "InterPodAffinity",
        lambda: [nodes(), asking(affinity=NEAR)],
        "pod affinity rules",
        "no affinity",
    ),
    (
        "NodeVolumeLimits",
        lambda: (
            [
                nodes(),
                one_volume(),
                *of_disk("a"),
                holding("a"),
                *of_disk("b"),
                asking(volumes=[of_claim("b")]),
            ]
        ),
        "exceed max volume count",
        "one more node like n",
    ),
    (
        "VolumeBinding",
        lambda: [nodes(), claim(), asking(volumes=[of_claim("data")])],
        "unbound immediate PersistentVolumeClaims",
        "no volumes",
    ),
    (
        "VolumeRestrictions",
        lambda: (
            [
                nodes(),
                *of_disk("a", mode="ReadWriteOncePod"),
                holding("a"),
                asking(volumes=[of_claim("a")]),
            ]
        ),
        "ReadWriteOncePod access mode",
        "no volumes",
    ),
    (
        "VolumeZone",
        lambda: (
            [
                in_zone_a(),
                volume("disk", labels={ZONE: "b"}),
                claim(),
                asking(volumes=[of_claim("data")]),
            ]
        ),
        "no available volume zone",
        "no volumes",
    ),
    (
        "DynamicResources",
        lambda: (
            [
                nodes(),
                device_class(),
                devices("n", 1),
                template(request(2)),
                asking(resourceClaims=[ONE_CLAIM]),
            ]
        ),
        "cannot allocate all claims",
        "no resourceClaims",
    ),
    (
        "SchedulingGates",
        lambda: [nodes(), asking(schedulingGates=[{"name": "hold"}])],
        "Its scheduling gates hold it back: hold",
        "no schedulingGates",
    ),
    (
        "NodeName",
        lambda: [nodes(), asking(nodeName="gone")],
        "Its nodeName is gone, and there is no node gone",
        "no nodeName",
    ),
    (
        "CapacityScheduling",
        lambda: [
            enabled("CapacityScheduling", postFilter=1),
            nodes(),
            elastic("default", min="1", max="1"),
            other(),
            asking(),
        ],
        "ElasticQuota default is more than Max",
        "ElasticQuota default with min 2 CPU and max 2 CPU",
    ),
    (
        "CapacityScheduling",
        lambda: [
            enabled("CapacityScheduling", postFilter=1),
            nodes(),
            elastic("default", min="1"),
            other(),
            asking(),
        ],
        "total ElasticQuota used is more than min",
        "ElasticQuota default with min 2 CPU",
    ),
    (
        "Coscheduling",
        lambda: [
            enabled("Coscheduling", queueSort=1),
            nodes(),
            {
                "apiVersion": "scheduling.x-k8s.io/v1alpha1",
                "kind": "PodGroup",
                "metadata": {"name": "train", "namespace": "default"},
                "spec": {"minMember": 6},
            },
            *members(6, GROUP_LABEL),
        ],
        "needs 6 places at once, and 4 of its pods fit now",
        "PodGroup train spec.minMember: 4 in place of 6",
    ),
    (
        "GangScheduling",
        lambda: [
            enabled("GangScheduling"),
            nodes(),
            {
                "apiVersion": "scheduling.k8s.io/v1alpha2",
                "kind": "PodGroup",
                "metadata": {"name": "train", "namespace": "default"},
                "spec": {"schedulingPolicy": {"gang": {"minCount": 6}}},
            },
            *members(6, {}, schedulingGroup={"podGroupName": "train"}),
        ],
        "needs 6 places at once, and 4 of its pods fit now",
        "one more node like n",
    ),
    (
        "NodeResourceTopologyMatch",
        lambda: [
            enabled("NodeResourceTopologyMatch"),
            nodes(),
            in_two_zones(),
            guaranteed(4),
        ],
        "cannot align",
        "1/2 of what each pod asks: 2 CPU and 512 MiB",
    ),
]


def run(*manifests: Manifest) -> World:
    for one in manifests:
        one.setdefault("apiVersion", BY_KIND[one["kind"]].api_version)
    world = world_of(*manifests, stack="kube")
    advance(world, 30_000)
    return world


@pytest.mark.parametrize(
    ("files", "reason", "change"),
    [
        pytest.param(*rest, id=f"{name}-{number}")
        for number, (name, *rest) in enumerate(CASES)
    ],
)
def test_the_answer_says_the_reason_and_a_change_that_starts_the_pod(
    files, reason, change
):
    world = run(*files())
    (found,) = answers(world, "p")
    assert any(reason in text for text in found.sentences), found.sentences
    said = [one.text for one in helps(world, POD)]
    assert any(f"with {change}." in text for text in said), said


def test_every_plug_in_that_refuses_has_a_case():
    points = ("filter", "pre_filter", "pre_enqueue", "permit")
    known = {
        entry.name: plugin_class(entry.name) for entry in registry.entries("plugin")
    }
    refusing = {
        name
        for name, one in known.items()
        if any(point in vars(one) or f"{point}_rows" in vars(one) for point in points)
    }
    assert refusing == {name for name, *_ in CASES}


def test_what_is_tried_changes_nothing():
    world = run(nodes(taints=[TAINT]), asking())
    before = world.hash()
    assert helps(world, POD)
    assert world.hash() == before


def test_of_a_pod_that_starts_by_itself_no_change_is_told():
    held = pod("held", cpu=4, runtime="40s")
    held["spec"]["nodeName"] = "n"
    world = run(nodes(), held, asking(cpu=4))
    assert helps(world, POD) == []


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ({"vcore": "1"}, "The max of root.a is 1 vcore: 0 vcore used."),
        (None, "The nodes together have 4 vcore: 0 vcore used."),
    ],
)
def test_yunikorn_names_the_limit_that_leaves_too_little(limit, said):
    own = {"name": "a", **({"resources": {"max": limit}} if limit else {})}
    made = pod("p", cpu=8, labels={"applicationId": "p", "queue": "root.a"})
    tree = {"queues": queue_tree(own)}
    world = world_of(node("n", cpu=4), made, stack="yunikorn", yunikorn=tree)
    advance(world, 30_000)
    (found,) = answers(world, "p")
    assert said in found.sentences


def gang(count: int, least: int) -> World:
    """A gang of so many pods beside a node with room for five; it is not tried again yet."""
    plugins = {
        "multiPoint": {"enabled": [{"name": "Coscheduling"}]},
        "queueSort": {
            "disabled": [{"name": "*"}],
            "enabled": [{"name": "Coscheduling"}],
        },
    }
    group = {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": {"name": "train", "namespace": "default"},
        "spec": {"minMember": least},
    }
    label = {"scheduling.x-k8s.io/pod-group": "train"}
    pods = [pod(f"w{number}", cpu=1, labels=label) for number in range(count)]
    profiles = [{"schedulerName": "default-scheduler", "plugins": plugins}]
    world = world_of(
        node("n", cpu=5),
        group,
        *pods,
        stack="kube",
        kubeScheduler={"profiles": profiles},
    )
    return world


@pytest.mark.parametrize(
    ("count", "least", "tried", "said"),
    [
        (7, 4, 100, "needs 4 places at once, and 4 of its pods fit now: it waits"),
        (7, 6, 100, "needs 6 places at once, and 5 of its pods fit now; w5 does not:"),
        (
            7,
            6,
            2,
            "needs 6 places at once; the first 2 of its pods fit now, and no more",
        ),
    ],
)
def test_a_gang_is_told_by_what_it_needs_and_by_what_was_looked_at(
    count, least, tried, said, monkeypatch
):
    monkeypatch.setattr("scheduler.analysis.explain.places.MOST_TRIED", tried)
    world = gang(count, least)
    found = [one.text for one in together(world, Key("Pod", "default", "w0"))]
    assert said in found[0]
