"""Questions that people ask in public, each answered by one command in ten lines.

docs/questions.md has the same rows, in the same order.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from scheduler.cli import explain, run, would
from tests.builders import (
    cluster_queue,
    flavor,
    job,
    local_queue,
    node,
    pod,
    queue_tree,
    small_cluster,
    workload_priority,
)

Manifest = dict[str, Any]
ROOT = Path(__file__).resolve().parents[3]
MOST_LINES = 10
PRIORITIES = [workload_priority("low", 1), workload_priority("high", 9)]


class Question(NamedTuple):
    """The files, what is asked of them, and what the answer has to say."""

    asked: str
    files: Callable[[], list[Manifest]]
    words: str
    says: tuple[str, ...]
    new: Manifest | None = None  # work that is not submitted yet


def queue(
    name: str, cpu: int, cohort: str = "all", **preemption: Any
) -> list[Manifest]:
    made = cluster_queue(name, cohort=cohort, cpu=cpu)
    made["spec"]["preemption"] |= preemption
    return [made, local_queue(name, cluster_queue=name)]


def gpus(count: int, name: str, **given: Any) -> Manifest:
    made = pod(name, cpu=0, **given)
    requests = {"nvidia.com/gpu": str(count)}
    made["spec"]["containers"][0]["resources"] = {
        "requests": requests,
        "limits": requests,
    }
    return made


def gpu_node(name: str, count: int = 8) -> Manifest:
    made = node(name, cpu=32)
    made["status"]["allocatable"]["nvidia.com/gpu"] = str(count)
    return made


def application(name: str, cpu: int, queue: str = "root.a", **given: Any) -> Manifest:
    made = pod(name, cpu=cpu, **given)
    made["metadata"]["labels"] = {"applicationId": name, "queue": queue}
    return made


def yunikorn(most: str = "4", submit: str = "*", **more: Any) -> list[Manifest]:
    one = {"name": "a", "resources": {"max": {"vcore": most}}, **more}
    tree = queue_tree(one, submit=submit)
    spec = {"stack": "yunikorn", "yunikorn": {"queues": tree}}
    return [{"apiVersion": "quotalab.dev/v1", "kind": "Policy", "spec": spec}]


def gang(name: str, members: int) -> Manifest:
    """A pod of an application that asks for so many at once, 2 vcore each."""
    groups = [{"name": "w", "minMember": members, "minResource": {"cpu": "2"}}]
    made = application(name, 2)
    prefix = "yunikorn.apache.org/"
    made["metadata"]["annotations"] = {
        f"{prefix}task-groups": json.dumps(groups),
        f"{prefix}task-group-name": "w",
        f"{prefix}schedulingPolicyParameters": "gangSchedulingStyle=Hard",
    }
    return made


def web(name: str, arrival: str = "0s", **spec: Any) -> Manifest:
    """A pod with the label app=web."""
    made = pod(name, cpu=1, labels={"app": "web"}, arrival=arrival, runtime="1h")
    made["spec"] |= spec
    return made


WEB = {"labelSelector": {"matchLabels": {"app": "web"}}}
SPREAD = [
    {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", **WEB}
]
APART = [{"topologyKey": "host", **WEB}]


def classed(name: str, cpu: int, of: str, **given: Any) -> Manifest:
    made = pod(name, cpu=cpu, **given)
    made["spec"]["priorityClassName"] = of
    return made


def kube_classes() -> list[Manifest]:
    return [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
        }
        for name, value in (("lo", 1), ("hi", 9))
    ]


def scheduler(plugin: str, **points: Any) -> Manifest:
    """A scheduler with one more plug-in at every point, and at these alone."""
    plugins = {"multiPoint": {"enabled": [{"name": plugin}]}}
    only = {"disabled": [{"name": "*"}], "enabled": [{"name": plugin}]}
    plugins |= dict.fromkeys(points, only)
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "default-scheduler", "plugins": plugins}],
    }


def of_group(kind: str, name: str, **spec: Any) -> Manifest:
    meta = {"name": name, "namespace": "default"}
    api = "scheduling.x-k8s.io/v1alpha1"
    return {"apiVersion": api, "kind": kind, "metadata": meta, "spec": spec}


def workers(count: int, made: Callable[[], Manifest]) -> list[Manifest]:
    found = []
    for number in range(count):
        one = made()
        one["metadata"]["name"] = f"w{number}"
        found.append(one)
    return found


def guaranteed() -> list[Manifest]:
    tree = queue_tree(
        {"name": "a", "resources": {"guaranteed": {"vcore": "4"}}}, {"name": "b"}
    )
    spec = {"stack": "yunikorn", "yunikorn": {"queues": tree}}
    return [{"apiVersion": "quotalab.dev/v1", "kind": "Policy", "spec": spec}]


def full() -> list[Manifest]:
    return [*small_cluster(cpu=4), job("held", queue="main", cpu=4, runtime="1h")]


def spec_of(made: Manifest, **fields: Any) -> Manifest:
    return {**made, "spec": {**made["spec"], **fields}}


def annotated(made: Manifest, given: dict[str, str]) -> Manifest:
    made["metadata"]["annotations"] |= given
    return made


def with_requests(made: Manifest, wanted: dict[str, str]) -> Manifest:
    resources = {"requests": wanted, "limits": wanted}
    made["spec"]["containers"][0]["resources"] = resources
    return made


def in_one_rack(made: Manifest) -> Manifest:
    asked = {"kueue.x-k8s.io/podset-required-topology": "rack"}
    made["spec"]["template"]["metadata"] = {"annotations": asked}
    return made


def deployment(
    replicas: int, labels: dict[str, str] | None = None, cpu: int = 1, **spec: Any
) -> Manifest:
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {**pod("web", cpu=cpu)["spec"], **spec},
    }
    meta = {"name": "web", "namespace": "default", "labels": labels or {}}
    selector = {"matchLabels": {"app": "web"}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": meta,
        "spec": {"replicas": replicas, "selector": selector, "template": template},
    }


QUESTIONS: dict[str, Question] = {
    "kueue#16049": Question(
        "Why does a high priority not preempt a low one of its own queue, which borrows?",
        lambda: [
            flavor(),
            *PRIORITIES,
            *queue(
                "cq1", 2, withinClusterQueue="LowerPriority", reclaimWithinCohort="Any"
            ),
            *queue("cq2", 2),
            job("low", queue="cq1", cpu=4, runtime="1h", priority_class="low"),
            job("urgent", queue="cq1", cpu=4, arrival="5s", priority_class="high"),
        ],
        "explain --at 1m --about urgent",
        (
            "4 CPU is more than its nominal quota of 2 CPU",
            "borrowWithinCohort of cq1 is Never",
        ),
    ),
    "kueue#3948": Question(
        "Whom would a guaranteed team displace that takes its quota back in a tree of cohorts?",
        lambda: [
            flavor(),
            *queue("best-effort", 0, "root"),
            *queue("guaranteed", 4, "root", reclaimWithinCohort="Any"),
            job("best-effort", queue="best-effort", cpu=4, runtime="1h"),
        ],
        "would --at 1m",
        ("It would start now", "It would preempt 1: job-best-effort-"),
        job("guaranteed", queue="guaranteed", cpu=4),
    ),
    "kueue#5289": Question(
        "Why is a job admitted that asks for more than its queue's nominal quota?",
        lambda: [
            flavor(),
            {
                "apiVersion": "kueue.x-k8s.io/v1beta2",
                "kind": "Cohort",
                "metadata": {"name": "team-ab"},
                "spec": {
                    "resourceGroups": cluster_queue("x")["spec"]["resourceGroups"]
                },
            },
            *queue("team-a", 2, "team-ab"),
            *queue("team-b", 2, "team-ab"),
            *(job(f"a{n}", queue="team-a", cpu=2, runtime="1h") for n in range(2)),
            job("b", queue="team-b", cpu=4, runtime="1h", arrival="5s"),
        ],
        "explain --at 1m --about Cohort/team-ab",
        (
            "0 wait for quota, 3 hold it.",
            "nominal quota 4 CPU",
            "8 CPU is the quota of it and of all below",
        ),
    ),
    "kueue#4580": Question(
        "When would this job start if I submitted it now?",
        full,
        "would --at 1m",
        ("start 59m", "when job-held-", "Assumed: nobody else submits anything."),
        job("mine", queue="main", cpu=4),
    ),
    "kueue#13159": Question(
        "How small must my job be to start now?",
        lambda: [*small_cluster(cpu=4), job("held", queue="main", cpu=1, runtime="1h")],
        "would --at 1m",
        ("with spec.parallelism: 3 in place of 8",),
        job("mine", queue="main", cpu=1, parallelism=8),
    ),
    "kueue#15614": Question(
        "Whom would my job displace with a higher priority?",
        lambda: [
            *small_cluster(cpu=4, within="LowerPriority"),
            *PRIORITIES,
            job("held", queue="main", cpu=4, runtime="1h", priority_class="low"),
        ],
        "would --at 1m",
        ("WorkloadPriorityClass high (9), and preempts job-held-",),
        job("mine", queue="main", cpu=4, priority_class="low"),
    ),
    "kai#2058 (a)": Question(
        "16 GPUs are free; why does a job of 8 wait?",
        lambda: [
            *(gpu_node(f"n{n}") for n in range(4)),
            *(gpus(4, f"small-{n}", runtime="1h") for n in range(4)),
            gpus(8, "big", arrival="5s"),
        ],
        "explain --at 1m --about big",
        (
            "Insufficient nvidia.com/gpu",
            "16 GPU on 4 nodes together, at most 4 GPU on one",
        ),
    ),
    "kai#2058 (b)": Question(
        "My job shows 7 of 8 workers; what is wrong?",
        lambda: [node("n", cpu=7), job("train", cpu=1, parallelism=8, runtime="1h")],
        "explain --at 1m --stack kube --about train",
        ("1 of 8 pods is on no node", "Insufficient cpu"),
    ),
    "kai#2058 (c)": Question(
        "A pod is Pending without a clear reason: diagnose it.",
        lambda: [
            node("n", cpu=4),
            {**pod("p", cpu=1), "metadata": {"name": "p", "namespace": "default"}}
            | {"spec": pod("p", cpu=1)["spec"] | {"nodeSelector": {"pool": "a"}}},
        ],
        "explain --at 1m --about p",
        ("None of 1 node takes it", "node affinity/selector"),
    ),
    "kai#2056": Question(
        "What is my queue's share right now, and why?",
        lambda: [
            flavor(),
            *queue("a", 2),
            *queue("b", 2),
            job("j", queue="a", cpu=3, runtime="1h"),
        ],
        "explain --at 1m --about a",
        ("It borrows 1 CPU of the 4 CPU that its cohort has: weighted share 250",),
    ),
    "kai#2057": Question(
        "Who waits across the tree, and what of it is used?",
        lambda: [
            flavor(),
            *queue("a", 2),
            *queue("b", 2),
            job("j", queue="a", cpu=4, runtime="1h"),
            job("starved", queue="b", cpu=2, arrival="5s"),
        ],
        "explain --at 1m --about Cohort/all",
        (
            "1 wait for quota, 1 hold it.",
            "b uses 0 CPU of its nominal 2 CPU in flavor default",
            "a borrows 2 CPU in flavor default, which may be taken back.",
        ),
    ),
    "kubernetes#4583": Question(
        "Why is a pod pending, in one sentence?",
        lambda: [node("n", cpu=1), pod("p", cpu=2)],
        "explain --at 1m",
        ("1 waits", "no node takes the pod: Insufficient cpu"),
    ),
    "yunikorn: gang over its queue": Question(
        "Why does an application with task groups never start?",
        lambda: [*yunikorn("4"), node("n", cpu=16)],
        "would --at 1m",
        (
            "It would wait, and not start",
            "larger than max queue allocation map[vcore:4000]",
        ),
        gang("gang", 5),
    ),
    "yunikorn: full queue": Question(
        "My application is Accepted and waits although nodes are free.",
        lambda: [
            *yunikorn("4"),
            node("n", cpu=16),
            application("first", 4, runtime="1h"),
            application("second", 2, arrival="5s"),
        ],
        "explain --at 1m --about root.a",
        ("Waiting: second.", "4 vcore used; max 4 vcore."),
    ),
    "no LocalQueue": Question(
        "My job stays suspended and there is no event.",
        lambda: [*small_cluster(), job("mine", queue="missing", cpu=1)],
        "explain --at 1m --about mine",
        ("there is no LocalQueue missing in namespace default",),
    ),
    "stopped queue": Question(
        "Nothing is admitted in a queue that has quota.",
        lambda: [
            *(
                one | {"spec": one["spec"] | {"stopPolicy": "Hold"}}
                if one["kind"] == "ClusterQueue"
                else one
                for one in small_cluster()
            ),
            job("mine", queue="main", cpu=1),
        ],
        "explain --at 1m --about mine",
        (
            "stopPolicy of ClusterQueue main is Hold",
            "if stopPolicy of main is None.",
        ),
    ),
    "admitted, pods pending": Question(
        "My job is admitted; why are its pods Pending?",
        lambda: [
            *small_cluster(cpu=100),
            *(node(f"n{n}", cpu=8) for n in range(2)),
            *(job(f"x{n}", queue="main", cpu=4, runtime="1h") for n in range(2)),
            job("big", queue="main", cpu=8, arrival="5s"),
        ],
        "explain --at 1m --about big",
        (
            "1 of its 1 pods is on no node",
            "8 CPU on 2 nodes together, at most 4 CPU on one",
            "with one more node like n1.",
        ),
    ),
    "threshold": Question(
        "borrowWithinCohort is set; why is nobody preempted?",
        lambda: [
            flavor(),
            *PRIORITIES,
            workload_priority("mid", 5),
            *queue(
                "a",
                2,
                reclaimWithinCohort="Any",
                borrowWithinCohort={
                    "policy": "LowerPriority",
                    "maxPriorityThreshold": 1,
                },
            ),
            *queue("b", 2),
            *queue("c", 2),
            job("held", queue="b", cpu=5, runtime="1h", priority_class="mid"),
            job("urgent", queue="a", cpu=4, arrival="5s", priority_class="high"),
        ],
        "explain --at 1m --about urgent",
        ("has priority 5", "borrowWithinCohort.maxPriorityThreshold of a is 1"),
    ),
    "known run times": Question(
        "All run times are known; when does my waiting job start?",
        lambda: [*full(), job("mine", queue="main", cpu=4, arrival="5s", runtime="1m")],
        "explain --at 1m --about mine",
        (
            "By itself it starts in 59m",
            "Run times of what runs are those that the files state",
        ),
    ),
    "no flavor matches": Question(
        "There is quota; why does no flavor match?",
        lambda: [
            flavor("default", pool="a"),
            *queue("main", 4),
            {
                **(made := job("mine", queue="main", cpu=1)),
                "spec": made["spec"]
                | {
                    "template": {
                        "spec": made["spec"]["template"]["spec"]
                        | {"nodeSelector": {"pool": "b"}}
                    }
                },
            },
        ],
        "explain --at 1m --about mine",
        ("nodeSelector asks for pool=b; nodeLabels of flavor default: pool=a",),
    ),
    "head of the line": Question(
        "Small jobs would fit; why do they wait behind a large one?",
        lambda: [
            *small_cluster(cpu=4, strategy="StrictFIFO"),
            job("held", queue="main", cpu=2, runtime="1h"),
            job("large", queue="main", cpu=4, arrival="1s"),
            job("small", queue="main", cpu=1, arrival="5s"),
        ],
        "explain --at 1m --about small",
        (
            "StrictFIFO tries nobody before job-large-",
            "if queueingStrategy of main is BestEffortFIFO.",
        ),
    ),
    "taint": Question(
        "Which taint keeps my pod away?",
        lambda: [
            node("n", cpu=4)
            | {
                "spec": {
                    "taints": [{"key": "team", "value": "a", "effect": "NoSchedule"}]
                }
            },
            pod("p", cpu=1),
        ],
        "explain --at 1m --about p",
        ("untolerated taint", "Taints that it does not tolerate: team=a:NoSchedule."),
    ),
    "quota of a namespace": Question(
        "My Job has no pods, and none is Pending; where are they?",
        lambda: [
            node("n", cpu=4),
            {
                "apiVersion": "v1",
                "kind": "ResourceQuota",
                "metadata": {"name": "few", "namespace": "default"},
                "spec": {"hard": {"pods": "0"}},
            },
            job("mine", cpu=1),
        ],
        "explain --at 1m --about mine",
        ("exceeded quota: few, requested: pods=1",),
    ),
    "kueue#2833": Question(
        "Who is before my job in the line, and who holds what it needs?",
        lambda: [
            *full(),
            job("first", queue="main", cpu=4, arrival="1s", runtime="5m"),
            job("mine", queue="main", cpu=4, arrival="5s"),
        ],
        "explain --at 1m --about mine",
        (
            "It is 2nd of 2 in its ClusterQueue, behind job-first-",
            "By itself it starts",
        ),
    ),
    "kubernetes#114788": Question(
        "The pods are to spread over zones; why does the second one wait?",
        lambda: [
            node("a", cpu=8, zone="a"),
            node("b", cpu="500m", zone="b"),
            web("w0", topologySpreadConstraints=SPREAD),
            web("w1", "5s", topologySpreadConstraints=SPREAD),
        ],
        "explain --at 1m --about w1",
        ("topology spread constraints", "1 node: Insufficient cpu"),
    ),
    "kubernetes#100400": Question(
        "Which rule between pods keeps this one away?",
        lambda: [
            node("a", cpu=8, host="a"),
            *(
                web(
                    name,
                    when,
                    affinity={
                        "podAntiAffinity": {
                            "requiredDuringSchedulingIgnoredDuringExecution": APART
                        }
                    },
                )
                for name, when in (("w0", "0s"), ("w1", "5s"))
            ),
        ],
        "explain --at 1m --about w1",
        ("anti-affinity rules", "when w0 has left"),
    ),
    "kubernetes#107888": Question(
        "The node has CPU left; why does it take no more pods?",
        lambda: [
            node("a", cpu=8)
            | {"status": {"allocatable": {"cpu": "8", "memory": "64Gi", "pods": "1"}}},
            pod("held", cpu=1, runtime="1h"),
            pod("p", cpu=1, arrival="5s"),
        ],
        "explain --at 1m --about p",
        ("Too many pods", "when held has left"),
    ),
    "kubernetes#123746": Question(
        "Why does no node match the labels that my pod asks for?",
        lambda: [
            node("a", cpu=8, pool="batch"),
            web("p", nodeSelector={"pool": "web"}),
        ],
        "explain --at 1m --about p",
        (
            "1 node: node(s) didn't match Pod's node affinity/selector",
            "Its nodeSelector asks for pool=web; those nodes have pool=batch.",
        ),
    ),
    "yunikorn-core#435": Question(
        "My application is Accepted, and the queue has room; what holds it?",
        lambda: [
            *yunikorn(maxapplications=1),
            node("n", cpu=8),
            application("held", 1, runtime="1h"),
            application("mine", 1, arrival="5s"),
        ],
        "explain --at 1m --about mine",
        (
            "root.a has as many as its maxapplications (1) lets run",
            "when held has left",
        ),
    ),
    "kai#1515 (a)": Question(
        "What evicted my workload, and when does it run again? (Kueue)",
        lambda: [
            flavor(),
            *PRIORITIES,
            *queue("q", 4, withinClusterQueue="LowerPriority"),
            job("low", queue="q", cpu=4, runtime="1h", priority_class="low"),
            job(
                "urgent",
                queue="q",
                cpu=4,
                arrival="5s",
                runtime="10m",
                priority_class="high",
            ),
        ],
        "explain --at 1m --about low",
        ("job-urgent-", "preempted it at", "InClusterQueue", "By itself it starts in"),
    ),
    "kai#1515 (b)": Question(
        "What evicted my workload? (pods)",
        lambda: [
            *kube_classes(),
            node("n", cpu=4),
            classed("low", 4, "lo", runtime="1h"),
            classed("urgent", 4, "hi", arrival="5s"),
        ],
        "explain --at 1m --about low",
        ("Pod/default/low: gone", "urgent preempted it at 5s"),
    ),
    "kai#1515 (c)": Question(
        "What evicted my workload? (YuniKorn)",
        lambda: [
            *guaranteed(),
            node("n", cpu=4),
            application("low", 2, "root.b", runtime="1h"),
            application("other", 2, "root.b", runtime="1h"),
            application("mine", 4, "root.a", arrival="5s"),
        ],
        "explain --at 5m --about low",
        ("Pod/default/low: gone", "mine preempted it at 35s"),
    ),
    "kai#2058 (d)": Question(
        "My gang of 8 has room for 7; which pod keeps it back? (Coscheduling)",
        lambda: [
            scheduler("Coscheduling", queueSort=1),
            of_group("PodGroup", "train", minMember=8),
            node("n", cpu=7),
            *workers(
                8,
                lambda: pod(
                    "w", cpu=1, labels={"scheduling.x-k8s.io/pod-group": "train"}
                ),
            ),
        ],
        "explain --at 30s --about train",
        (
            "needs 8 places at once, and 7 of its pods fit now; w7 does not",
            "1 node: Insufficient cpu",
            "with one more node like n.",
        ),
    ),
    "kai#2058 (e)": Question(
        "My gang of 8 has room for 7; what holds my pod? (YuniKorn)",
        lambda: [
            *yunikorn("100"),
            node("n", cpu=14),
            *workers(8, lambda: gang("train", 8)),
        ],
        "explain --at 30s --about w0",
        (
            "takes all places of its gang first, and has 7 of 8",
            "2 vcore asked, 0 vcore headroom",
            "The nodes together have 14 vcore: 14 vcore used.",
        ),
    ),
    "kai#2057 (b)": Question(
        "Who waits in the whole cluster, and for what? (YuniKorn)",
        lambda: [
            *yunikorn("100"),
            node("n", cpu=14),
            *workers(8, lambda: gang("train", 8)),
        ],
        "explain --at 30s",
        ("8 wait", "8: Its application takes all places of its gang first"),
    ),
    "kai#2056 (b)": Question(
        "What of its quota does my namespace use? (ElasticQuota)",
        lambda: [
            scheduler("CapacityScheduling", postFilter=1),
            of_group("ElasticQuota", "mine", min={"cpu": "2"}, max={"cpu": "4"}),
            node("n", cpu=8),
            pod("a", cpu=1, runtime="1h"),
        ],
        "explain --at 30s --about ElasticQuota/mine",
        ("1 CPU used; min 2 CPU and max 4 CPU",),
    ),
    "yunikorn: node": Question(
        "What is free on this node? (YuniKorn)",
        lambda: [*yunikorn(), node("n", cpu=8), application("a", 1, runtime="1h")],
        "explain --at 30s --about n",
        ("1 pod of YuniKorn's", "7 vcore free of 8 vcore"),
    ),
    "kueue#14965": Question(
        "A LimitRange refuses my job; which bound is it?",
        lambda: [
            *small_cluster(cpu=8),
            {
                "apiVersion": "v1",
                "kind": "LimitRange",
                "metadata": {"name": "small", "namespace": "default"},
                "spec": {"limits": [{"type": "Container", "max": {"cpu": "2"}}]},
            },
            job("mine", queue="main", cpu=4),
        ],
        "explain --about mine",
        (
            "LimitRange small sets Container max cpu=2.",
            "if each container asks for 1/2 of it",
        ),
    ),
    "namespace not selected": Question(
        "The queue has quota; why does it not take work of my namespace?",
        lambda: [
            flavor(),
            spec_of(
                cluster_queue("main"),
                namespaceSelector={"matchLabels": {"team": "a"}},
            ),
            local_queue("main", cluster_queue="main"),
            {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": "default", "labels": {"team": "b"}},
            },
            job("mine", queue="main"),
        ],
        "explain --about mine",
        (
            "namespaceSelector of main asks for team=a; labels of Namespace default: team=b",
            "if Namespace default has the labels team=a",
        ),
    ),
    "gated pods": Question(
        "Pods of my Deployment are SchedulingGated; what do they wait for?",
        lambda: [
            *small_cluster(cpu=3),
            node("n", cpu=8),
            deployment(5, {"kueue.x-k8s.io/queue-name": "main"}),
        ],
        "explain --about web",
        (
            "2 of 5 pods are on no node",
            "1 CPU asked, 0 CPU free; short by 1 CPU",
            "+2 CPU nominal quota",
        ),
    ),
    "kueue#3108": Question(
        "My job runs with fewer pods than it has; why?",
        lambda: [
            *small_cluster(cpu=3),
            annotated(
                job("mine", queue="main", parallelism=8, runtime="1h"),
                {"kueue.x-k8s.io/job-min-parallelism": "2"},
            ),
        ],
        "explain --about mine",
        ("It holds 3 CPU in flavor default.", "It runs with 3 of its 8 pods"),
    ),
    "no queue label": Question(
        "My job gets no Workload; is Kueue broken?",
        lambda: [*small_cluster(), job("mine")],
        "explain --about mine",
        ("It names no LocalQueue (label kueue.x-k8s.io/queue-name)",),
    ),
    "inactive queue": Question(
        "Why does my ClusterQueue admit nothing?",
        lambda: [*queue("main", 4), job("mine", queue="main")],
        "explain --about ClusterQueue/main",
        (
            "It admits nothing: ClusterQueue main is not active",
            "missing ResourceFlavor(s): default",
        ),
    ),
    "kai#2058 (f)": Question(
        "My job asks for one rack; why is there none? (Topology)",
        lambda: [
            spec_of(flavor("default", pool="gpu"), topologyName="racks"),
            {
                "apiVersion": "kueue.x-k8s.io/v1beta2",
                "kind": "Topology",
                "metadata": {"name": "racks"},
                "spec": {"levels": [{"nodeLabel": "rack"}]},
            },
            *queue("main", 100),
            *(node(f"n{n}", cpu=4, pool="gpu", rack=f"r{n}") for n in range(4)),
            in_one_rack(job("mine", queue="main", cpu=2, parallelism=4)),
        ],
        "explain --at 1m --about mine",
        (
            "No domain of rack takes the 4 pods",
            "places for 2",
            "if topology at rack is preferred",
        ),
    ),
    "kai#2058 (g)": Question(
        "Nodes are idle; why do none take my GPU pod? (YuniKorn)",
        lambda: [
            *yunikorn("100"),
            node("n", cpu=8),
            with_requests(application("mine", 1), {"nvidia.com/gpu": "1"}),
        ],
        "explain --at 1m --about mine",
        ("0 of 1 node would take it now.", "1 node: too small in nvidia.com/gpu."),
    ),
    "kai#2056 (c)": Question(
        "What is my queue's share right now, and why? (YuniKorn)",
        lambda: [
            *guaranteed(),
            node("n", cpu=8),
            application("one", 6, "root.a", runtime="1h"),
        ],
        "explain --at 1m --about root.a",
        (
            "6 vcore used; no max of its own and guaranteed 4 vcore.",
            "Fair share 1.5: 6 vcore of 4 vcore guaranteed.",
        ),
    ),
    "kai#2057 (c)": Question(
        "Which queues starve, and which have more than their due? (YuniKorn)",
        lambda: [
            *yunikorn(
                "100",
                queues=[
                    {"name": one, "resources": {"guaranteed": {"vcore": "4"}}}
                    for one in "bcd"
                ],
            ),
            node("n", cpu=8),
            application("one", 8, "root.a.b", runtime="1h"),
            application("two", 2, "root.a.c", arrival="5s"),
        ],
        "explain --at 20s --about root.a",
        (
            "root.a.c uses 0 vcore of its guaranteed 4 vcore",
            "root.a.b uses 8 vcore, 4 vcore more than its guaranteed 4 vcore",
            "root.a.d leaves 4 vcore",
        ),
    ),
    "kai#2057 (d)": Question(
        "Which namespaces use what of their quota? (ElasticQuota)",
        lambda: [
            scheduler("CapacityScheduling", postFilter=1),
            *(
                of_group("ElasticQuota", name, min={"cpu": "2"}, max={"cpu": "4"})
                | {"metadata": {"name": name, "namespace": name}}
                for name in "ab"
            ),
            node("n", cpu=8),
            pod("p", cpu=3, namespace="a", runtime="1h"),
        ],
        "explain --at 30s --about ElasticQuota/",
        (
            "ElasticQuota/a/a",
            "3 CPU used; min 2 CPU and max 4 CPU.",
            "ElasticQuota/b/b",
            "0 CPU used",
        ),
    ),
    "kai#1515 (d)": Question(
        "Would my pods start if I submitted them, and when? (kube-scheduler)",
        lambda: [node("n", cpu=4), pod("held", cpu=3, runtime="1h")],
        "would --at 1m",
        (
            "start 59m2s after it is submitted, when held has left",
            "Insufficient cpu",
            "with 1/2 of what each pod asks",
        ),
        pod("mine", cpu=2),
    ),
    "kai#1515 (e)": Question(
        "Would my application start if I submitted it, and when? (YuniKorn)",
        lambda: [
            *yunikorn("4"),
            node("n", cpu=16),
            application("held", 3, runtime="1h"),
        ],
        "would --at 1m",
        (
            "when held has left",
            "The max of root.a is 4 vcore: 3 vcore used.",
            "with 1/2 of what each pod asks",
        ),
        application("mine", 2),
    ),
    "kai#1515 (f)": Question(
        "What waits in the whole cluster, and for what? (Kueue)",
        lambda: [
            *full(),
            *(job(f"j{n}", queue="main", cpu=4, arrival="5s") for n in range(3)),
            job("lost", queue="missing"),
        ],
        "explain --at 1m",
        (
            "4 wait",
            "3: not enough quota is free: cpu in default",
            "LocalQueue missing doesn't exist",
        ),
    ),
    "kai#1515 (g)": Question(
        "What waits in the whole cluster, and for what? (kube-scheduler)",
        lambda: [
            node("n", cpu=4),
            pod("held", cpu=4, runtime="1h"),
            *(pod(f"p{n}", cpu=1, arrival="5s") for n in range(3)),
            web("q", "5s", nodeSelector={"pool": "web"}),
        ],
        "explain --at 1m",
        (
            "4 wait",
            "3: no node takes the pod: Insufficient cpu",
            "1: no node takes the pod: node(s) didn't match",
        ),
    ),
    "kubernetes#116982": Question(
        "A pod is Pending without any event; is a scheduler there for it?",
        lambda: [node("n", cpu=4), web("p", schedulerName="mine")],
        "explain --about p",
        (
            "Its schedulerName is mine, and no scheduler of this world has that name",
            "with no schedulerName",
        ),
    ),
    "kubernetes#97182": Question(
        "Why does a pod of high priority not preempt?",
        lambda: [
            *kube_classes(),
            {
                **kube_classes()[1],
                "metadata": {"name": "polite"},
                "preemptionPolicy": "Never",
            },
            node("n", cpu=4),
            classed("low", 4, "lo", runtime="1h"),
            classed("p", 4, "polite", arrival="5s"),
        ],
        "explain --at 1m --about p",
        ("preemptionPolicy of PriorityClass polite is Never", "when low has left"),
    ),
    "resource of no node": Question(
        "My pod asks for a device, and the nodes have some; why does it wait?",
        lambda: [
            gpu_node("n"),
            with_requests(pod("p"), {"nvidia.com/gpus": "1"}),
        ],
        "explain --about p",
        ("No node has nvidia.com/gpus; nodes have",),
    ),
    "pod of a DaemonSet": Question(
        "One pod of my DaemonSet is Pending; on which node, and why?",
        lambda: [
            node("a", cpu=4),
            node("b", cpu=2),
            {
                **deployment(1),
                "kind": "DaemonSet",
                "spec": {
                    name: value
                    for name, value in deployment(1, cpu=3)["spec"].items()
                    if name != "replicas"
                },
            },
        ],
        "explain --about web",
        ("1 of 2 pods is on no node", "Insufficient cpu", "It may go to b alone."),
    ),
    "node that is gone": Question(
        "Pods of my Deployment come and go; why does none start?",
        lambda: [node("n", cpu=4), deployment(1, nodeName="gone")],
        "explain --about web",
        ("Its nodeName is gone, and there is no node gone", "with no nodeName"),
    ),
    "yunikorn-core#33": Question(
        "My application is Rejected; what is wrong with its queue?",
        lambda: [*yunikorn(), node("n", cpu=8), application("mine", 1, "root.typo")],
        "explain --about mine",
        (
            "leads to root.typo, which is not there",
            "Queues that user nobody may submit to: root.a.",
        ),
    ),
    "yunikorn: submitacl": Question(
        "My application is Rejected, and its queue is there.",
        lambda: [
            *yunikorn(submitacl="sue", submit=""),
            node("n", cpu=8),
            application("mine", 1),
        ],
        "explain --about mine",
        ("User nobody may not submit to root.a",),
    ),
    "yunikorn: no guarantee": Question(
        "My queue waits, and another one has all; why is nobody preempted?",
        lambda: [
            *yunikorn("100", queues=[{"name": "b"}, {"name": "c"}]),
            node("n", cpu=4),
            application("held", 4, "root.a.b", runtime="1h"),
            application("mine", 2, "root.a.c", arrival="5s"),
        ],
        "explain --at 1m --about mine",
        (
            "Nobody would be preempted",
            "Neither root.a.c nor a queue above it has guaranteed resources",
        ),
    ),
    "yunikorn: preemption.policy": Question(
        "My queue has guaranteed resources; why is nobody preempted?",
        lambda: [
            *yunikorn(
                "100",
                queues=[
                    {"name": "b", "properties": {"preemption.policy": "disabled"}},
                    {"name": "c", "resources": {"guaranteed": {"vcore": "4"}}},
                ],
            ),
            node("n", cpu=4),
            application("held", 4, "root.a.b", runtime="1h"),
            application("mine", 2, "root.a.c", arrival="5s"),
        ],
        "explain --at 1m --about mine",
        ("preemption.policy of root.a.b is disabled: its pods stay.",),
    ),
}


@pytest.mark.parametrize("source", QUESTIONS)
def test_the_question_is_answered_by_its_command_in_ten_lines(source, tmp_path):
    question = QUESTIONS[source]
    world, new = tmp_path / "world.yaml", tmp_path / "new.yaml"
    world.write_text(yaml.safe_dump_all(question.files()))
    verb, *words = question.words.split()
    out = io.StringIO()
    if question.new is not None:
        new.write_text(yaml.safe_dump(question.new))
        words = [str(new), "--on", str(world), *words]
    else:
        words = [str(world), *words]
    {"explain": explain, "would": would, "run": run}[verb].main(words, out)
    lines = out.getvalue().splitlines()
    first = "\n".join(lines[:MOST_LINES])
    assert [part for part in question.says if part not in first] == [], out.getvalue()


def test_the_documents_have_the_same_questions_in_the_same_order():
    text = (ROOT / "docs/questions.md").read_text()
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")][
        2:
    ]
    found = [(row[0].removeprefix("| "), row[1]) for row in rows]
    assert found == [(source, one.asked) for source, one in QUESTIONS.items()]
