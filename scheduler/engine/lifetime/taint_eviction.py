"""Driving off: pods leave a node that is tainted NoExecute, at once or in a while."""

from __future__ import annotations

from collections.abc import Iterable

from scheduler.engine.lifetime.continuing import RunContinuing
from scheduler.engine.lifetime.runs import Due
from scheduler.engine.lifetime.runtime_state import NODE
from scheduler.model.decisions import Evict
from scheduler.model.objects import Key, Object
from scheduler.model.selectors import (
    Taint,
    Toleration,
    read_taints,
    read_tolerations,
)

DRIVEN_OFF = "DeletionByTaintManager"
_SENTENCE = "Taint manager: deleting due to NoExecute taint"
_NO_EXECUTE = "NoExecute"
#: What the API server lets every pod tolerate for a while that says nothing of it.
_USUAL = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_USUAL_S = 300


class TaintEviction(RunContinuing):
    """Keeps, per pod that must leave, since when and at which instant.

    Source: <https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/>
    """

    def judge_node(self, node: Object) -> None:
        """Look at every pod of a node that is new or changed."""
        name = node.key.name
        if any(t.effect == _NO_EXECUTE for t in taints_of(node)) or self.leaving:
            for pod in sorted(key for key, at in self.placed.items() if at == name):
                self.judge_pod(pod)

    def judge_pod(self, pod: Key) -> None:
        """Send the pod off, set or forget the instant at which it goes."""
        obj = self.host.objects.get(pod)
        node = self.host.objects.get(Key(NODE, "", self.placed.get(pod, "")))
        if obj is None or node is None:
            return
        if not node.spec.get("taints") and pod not in self.leaving:
            return
        seconds = tolerated_s(taints_of(node), tolerations_of(obj))
        now = self.context.now_ms
        since = self.leaving.get(pod, (now, now))[0]
        if seconds is None:
            self._may_stay(pod)
        elif since + seconds * 1000 <= now:
            self.drive_off(pod)
        else:
            self._leaves(pod, since, since + seconds * 1000)

    def _may_stay(self, pod: Key) -> None:
        if self.leaving.pop(pod, None) is not None:
            self._touch(pod)

    def _leaves(self, pod: Key, since: int, at: int) -> None:
        if self.leaving.get(pod) != (since, at):
            self.leaving[pod] = since, at
            self.timers.add(at, Due.LEAVE, pod)
            self._touch(pod)

    def drive_off(self, pod: Key) -> None:
        """Delete the pod; its owner's kind says what follows."""
        self.leaving.pop(pod, None)
        now = self.context.now_ms
        self._emit(Evict(at_ms=now, subject=pod, reason=DRIVEN_OFF, message=_SENTENCE))
        self.lose_pod(pod)


def taints_of(node: Object) -> tuple[Taint, ...]:
    """Return the taints of a Node."""
    return read_taints(node.spec.get("taints"))


def tolerations_of(pod: Object) -> tuple[Toleration, ...]:
    """Return the tolerations of a Pod, those that the API server adds included."""
    return (
        *read_tolerations(pod.spec.get("tolerations")),
        *(
            Toleration(key=key, operator="Exists", effect=_NO_EXECUTE, seconds=_USUAL_S)
            for key in _USUAL
        ),
    )


def tolerated_s(
    taints: Iterable[Taint], tolerations: tuple[Toleration, ...]
) -> int | None:
    """Return how many seconds a pod may stay; None is for ever, 0 not at all."""
    least: int | None = None
    for taint in taints:
        if taint.effect != _NO_EXECUTE:
            continue
        found = next((t for t in tolerations if t.tolerates(taint)), None)
        if found is None:
            return 0
        if found.seconds is not None:
            least = found.seconds if least is None else min(least, found.seconds)
    return None if least is None else max(0, least)
