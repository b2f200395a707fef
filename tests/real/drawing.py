"""Draws scripts by a seed: kinds of jobs x what is done to them and to what they wait for.

`python -m tests.real.drawing FOLDER --seed N --count M` writes M scripts. Equal seeds
give equal scripts. A script is a small cluster, one to three jobs, and two to four acts
some seconds apart, with a look after each.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from api.proving.playing import FRAMEWORKS

Document = dict[str, Any]
Step = dict[str, Any]
_QUEUE = "kueue.x-k8s.io/queue-name"
_CLASS = "kueue.x-k8s.io/priority-class"
_GROUP = "kueue.x-k8s.io/pod-group"
_FRAMEWORKS = {
    "JobSet": "jobset.x-k8s.io/jobset",
    "PyTorchJob": "kubeflow.org/pytorchjob",
    "RayJob": "ray.io/rayjob",
    "RayCluster": "ray.io/raycluster",
}
_OTHERS = tuple(_FRAMEWORKS)
_OWNERS = ("Job", "Deployment", "StatefulSet", *_OTHERS)


def main() -> None:
    """Write scripts into a folder."""
    parser = argparse.ArgumentParser("python -m tests.real.drawing")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=10)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for number in range(options.count):
        script = draw(options.seed, number)
        file = options.folder / f"{script['name']}.yaml"
        file.write_text(json.dumps(script, indent=1) + "\n")  # JSON is YAML


def draw(seed: int, number: int) -> Document:
    """Return the script with a number of those of a seed."""
    return _Draw(Random(f"{seed}/{number}"), f"drawn-{seed}-{number:03}").script()


class _Draw:
    def __init__(self, random: Random, name: str) -> None:
        self.random, self.name = random, name
        self.steps: list[Step] = []
        self.jobs: list[Document] = []
        kinds = ("Job", "Job", "Job", "Deployment", "StatefulSet", "Pod", "group")
        #: Jobs of others are by themselves: nobody makes their pods there.
        self.kinds = _OTHERS if random.random() < 0.2 else kinds
        self.done: list[str] = []

    def script(self) -> Document:
        self.steps.append({"apply": self._cluster()})
        for letter in "abc"[: self.random.choice((1, 2, 2, 3))]:
            self._create(letter)
            self._look(self.random.choice((3, 4, 5)), "made " + letter)
        acts = self._acts()
        for _ in range(self.random.choice((2, 3, 3, 4))):
            act = self.random.choice(acts)
            if act(self) is not False:
                self._look(self.random.choice((3, 4, 6)), act.__name__.strip("_"))
        script: Document = {"name": self.name, "steps": self.steps}
        if self.kinds is _OTHERS:
            frameworks = [*FRAMEWORKS, *_FRAMEWORKS.values()]
            script["config"] = {"integrations": {"frameworks": frameworks}}
        elif config := self.random.choice((None, None, None, _READY)):
            script["config"] = config
        return script

    def _look(self, seconds: int, label: str) -> None:
        self.steps += [{"advance": seconds}, {"see": label}]

    # -- the cluster -----------------------------------------------------------

    def _cluster(self) -> list[Document]:
        cohort = self.random.choice(("", "co", "co"))
        within = self.random.choice(("Never", "LowerPriority", "LowerPriority"))
        reclaim = self.random.choice(("Never", "Any", "LowerPriority"))
        return [
            self._node("n1"),  # of two equal nodes a pod gets any
            {"apiVersion": _KUEUE, "kind": "ResourceFlavor", "metadata": {"name": "f"}},
            *(_priority_class(*one) for one in (("low", 1), ("high", 100))),
            self._queue("cq", self.random.choice((2, 3, 4)), cohort, within, reclaim),
            self._queue("o", self.random.choice((0, 2, 3)), cohort, within, reclaim),
            _local_queue("lq", "cq"),
            _local_queue("lq2", "o"),
        ]

    def _node(self, name: str) -> Document:
        cpu = str(self.random.choice((2, 3, 16)))
        labels = {"kubernetes.io/hostname": name}
        allocatable = {"cpu": cpu, "memory": "64Gi", "pods": "110"}
        metadata = {"name": name, "labels": labels}
        status = {"allocatable": allocatable, "capacity": allocatable}
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": metadata,
            "status": status,
        }

    def _queue(
        self, name: str, cpu: int, cohort: str, within: str, reclaim: str
    ) -> Document:
        resources = [{"name": "cpu", "nominalQuota": str(cpu)}]
        flavors = [{"name": "f", "resources": resources}]
        spec: Document = {
            "namespaceSelector": {},
            "resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavors}],
            "preemption": {"withinClusterQueue": within},
        }
        if cohort:
            spec["cohortName"] = cohort
            spec["preemption"]["reclaimWithinCohort"] = reclaim
        return {
            "apiVersion": _KUEUE,
            "kind": "ClusterQueue",
            "metadata": {"name": name},
            "spec": spec,
        }

    # -- jobs --------------------------------------------------------------------

    def _create(self, name: str) -> None:
        kind = self.random.choice(self.kinds)
        labels = {_QUEUE: self.random.choice(("lq", "lq", "lq2"))}
        if self.random.random() < 0.4:
            labels[_CLASS] = self.random.choice(("low", "high"))
        pods = self.random.choice((1, 2, 2, 3))
        made = _MAKERS[kind](self.random, name, labels, pods)
        self.jobs.append({"kind": kind, "name": name, "pods": pods, "made": made})
        self.steps.append({"apply": made})

    def _acts(self) -> list[Callable[[_Draw], Any]]:
        always = [_drain, _resume, _edit_quota, _edit_cohort, _stop_node, _move]
        always += [_evict, _delete, _prioritise, _delete_workload, _queue_again]
        if self.kinds is _OTHERS:
            return always
        always += [_finish, _fail, _delete_pod]
        kinds = {job["kind"] for job in self.jobs}
        if kinds & {"Deployment", "StatefulSet"}:
            always += [_scale, _scale, _roll, _roll]
        if "Job" in kinds:
            always += [_suspend, _resize, _again]
        return always

    def one(self, *kinds: str) -> Document | None:
        found = [job for job in self.jobs if not kinds or job["kind"] in kinds]
        return self.random.choice(found) if found else None

    def patch(self, job: Document, body: Document) -> None:
        self.change(job["kind"], job["name"], body)

    def change(
        self, kind: str, name: str, body: Document, namespace: str = "default"
    ) -> None:
        given = {"kind": kind, "name": name, "type": "merge", "body": body}
        self.steps.append(
            {"patch": given | ({"namespace": namespace} if namespace else {})}
        )


_KUEUE = "kueue.x-k8s.io/v1beta2"
_READY = {
    "waitForPodsReady": {
        "timeout": "8s",
        "requeuingStrategy": {"backoffBaseSeconds": 2, "backoffLimitCount": 2},
    }
}


def _priority_class(name: str, value: int) -> Document:
    kind = "WorkloadPriorityClass"
    return {
        "apiVersion": _KUEUE,
        "kind": kind,
        "metadata": {"name": name},
        "value": value,
    }


def _local_queue(name: str, queue: str) -> Document:
    return {
        "apiVersion": _KUEUE,
        "kind": "LocalQueue",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"clusterQueue": queue},
    }


def _spec(restart: str) -> Document:
    resources = {"requests": {"cpu": "1"}}
    return {
        "restartPolicy": restart,
        "terminationGracePeriodSeconds": 1,
        "containers": [{"name": "c", "image": "i", "resources": resources}],
    }


def _job(random: Random, name: str, labels: Document, pods: int) -> list[Document]:
    noted = {"quotalab.dev/runtime": "600s"}
    if random.random() < 0.15:
        noted["quotalab.dev/ready-after"] = "60s"
    spec: Document = {
        "parallelism": pods,
        "completions": pods,
        "template": {"metadata": {"annotations": noted}, "spec": _spec("Never")},
    }
    if random.random() < 0.3:
        spec["completionMode"] = "Indexed"
    metadata = {"name": name, "namespace": "default", "labels": labels}
    metadata["annotations"] = dict(noted)
    return [
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}
    ]


def _set(kind: str) -> Callable[[Random, str, Document, int], list[Document]]:
    def made(random: Random, name: str, labels: Document, pods: int) -> list[Document]:
        template = {"metadata": {"labels": {"app": name}}, "spec": _spec("Always")}
        spec: Document = {
            "replicas": pods,
            "selector": {"matchLabels": {"app": name}},
            "template": template,
        }
        if kind == "StatefulSet":
            spec["serviceName"] = name
            if random.random() < 0.4:
                spec["podManagementPolicy"] = "Parallel"
        elif random.random() < 0.3:
            spec["strategy"] = {"type": "Recreate"}
        metadata = {"name": name, "namespace": "default", "labels": labels}
        return [
            {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec}
        ]

    return made


def _pod(_: Random, name: str, labels: Document, __: int) -> list[Document]:
    noted = {"quotalab.dev/runtime": "600s"}
    metadata = {"name": name, "namespace": "default", "labels": labels}
    return [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {**metadata, "annotations": noted},
            "spec": _spec("Never"),
        }
    ]


def _group(random: Random, name: str, labels: Document, pods: int) -> list[Document]:
    made = []
    for number in range(pods):
        [pod] = _pod(random, f"{name}{number}", {**labels, f"{_GROUP}-name": name}, 1)
        pod["metadata"]["annotations"][f"{_GROUP}-total-count"] = str(pods)
        made.append(pod)
    return made


def _of_others(kind: str) -> Callable[[Random, str, Document, int], list[Document]]:
    """Return what makes a job of a leader and some that are equal."""

    def made(_: Random, name: str, labels: Document, pods: int) -> list[Document]:
        version, spec = _SPECS[kind](pods)
        metadata = {"name": name, "namespace": "default", "labels": labels}
        metadata["annotations"] = {"quotalab.dev/runtime": "600s"}
        return [
            {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}
        ]

    return made


def _template(restart: str) -> Document:
    noted = {"quotalab.dev/runtime": "600s"}
    return {"metadata": {"annotations": noted}, "spec": _spec(restart)}


def _jobset(pods: int) -> tuple[str, Document]:
    def role(name: str, replicas: int, each: int) -> Document:
        job = {"parallelism": each, "completions": each, "backoffLimit": 0}
        spec = {**job, "template": _template("Never")}
        return {"name": name, "replicas": replicas, "template": {"spec": spec}}

    return "jobset.x-k8s.io/v1alpha2", {
        "replicatedJobs": [role("l", 1, 1), role("w", pods - 1, 2)][: min(pods, 2)]
    }


def _torch(pods: int) -> tuple[str, Document]:
    def role(replicas: int) -> Document:
        template = _template("OnFailure")
        template["spec"]["containers"][0]["name"] = "pytorch"
        return {
            "replicas": replicas,
            "restartPolicy": "OnFailure",
            "template": template,
        }

    roles = {"Master": role(1)} | ({"Worker": role(pods - 1)} if pods > 1 else {})
    return "kubeflow.org/v1", {"runPolicy": {}, "pytorchReplicaSpecs": roles}


def _ray_cluster(pods: int) -> tuple[str, Document]:
    template = _template("Always")
    del template["spec"]["restartPolicy"]
    head = {"rayStartParams": {}, "template": template}
    worker = {**head, "groupName": "w", "replicas": pods - 1}
    worker |= {"minReplicas": pods - 1, "maxReplicas": pods - 1}
    groups = [worker] if pods > 1 else []
    return "ray.io/v1", {"headGroupSpec": head, "workerGroupSpecs": groups}


def _ray_job(pods: int) -> tuple[str, Document]:
    version, cluster = _ray_cluster(pods)
    given = {"entrypoint": "python x.py", "shutdownAfterJobFinishes": True}
    return version, {**given, "rayClusterSpec": cluster}


_SPECS: dict[str, Callable[[int], tuple[str, Document]]] = {
    "JobSet": _jobset,
    "PyTorchJob": _torch,
    "RayJob": _ray_job,
    "RayCluster": _ray_cluster,
}
_MAKERS = {
    **{kind: _of_others(kind) for kind in _OTHERS},
    "Job": _job,
    "Deployment": _set("Deployment"),
    "StatefulSet": _set("StatefulSet"),
    "Pod": _pod,
    "group": _group,
}


# -- what is done --------------------------------------------------------------


def _finish(draw: _Draw) -> None:
    """Make a short job, and look when it is long over on a busy machine, too."""
    labels = {_QUEUE: draw.random.choice(("lq", "lq2"))}
    [made] = _job(draw.random, f"z{len(draw.steps)}", labels, 1)
    noted = {"quotalab.dev/runtime": "1s"}
    made["metadata"]["annotations"] = noted
    made["spec"]["template"]["metadata"]["annotations"] = noted
    draw.steps += [{"apply": [made]}, {"advance": 8}]


def _drain(draw: _Draw) -> None:
    kind, name = draw.random.choice(
        (("ClusterQueue", "cq"), ("ClusterQueue", "o"), ("LocalQueue", "lq"))
    )
    policy = draw.random.choice(("Hold", "HoldAndDrain", "HoldAndDrain"))
    space = "default" if kind == "LocalQueue" else ""
    draw.change(kind, name, {"spec": {"stopPolicy": policy}}, space)
    draw.done.append(f"{kind}/{name}")


def _resume(draw: _Draw) -> Any:
    if not draw.done:
        return False
    kind, _, name = draw.done.pop().partition("/")
    space = "default" if kind == "LocalQueue" else ""
    return draw.change(kind, name, {"spec": {"stopPolicy": "None"}}, space)


def _edit_quota(draw: _Draw) -> None:
    name, cpu = draw.random.choice(("cq", "o")), draw.random.choice("0146")
    flavors = [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": cpu}]}]
    groups = [{"coveredResources": ["cpu"], "flavors": flavors}]
    draw.change("ClusterQueue", name, {"spec": {"resourceGroups": groups}}, "")


def _edit_cohort(draw: _Draw) -> None:
    """Put a ClusterQueue into a cohort, into another or into none."""
    cohort = draw.random.choice(("co", "co", "other", None))
    name = draw.random.choice(("cq", "o"))
    draw.change("ClusterQueue", name, {"spec": {"cohortName": cohort}}, "")


def _queue_again(draw: _Draw) -> None:
    """Delete a LocalQueue, and make it again for any of the ClusterQueues."""
    name, queue = draw.random.choice(("lq", "lq2")), draw.random.choice(("cq", "o"))
    draw.steps.append(
        {"delete": {"kind": "LocalQueue", "name": name, "namespace": "default"}}
    )
    draw.steps.append({"advance": 3})
    draw.steps.append({"apply": [_local_queue(name, queue)]})


def _stop_node(draw: _Draw) -> None:
    off = draw.random.random() < 0.7
    draw.change("Node", "n1", {"spec": {"unschedulable": off}}, "")


def _move(draw: _Draw) -> Any:
    if (job := draw.one(*_OWNERS)) is None:
        return False
    queue = draw.random.choice(("lq", "lq2", None))
    return draw.patch(job, {"metadata": {"labels": {_QUEUE: queue}}})


def _prioritise(draw: _Draw) -> Any:
    if (job := draw.one(*_OWNERS)) is None:
        return False
    name = draw.random.choice(("low", "high"))
    return draw.patch(job, {"metadata": {"labels": {_CLASS: name}}})


def _evict(draw: _Draw) -> Any:
    if (job := draw.one("Job", *_OTHERS)) is None:
        return False
    active = draw.random.random() < 0.3
    body = {"spec": {"active": active}}
    given = {"kind": "Workload", "namespace": "default", "of": job["name"]}
    return draw.steps.append({"patch": {**given, "type": "merge", "body": body}})


def _delete(draw: _Draw) -> Any:
    if (job := draw.one(*_OWNERS, "Pod")) is None:
        return False
    policy = draw.random.choice(("Background", "Background", "Foreground", "Orphan"))
    options = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": policy}
    given = {"kind": job["kind"], "name": job["name"], "namespace": "default"}
    draw.jobs.remove(job)
    return draw.steps.append({"delete": {**given, "options": options}})


def _again(draw: _Draw) -> Any:
    """Delete a Job, and make it again under the same name."""
    if (job := draw.one("Job")) is None:
        return False
    options = {"apiVersion": "v1", "kind": "DeleteOptions"}
    options["propagationPolicy"] = "Background"
    given = {"kind": "Job", "name": job["name"], "namespace": "default"}
    draw.steps.append({"delete": {**given, "options": options}})
    draw.steps.append({"advance": 4})
    return draw.steps.append({"apply": job["made"]})


def _delete_pod(draw: _Draw) -> Any:
    if (job := draw.one("Job")) is None:
        return False
    return draw.steps.append({"deletePodOf": job["name"]})


def _fail(draw: _Draw) -> None:
    """Make a Job whose pods fail, and look some seconds before the next ones come."""
    labels = {_QUEUE: draw.random.choice(("lq", "lq2"))}
    [made] = _job(
        draw.random, f"f{len(draw.steps)}", labels, draw.random.choice((1, 2))
    )
    made["spec"]["backoffLimit"] = draw.random.choice((0, 1, 6))
    noted = {"quotalab.dev/fails-after": "1s"}
    made["metadata"]["annotations"] = noted
    made["spec"]["template"]["metadata"]["annotations"] = noted
    draw.steps += [{"apply": [made]}]


def _delete_workload(draw: _Draw) -> Any:
    if (job := draw.one("Job", *_OTHERS)) is None:
        return False
    return draw.steps.append({"deleteOf": {"kind": "Workload", "of": job["name"]}})


def _scale(draw: _Draw) -> Any:
    if (job := draw.one("Deployment", "StatefulSet")) is None:
        return False
    return draw.patch(job, {"spec": {"replicas": draw.random.choice((0, 1, 2, 3, 4))}})


def _roll(draw: _Draw) -> Any:
    if (job := draw.one("Deployment", "StatefulSet")) is None:
        return False
    noted = {"v": str(draw.random.choice((1, 2, 3)))}
    return draw.patch(job, {"spec": {"template": {"metadata": {"annotations": noted}}}})


def _suspend(draw: _Draw) -> Any:
    if (job := draw.one("Job")) is None:
        return False
    return draw.patch(job, {"spec": {"suspend": draw.random.random() < 0.6}})


def _resize(draw: _Draw) -> Any:
    if (job := draw.one("Job")) is None:
        return False
    return draw.patch(job, {"spec": {"parallelism": draw.random.choice((1, 2, 3))}})


if __name__ == "__main__":
    main()
