"""A Kueue stage on a bench: objects by keyword, the clock by hand."""

from __future__ import annotations

from typing import Any

from scheduler.engine.kueue.stage import KueueStage
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.stage import Context
from scheduler.model import durations
from scheduler.model.decisions import Decision, Wait
from scheduler.model.kueue.configuration import read_configuration
from scheduler.model.objects import Key, Object
from scheduler.model.releases.release import NO_RELEASE, Release

EPOCH = durations.stamp_us("2026-01-01T00:00:00Z")
MOST = 50


class Rig:
    """One stage; every default is named in the builder that has it."""

    def __init__(
        self, config: dict[str, Any] | None = None, *, release: Release = NO_RELEASE
    ) -> None:
        self.context = Context(seed=7, epoch_us=EPOCH, decides_as=release)
        settings = read_configuration(config or {}, release)
        self.stage = KueueStage(self.context, settings)
        self.objects: dict[Key, Object] = {}
        self.made = 0
        self.put("Namespace", "default", {}, namespace="", labels={})
        self.put("ResourceFlavor", "f", {}, namespace="")

    # ---- objects ----

    def put(
        self,
        kind: str,
        name: str,
        spec: dict[str, Any],
        *,
        namespace: str = "default",
        labels: dict[str, str] | None = None,
        annotations: dict[str, str] | None = None,
        status: dict[str, Any] | None = None,
        **rest: Any,
    ) -> Key:
        key = Key(kind, namespace, name)
        known = self.objects.get(key)
        metadata: dict[str, Any] = {"name": name, "labels": labels or {}}
        if namespace:
            metadata["namespace"] = namespace
        if annotations:
            metadata["annotations"] = annotations
        if known is None:
            self.made += 1
        metadata["uid"] = known.uid if known else f"uid-{self.made:04d}"
        created = self.context.now_us + self.made
        metadata["creationTimestamp"] = (
            known.metadata["creationTimestamp"]
            if known
            else durations.stamp_text(created)
        )
        obj = Object(
            key=key,
            manifest={"kind": kind, "metadata": metadata, "spec": spec, **rest},
            status=status if status is not None else (known.status if known else {}),
        )
        self.objects[key] = obj
        self.stage.put(obj)
        return key

    def queue(
        self,
        name: str,
        cpu: str | int = 4,
        *,
        cohort: str = "",
        borrowing: int | None = None,
        lending: int | None = None,
        within: str = "Never",
        reclaim: str = "Never",
        stop: str = "None",
        strategy: str = "BestEffortFIFO",
        selector: dict[str, Any] | None = None,
        anywhere: bool = True,
        weight: str | int | None = None,
        flavor: str = "f",
    ) -> None:
        quota: dict[str, Any] = {"name": "cpu", "nominalQuota": cpu}
        if borrowing is not None:
            quota["borrowingLimit"] = borrowing
        if lending is not None:
            quota["lendingLimit"] = lending
        spec: dict[str, Any] = {
            "cohortName": cohort,
            "stopPolicy": stop,
            "queueingStrategy": strategy,
            "preemption": {
                "withinClusterQueue": within,
                "reclaimWithinCohort": reclaim,
            },
            "resourceGroups": [
                {
                    "coveredResources": ["cpu"],
                    "flavors": [{"name": flavor, "resources": [quota]}],
                }
            ],
        }
        if anywhere:
            spec["namespaceSelector"] = selector or {}
        if weight is not None:
            spec["fairSharing"] = {"weight": weight}
        self.put("ClusterQueue", name, spec, namespace="")
        if Key("LocalQueue", "default", name) not in self.objects:
            self.local(name)

    def local(self, name: str, *, queue: str = "", stop: str = "None") -> None:
        spec = {"clusterQueue": queue or name, "stopPolicy": stop}
        self.put("LocalQueue", name, spec)

    def workload(
        self,
        name: str,
        queue: str,
        cpu: str | int = 1,
        *,
        priority: int = 0,
        count: int = 1,
        minimum: int | None = None,
        annotations: dict[str, str] | None = None,
        status: dict[str, Any] | None = None,
        **spec: Any,
    ) -> Key:
        pod_set: dict[str, Any] = {
            "name": "main",
            "count": count,
            "template": {
                "spec": {"containers": [{"resources": {"requests": {"cpu": cpu}}}]}
            },
        }
        if minimum is not None:
            pod_set["minCount"] = minimum
        spec = {"queueName": queue, "priority": priority, "podSets": [pod_set], **spec}
        return self.put("Workload", name, spec, annotations=annotations, status=status)

    def edit(self, key: Key, **spec: Any) -> None:
        """Change fields of an object's spec."""
        obj = self.objects[key]
        changed = {**obj.spec, **spec}
        self.put(
            key.kind,
            key.name,
            changed,
            namespace=key.namespace,
            labels=obj.labels,
            status=obj.status,
        )

    # ---- time ----

    def run(self, at_s: float | None = None) -> list[tuple[str, str, str]]:
        """Go to an instant and decide until quiet; return (what, who, reason)."""
        if at_s is not None:
            self._pass_timers(round(at_s * 1000))
            self.context.now_ms = round(at_s * 1000)
        self._quiet()
        reported = self.context.journal.take_decisions()
        return [_short(d) for d in reported if not isinstance(d, Wait)]

    def waits(self, at_s: float) -> list[tuple[str, str, str]]:
        """Go to an instant; return whose reason to wait was reported."""
        self.context.now_ms = round(at_s * 1000)
        self._quiet()
        reported = self.context.journal.take_decisions()
        return [_short(d) for d in reported if isinstance(d, Wait)]

    def _pass_timers(self, until: int) -> None:
        while (at := self.stage.due()) is not None and at <= until:
            self.context.now_ms = max(at, self.context.now_ms)
            self._quiet()

    def _quiet(self) -> None:
        self.controllers()
        quiet = 0
        for _ in range(MOST):
            before = len(self.context.journal.decisions)
            if not self.stage.cycle():
                return
            self.controllers()
            fresh = self.context.journal.decisions[before:]
            moved = any(not isinstance(d, Wait) for d in fresh)
            quiet = 0 if moved else quiet + 1
            if quiet == 2:
                return
        raise AssertionError(f"not quiet after {MOST} cycles")

    def controllers(self) -> None:
        self.stage.reconcile()
        while self.stage.stopping():
            for key in self.stage.stopping():
                self.stage.stopped(key)
            self.stage.reconcile()

    # ---- looking ----

    def work(self, name: str) -> WorkloadInfo:
        return self.stage.cluster.workloads[Key("Workload", "default", name)]

    def runs(self) -> list[str]:
        return sorted(key.name for key in self.stage.admitted())

    def condition(
        self, name: str, kind: str = "QuotaReserved"
    ) -> tuple[bool, str, str]:
        condition = self.work(name).conditions[kind]
        return condition.status, condition.reason, condition.message

    def used(self, name: str) -> int:
        return self.stage.cluster.forest.queues[name].resource_nodes["f", "cpu"].usage

    def status(self, kind: str, name: str, namespace: str = "") -> dict[str, Any]:
        obj = self.objects[Key(kind, namespace, name)]
        self.stage.write(obj)
        return obj.status


def _short(decision: Decision) -> tuple[str, str, str]:
    return type(decision).__name__, decision.subject.name, decision.reason
