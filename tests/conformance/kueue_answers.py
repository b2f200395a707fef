"""The script of a timed vector: edits, and what admission checks answer.

Source: docs/semantics/kueue-admission-checks.md#recorded-answers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler.engine.kueue.stage import KueueStage
from scheduler.model.kueue.check_state import CheckState
from scheduler.model.objects import Key, Object

Step = dict[str, Any]


class Answers:
    """Plays steps: at an instant, or some time after a workload's n-th reservation."""

    def __init__(
        self, stage: KueueStage, objects: list[Object], steps: list[Step]
    ) -> None:
        self.stage = stage
        self.objects = {obj.key: obj for obj in objects}
        self.last: Object | None = None  # what this step put
        self.steps = steps
        self.attempts: dict[Key, int] = {}
        self.timed = [(s["atMs"], at) for at, s in enumerate(steps) if "atMs" in s]
        self.after: dict[tuple[Key, int], list[int]] = {}
        for at, step in enumerate(steps):
            if "attempt" in step:
                known = (_key(step["wl"]), int(step["attempt"]))
                self.after.setdefault(known, []).append(at)
        self._play: dict[str, Callable[[Step], None]] = {
            "active": self._activate,
            "apply": self._apply,
            "check": self._answer,
            "delete": self._delete,
            "inactive": self._activate,
        }

    def due(self) -> int | None:
        """Return the next instant (ms) with a step, or None."""
        return min((at for at, _ in self.timed), default=None)

    def take(self, now_ms: int) -> list[Step]:
        """Return the steps due by now, as listed."""
        due = sorted(index for at, index in self.timed if at <= now_ms)
        self.timed = [item for item in self.timed if item[0] > now_ms]
        return [self.steps[index] for index in due]

    def reserved(self, key: Key, now_ms: int) -> None:
        """Note that a workload got its next reservation."""
        number = self.attempts[key] = self.attempts.get(key, 0) + 1
        for index in self.after.get((key, number), ()):
            self.timed.append((now_ms + int(self.steps[index]["afterMs"]), index))

    def play(self, step: Step) -> None:
        """Do one step; nothing where it does not apply."""
        self.last = None
        self._play[step["op"]](step)

    def _answer(self, step: Step) -> None:
        key = _key(step["wl"])
        work = self.stage.cluster.workloads.get(key)
        if work is None or not (work.reserved or step.get("force")):
            return
        if step.get("attempt", self.attempts.get(key)) != self.attempts.get(key):
            return
        answer = CheckState(
            state=step["state"],
            message=step.get("message") or "",
            since_us=0,
            pod_set_updates=tuple(step.get("podSetUpdates") or ()),
            requeue_after_s=step.get("requeueAfterSeconds"),
        )
        self.stage.answer_check(key, step["check"], answer)

    def _apply(self, step: Step) -> None:
        manifest = step["object"]
        metadata = manifest["metadata"]
        key = Key(manifest["kind"], metadata.get("namespace", ""), metadata["name"])
        status = manifest.get("status") or {}
        self._put(Object(key=key, manifest=manifest, status=status))

    def _put(self, obj: Object) -> None:
        self.objects[obj.key] = self.last = obj
        self.stage.put(obj)

    def _delete(self, step: Step) -> None:
        if "wl" in step:
            key = _key(step["wl"])
            if key not in self.stage.cluster.workloads:
                return  # it arrives later
        else:
            namespace, _, name = step["name"].rpartition("/")
            key = Key(step["kind"], namespace, name)
        self.stage.remove(key)
        self.objects.pop(key, None)

    def _activate(self, step: Step) -> None:
        key = _key(step["wl"])
        obj = self.objects.get(key)
        if obj is None or key not in self.stage.cluster.workloads:
            return
        self.stage.write(obj)
        active = step["op"] == "active"
        obj.manifest = {**obj.manifest, "spec": {**obj.spec, "active": active}}
        self._put(obj)


def _key(name: str) -> Key:
    namespace, _, rest = name.partition("/")
    return Key("Workload", namespace, rest)
