"""The status and state that Kueue writes into objects, and what lies beside them."""

from __future__ import annotations

from scheduler.engine.kueue.controller import status
from scheduler.engine.kueue.controller.object_handlers import ObjectHandlers
from scheduler.engine.kueue.controller.queue_assignment import REQUEUE, TOUCHED
from scheduler.engine.kueue.workload.families import PARENT
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.kueue.workload.reading import STATUS_FIELDS, dump_state, status_of
from scheduler.model.objects import Key, Object


class StoredState:
    """Writes objects, and keeps which of them are stored with something still to do.

    A workload is stored as still to be reconciled, a ClusterQueue as still to be
    requeued; both are written again when that is done.
    """

    def __init__(self, handlers: ObjectHandlers) -> None:
        self.handlers = handlers
        self.life = handlers.life
        self.cluster = handlers.cluster
        self.name = handlers.name  # under which objects hold our state
        self._dirty: set[Key] = set()
        self._edited: set[str] = set()

    def restored(self, obj: Object) -> None:
        """Note what an object from storage still had to go through."""
        state = obj.state.get(self.name) or {}
        if state.get("dirty"):
            self._dirty.add(obj.key)
        if state.get("edited"):
            self._edited.add(obj.key.name)

    def reconciled(self, work: WorkloadInfo) -> None:
        """Have a workload written again that was stored as to be reconciled."""
        if work.key in self._dirty:
            self._dirty.discard(work.key)
            self.life.context.journal.touch(work.key)

    def requeued(self, name: str) -> bool:
        """Return whether a ClusterQueue was stored as to be requeued; once."""
        stored = name in self._edited
        self._edited.discard(name)
        return stored

    def write(self, obj: Object) -> None:
        """Write status and state of one object."""
        if obj.key.kind == "Workload":
            self._write_workload(obj)
        elif obj.key.kind in status.WRITERS:
            self.cluster.link()
            write = status.WRITERS[obj.key.kind]
            state = write(self.cluster, obj, self.life.context.now_us)
            if obj.key.kind == "ClusterQueue":
                state |= self._pending_edit(obj.key.name)
            obj.state[self.name] = state

    def _pending_edit(self, name: str) -> dict[str, int]:
        """Return what an edit of a ClusterQueue still has to bring about."""
        queue = self.cluster.forest.queues.get(name)
        edits = self.handlers.edits
        kind = edits.queues.get(name, 0)
        if name in edits.unreconciled:
            kind |= TOUCHED
        if queue in self.life.to_requeue:
            kind |= REQUEUE
        if not kind:
            return {}
        self._edited.add(name)
        return {"edited": kind}

    def _write_workload(self, obj: Object) -> None:
        work = self.cluster.workloads.get(obj.key)
        if work is None:
            return
        kept = {k: v for k, v in obj.status.items() if k not in STATUS_FIELDS}
        obj.status = {**kept, **status_of(work)}
        if not work.active or work.parent is not None:
            obj.manifest["spec"]["active"] = work.active
        if work.is_parent and obj.labels.get(PARENT) != "true":
            obj.metadata["labels"] = {**obj.labels, PARENT: "true"}
        obj.state[self.name] = dump_state(work)
        if work in self.life.dirty:
            obj.state[self.name]["dirty"] = True
            self._dirty.add(work.key)
        if work.cluster_queue is not None and not work.active:
            obj.state[self.name]["holds"] = True
        pending = work.pending_queue
        early = pending is not None and pending.is_early(work)
        if early or work in self.handlers.assignment.added:
            obj.state[self.name]["added"] = True
