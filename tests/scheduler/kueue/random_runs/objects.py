"""The objects of a random run, as its stage has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler.engine.kueue.stage import KueueStage
from scheduler.engine.latencies import StepTimes
from scheduler.engine.stage import Context
from scheduler.model import durations
from scheduler.model.kueue.configuration import read_configuration
from scheduler.model.objects import Key, Object
from tests.scheduler.kueue.random_runs.configurations import (
    configuration,
    policy,
    rules,
)
from tests.scheduler.kueue.random_runs.draws import CHECKS, Draw
from tests.scheduler.kueue.random_runs.said import Said
from tests.scheduler.kueue.transcripts.transcript import copy_of

EPOCH_US = durations.stamp_us("2026-01-01T00:00:00Z")


class ObjectsOfRun:
    """One stage, its objects, and the draws that edit them."""

    def __init__(self, seed: int) -> None:
        self.draw = Draw(seed)
        self.settings = read_configuration(configuration(self.draw))
        self.rules = rules(self.draw)
        self.policy = policy(self.draw)
        self.dispatched = self.draw.choice(((), (), (), CHECKS[2:]))
        self.objects: dict[Key, Object] = {}
        self.removed: list[Object] = []
        self.made = 0
        self.stage = self.new_stage(Context(seed=seed, epoch_us=EPOCH_US))
        self.transcript = Said(self.stage)

    def new_stage(self, context: Context) -> KueueStage:
        steps = StepTimes(context, self.policy) if self.policy else None
        stage = KueueStage(context, self.settings, steps, rules=self.rules)
        stage.answers.dispatched = frozenset(self.dispatched)
        return stage

    # ---- objects ----

    def put(
        self,
        kind: str,
        name: str,
        spec: dict[str, Any],
        *,
        namespace: str = "",
        labels: dict[str, str] | None = None,
        annotations: dict[str, str] | None = None,
        status: dict[str, Any] | None = None,
        owners: list[dict[str, str]] | None = None,
        **rest: Any,
    ) -> Key:
        """Put a new object, or new contents of one that is there."""
        key = Key(kind, namespace, name)
        known = self.objects.get(key)
        self.made += known is None
        metadata: dict[str, Any] = {
            "name": name,
            "labels": labels or {},
            "annotations": annotations or {},
            "ownerReferences": owners or [],
            "uid": known.uid if known else f"uid-{self.made:04d}",
            "generation": self.made,
            "creationTimestamp": (
                known.metadata["creationTimestamp"]
                if known
                else durations.stamp_text(self.stage.context.now_us)
            ),
        }
        if namespace:
            metadata["namespace"] = namespace
        kept = self._stored(known).status if known else {}
        manifest = {"kind": kind, "metadata": metadata, "spec": spec, **rest}
        obj = Object(
            key=key, manifest=manifest, status=kept if status is None else status
        )
        self.objects[key] = obj
        self.stage.put(obj)
        return key

    def _stored(self, obj: Object) -> Object:
        self.stage.write(obj)
        return obj

    def stored(self, key: Key) -> Object:
        """Return an object as it is stored now."""
        return self._stored(copy_of(self.objects[key]))

    def remove(self, key: Key) -> None:
        self.stage.remove(key)
        self.objects.pop(key, None)

    def give_back(self, obj: Object) -> None:
        """Put an object that was removed as it was, unless another one is there."""
        if obj.key not in self.objects:
            self.objects[obj.key] = obj
            self.stage.put(obj)

    def edit(self, key: Key, **spec: Any) -> None:
        """Change fields of an object's spec."""
        self._change(key, lambda obj: {"spec": {**obj.spec, **spec}})

    def annotate(self, key: Key, kind: str, given: dict[str, str]) -> None:
        """Add labels or annotations."""

        def changed(obj: Object) -> dict[str, Any]:
            both = {**obj.metadata.get(kind, {}), **given}
            return {"metadata": {**obj.metadata, kind: both}}

        self._change(key, changed)

    def _change(self, key: Key, changed: Callable[[Object], dict[str, Any]]) -> None:
        obj = self._stored(copy_of(self.objects[key]))
        obj.manifest = {**obj.manifest, **changed(obj)}
        self.objects[key] = obj
        self.stage.put(obj)

    def restate(self, key: Key, **status: Any) -> None:
        """Change fields of an object's status."""
        obj = self._stored(copy_of(self.objects[key]))
        obj.status = {**obj.status, **status}
        self.objects[key] = obj
        self.stage.put(obj)

    def keys(self, kind: str) -> list[Key]:
        return sorted(key for key in self.objects if key.kind == kind)
