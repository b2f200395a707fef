"""Kueue's vectors of mode `script`: edits and pods at given times, timers in between.

Source: docs/semantics/kueue-lifecycle.md#recorded-decisions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler.engine.kueue.stage import KueueStage
from scheduler.model.decisions import Admit, Decision, Evict, Preempt
from scheduler.model.durations import stamp_text
from scheduler.model.objects import Key, Object

Step = dict[str, Any]
_MOST_CYCLES = 300


class Script:
    """Plays the steps of a vector on a stage that holds its objects.

    `events` are the decisions in the order in which Kueue's are recorded.
    """

    def __init__(self, stage: KueueStage, objects: list[Object]) -> None:
        self.stage = stage
        self.objects = {obj.key: obj for obj in objects}
        self.events: list[Decision] = []
        self._play: dict[str, Callable[[Step], None]] = {
            "apply": self._apply,
            "finish": self._finish,
            "delete": self._delete,
            "ready": self._ready,
            "unready": self._ready,
            "reclaim": self._reclaim,
            "active": self._activate,
            "inactive": self._activate,
            "priority": self._prioritize,
            "queue": self._move,
        }

    def run(self, steps: list[Step], until_ms: int) -> None:
        """Go from instant to instant, the first at 0, until nothing is left to happen."""
        left = sorted(steps, key=lambda step: int(step["atMs"]))
        now: int | None = 0
        while now is not None and now <= until_ms:
            self.stage.context.now_ms = now
            while left and left[0]["atMs"] <= now:
                step = left.pop(0)
                self._play[step["op"]](step)
            self._controllers()
            self._cycles()
            due = (self.stage.due(), left[0]["atMs"] if left else None)
            now = min((at for at in due if at is not None), default=None)

    def _cycles(self) -> None:
        quiet = 0
        for _ in range(_MOST_CYCLES):
            before = self._places()
            if quiet == 2 or not self.stage.cycle():
                return
            decided = self._record()
            decided |= self._controllers()
            quiet = 0 if decided or self._places() != before else quiet + 1

    def _controllers(self) -> bool:
        """Run the controllers, evictions ending at once; return whether they decided."""
        self.stage.reconcile()
        while self.stage.stopping():
            for key in self.stage.stopping():
                self.stage.stopped(key)
            self.stage.reconcile()
        return self._record()

    def _places(self) -> dict[str, bool]:
        works = self.stage.cluster.workloads.values()
        return {
            w.name: w.pending_queue.is_inadmissible(w)
            for w in works
            if w.pending_queue is not None
        }

    def _record(self) -> bool:
        decisions = self.stage.context.journal.take_decisions()
        kept = [decision for decision in decisions if type(decision) in _ORDER]
        kept.sort(key=lambda d: (_ORDER[type(d)], d.subject.path))
        self.events.extend(kept)
        return bool(kept)

    # ---- steps ----

    def _work_key(self, step: Step) -> Key:
        namespace, _, name = step["wl"].partition("/")
        return Key("Workload", namespace, name)

    def _holds_quota(self, key: Key) -> bool:
        work = self.stage.cluster.workloads.get(key)
        return work is not None and work.reserved

    def _apply(self, step: Step) -> None:
        manifest = step["object"]
        metadata = manifest["metadata"]
        key = Key(manifest["kind"], metadata.get("namespace", ""), metadata["name"])
        if key.kind == "Workload":
            now = stamp_text(self.stage.context.now_us)
            metadata = {"creationTimestamp": now, **metadata}
            manifest = {**manifest, "metadata": metadata}
        obj = Object(key=key, manifest=manifest)
        self.objects[key] = obj
        self.stage.put(obj)
        if key.kind == "WorkloadPriorityClass":
            self._reprice(key.name, manifest["value"])

    def _reprice(self, name: str, value: int) -> None:
        for key, obj in list(self.objects.items()):
            reference = obj.manifest.get("spec", {}).get("priorityClassRef") or {}
            if reference.get("name") == name:
                self._edit(key, priority=value)

    def _edit(self, key: Key, **spec: Any) -> None:
        """Write fields of a workload's spec, as somebody who read it just now."""
        obj = self.objects.get(key)
        if obj is None or key not in self.stage.cluster.workloads:
            return
        self.stage.write(obj)
        obj.manifest = {**obj.manifest, "spec": {**obj.spec, **spec}}
        self.stage.put(obj)

    def _finish(self, step: Step) -> None:
        key = self._work_key(step)
        if self._holds_quota(key):
            self.stage.finish(key)

    def _delete(self, step: Step) -> None:
        key = self._work_key(step)
        self.stage.remove(key)
        self.objects.pop(key, None)

    def _ready(self, step: Step) -> None:
        key = self._work_key(step)
        work = self.stage.cluster.workloads.get(key)
        if work is not None and work.has_condition("Admitted") and not work.evicted:
            self.stage.pods_ready(key, step["op"] == "ready")

    def _reclaim(self, step: Step) -> None:
        key = self._work_key(step)
        obj = self.objects.get(key)
        if obj is None or key not in self.stage.cluster.workloads:
            return
        self.stage.write(obj)
        known = obj.status.get("reclaimablePods") or []
        counts = {item["name"]: item["count"] for item in known}
        name = step["podSet"]
        counts[name] = max(step["count"], counts.get(name, 0))
        pods = [{"name": name, "count": count} for name, count in counts.items()]
        obj.status = {**obj.status, "reclaimablePods": pods}
        self.stage.put(obj)

    def _activate(self, step: Step) -> None:
        self._edit(self._work_key(step), active=step["op"] == "active")

    def _prioritize(self, step: Step) -> None:
        self._edit(self._work_key(step), priority=step["count"])

    def _move(self, step: Step) -> None:
        key = self._work_key(step)
        if not self._holds_quota(key):
            self._edit(key, queueName=step["name"])


#: What is recorded, and its order in one pass.
_ORDER: dict[type, int] = {Admit: 0, Preempt: 1, Evict: 2}
