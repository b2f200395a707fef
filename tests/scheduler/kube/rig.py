"""A scheduler with a few nodes and a clock of its own: put, run, look."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from scheduler.engine.kube.cache.cluster import sum_violations
from scheduler.engine.kube.extender.ports import Port
from scheduler.engine.kube.stage import KubeStage
from scheduler.engine.stage import Context
from scheduler.model.decisions import Bind, Decision, Evict, Fail, Preempt
from scheduler.model.objects import Key, Object
from scheduler.model.policy import Policy, PolicySpec, Simulation
from scheduler.model.releases.release import NO_RELEASE, Release

Manifest = dict[str, Any]


def node(
    name: str,
    *,
    cpu: str | int = "4",
    memory: str = "16Gi",
    pods: int = 110,
    gpu: int = 0,
    labels: dict[str, str] | None = None,
    taints: list[Manifest] | None = None,
    unschedulable: bool = False,
) -> Manifest:
    allocatable = {"cpu": str(cpu), "memory": memory, "pods": str(pods)}
    if gpu:
        allocatable["nvidia.com/gpu"] = str(gpu)
    spec: Manifest = {}
    if taints:
        spec["taints"] = taints
    if unschedulable:
        spec["unschedulable"] = True
    return {
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name, **(labels or {})},
        },
        "spec": spec,
        "status": {"allocatable": allocatable},
    }


def pod(
    name: str,
    *,
    cpu: str | int | None = "1",
    memory: str | None = None,
    gpu: int = 0,
    priority: int = 0,
    labels: dict[str, str] | None = None,
    group: str = "",
    scheduler: str = "default-scheduler",
    **spec: Any,
) -> Manifest:
    requests: Manifest = {}
    if cpu is not None:
        requests["cpu"] = str(cpu)
    if memory is not None:
        requests["memory"] = memory
    if gpu:
        requests["nvidia.com/gpu"] = str(gpu)
    names = dict(labels or {})
    if group:
        names["scheduling.x-k8s.io/pod-group"] = group
    return {
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"uid-{name}",
            "labels": names,
        },
        "spec": {
            "schedulerName": scheduler,
            "priority": priority,
            "containers": [{"name": "c", "resources": {"requests": requests}}],
            **spec,
        },
    }


def pod_group(name: str, minimum: int, **spec: Any) -> Manifest:
    return {
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"minMember": minimum, **spec},
    }


def profile(name: str = "default-scheduler", **more: Any) -> Manifest:
    return {"schedulerName": name, **more}


GANG_PLUGINS = {
    "multiPoint": {"enabled": [{"name": "Coscheduling"}]},
    "queueSort": {"enabled": [{"name": "Coscheduling"}], "disabled": [{"name": "*"}]},
}


class Rig:
    """The stage, its objects, and what a lifetime would do for its pods."""

    def __init__(
        self,
        *manifests: Manifest,
        configuration: Manifest | None = None,
        port: Port | None = None,
        seed: int = 1,
        release: Release = NO_RELEASE,
        **simulation: Any,
    ) -> None:
        self.policy = Policy(
            spec=PolicySpec(
                stack="kube",
                kube_scheduler=configuration or {},
                simulation=Simulation(**simulation),
            )
        )
        self.port = port
        self.context = Context(seed=seed, epoch_us=0, decides_as=release)
        self.stage = KubeStage(self.context, self.policy, port)
        self.objects: dict[Key, Object] = {}
        self.decisions: list[Decision] = []
        for manifest in manifests:
            self.put(manifest)

    def put(self, manifest: Manifest) -> Key:
        kind = manifest["kind"]
        metadata = manifest["metadata"]
        namespace = "" if kind == "Node" else metadata.get("namespace", "default")
        key = Key(kind, namespace, metadata["name"])
        known = self.objects.get(key)
        status = dict(manifest.get("status") or (known.status if known else {}))
        data = {k: v for k, v in manifest.items() if k != "status"}
        state = known.state if known else {}
        obj = Object(key=key, manifest=data, status=status, state=state)
        self.objects[key] = obj
        self.stage.put(obj)
        return key

    def remove(self, key: Key) -> None:
        self.objects.pop(key, None)
        self.stage.remove(key)

    def settle(self) -> list[Decision]:
        """Run the present instant until it is quiet; pods asked to go are gone."""
        journal = self.context.journal
        found: list[Decision] = []
        for _ in range(200):
            self.stage.schedule()
            fresh = journal.take_decisions()
            found += fresh
            for decision in fresh:
                self._react(decision)
            due = self.stage.due()
            if due is None or due > self.context.now_ms:
                break
        self.decisions += found
        return found

    def _react(self, decision: Decision) -> None:
        key = decision.subject
        if isinstance(decision, Bind):
            self.objects[key].manifest["spec"]["nodeName"] = decision.node
        elif (isinstance(decision, Preempt | Evict) and key in self.objects) or (
            isinstance(decision, Fail) and decision.node
        ):
            self.remove(key)

    def run(self, until_ms: int) -> list[Decision]:
        """Go from instant to instant."""
        found = self.settle()
        while (due := self.stage.due()) is not None and due <= until_ms:
            self.context.now_ms = max(due, self.context.now_ms)
            found += self.settle()
        self.context.now_ms = until_ms
        return found

    def places(self) -> dict[str, str]:
        """Return where every bound pod stands."""
        return {
            key.name: where
            for key, (_, where) in sorted(self.stage.nodes.placed.items())
            if not any(key in p.assumed for p in self.stage.schedulers)
        }

    def pending(self) -> dict[str, str]:
        """Return what every queued pod was answered last."""
        return {
            key.name: queued.message
            for scheduler in self.stage.schedulers
            for key, queued in sorted(scheduler.queue.entries.items())
        }

    def write(self) -> None:
        """Write what was touched, and nothing else, as a world does."""
        stale = self.context.journal.stale
        for key in stale:
            if key in self.objects:
                self.stage.write(self.objects[key])
        stale.clear()

    def restarted(self) -> Rig:
        """Return a rig that knows only what this one wrote."""
        self.write()
        other = Rig.__new__(Rig)
        other.policy, other.port = self.policy, self.port
        other.context = Context(
            seed=self.context.seed,
            epoch_us=0,
            now_ms=self.context.now_ms,
            decides_as=self.context.decides_as,
        )
        other.decisions = list(self.decisions)
        other.stage = KubeStage(other.context, self.policy, self.port)
        plain = msgspec.msgpack.encode(self.stage.dump_state())
        other.stage.load_state(msgspec.msgpack.decode(plain))
        other.objects = {}
        for key in sorted(self.objects):
            obj = self.objects[key]
            parts = [obj.manifest, obj.status, obj.state]
            manifest, status, state = msgspec.msgpack.decode(
                msgspec.msgpack.encode(parts)
            )
            copy = Object(key=key, manifest=manifest, status=status, state=state)
            other.objects[key] = copy
            other.stage.put(copy, restore=True)
        return other

    def broken(self) -> Iterator[str]:
        for scheduler in self.stage.schedulers:
            yield from sum_violations(scheduler.cluster)
