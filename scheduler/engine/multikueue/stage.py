"""MultiKueue as a stage of the manager: dispatches, watches copies, answers checks.

Source: docs/semantics/kueue-multikueue.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler.engine.multikueue.checks import KINDS
from scheduler.engine.multikueue.copies import Dispatch
from scheduler.engine.multikueue.reconciling import WORKLOAD, Reconciling
from scheduler.engine.multikueue.workers import MultiKueueHost
from scheduler.engine.stage import Context
from scheduler.model.objects import Key, Object, cluster_of
from scheduler.model.policy import Policy


class MultiKueueStage(Reconciling):
    """Compares the manager's Workloads with their copies after each change.

    What it keeps of a Workload lies in that object's state; the workers' worlds are
    made of their objects in the manager's table.
    """

    name = "multikueue"

    def __init__(self, context: Context, policy: Policy, host: MultiKueueHost) -> None:
        super().__init__(context, policy, host)
        self._stored: dict[str, Any] = {}

    def put(self, obj: Object, *, restore: bool = False) -> None:
        """Take a check, its config or a cluster; of a Workload, where it was."""
        if obj.key.kind in KINDS:
            self.checks.put(obj)
            self._note_handled()
        elif obj.key.kind == WORKLOAD and restore and self.name in obj.state:
            self.dispatches[obj.key] = Dispatch.from_state(obj.state[self.name])

    def put_into(self, cluster: str, obj: Object) -> None:
        """Put an object, under the key that it has inside, into a worker."""
        self.workers.put(cluster, obj)
        self._note_handled()

    def remove(self, key: Key) -> None:
        """Forget an object; copies of a Workload go at the next instant."""
        if key.kind in KINDS:
            self.checks.remove(key)
            self._note_handled()
        self.dispatches.pop(key, None)

    def restore(self, objects: Iterable[Object]) -> None:
        """Make the workers, and take the checks, before any other stage restores."""
        given = sorted(objects, key=lambda obj: obj.key)
        self.workers.load(self._stored, (o for o in given if cluster_of(o.key)))
        for obj in given:
            if obj.key.kind in KINDS:
                self.checks.put(obj)
        self._note_handled()

    def _note_handled(self) -> None:
        """Have no rule answer what is answered here."""
        handled = self.checks.refresh()
        if self.host.kueue is not None:
            self.host.kueue.answers.dispatched = frozenset(handled)

    def write(self, obj: Object) -> None:
        """Write where a Workload is, or is tried, into its status and state."""
        if obj.key.kind != WORKLOAD:
            return
        found = self.dispatches.get(obj.key)
        for field in ("clusterName", "nominatedClusterNames"):
            if found is not None or self.name in obj.state:
                obj.status.pop(field, None)
        if found is None:
            obj.state.pop(self.name, None)
            return
        obj.state[self.name] = found.state()
        if found.cluster:
            obj.status["clusterName"] = found.cluster
        elif found.nominated:
            obj.status["nominatedClusterNames"] = list(found.nominated)

    def due(self) -> int | None:
        """Return when a worker, a round or the patience with a lost one is due."""
        dues = [at for key in self.dispatches if (at := self._timer(key)) is not None]
        if (at := self.workers.due()) is not None:
            dues.append(at)
        return min(dues, default=None)

    def awaited(self) -> str:
        """Return in words what `due` names."""
        if (at := self.workers.due()) is not None and at == self.due():
            return "a worker cluster that has something to do"
        return "the next round of clusters, or the end of the wait for a lost one"

    def _timer(self, key: Key) -> int | None:
        lost_until = self.lost_until_ms(key)
        return self.next_round_ms(key) if lost_until is None else lost_until

    def dump_state(self) -> dict[str, Any]:
        """Return the state of the workers' stages."""
        return self.workers.dump()

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Take back what `dump_state` returned; `restore` makes use of it."""
        self._stored = dict(state)
