"""One scheduler process: its view, its queue, its profiles, the pods it holds."""

from __future__ import annotations

from scheduler.decisions import PermitWait, Reserve
from scheduler.kube.framework.framework import Framework
from scheduler.kube.framework.plugin import MAX_PERMIT_MS
from scheduler.kube.framework.status import Code, CycleState
from scheduler.kube.queue.scheduling_queue import Queued
from scheduler.kube.scheduling.binding_cycles import Holding
from scheduler.kube.scheduling.event_handlers import one_node
from scheduler.kube.scheduling.handle import Held
from scheduler.kube.scheduling.schedule_one import Found


class Process(Holding):
    """A kube-scheduler: one loop over one queue, for every profile it has.

    Source: docs/semantics/kube-scheduler.md#scheduling-cycle-and-binding-cycle.
    """

    def schedule_one(self) -> Queued | None:
        """Try the next pod; return it, None when there is none to try now."""
        queued = self.queue.pop()
        if queued is None:
            return None
        self._cycle(queued)
        self._activate()
        return queued

    def _cycle(self, queued: Queued) -> None:
        pod, state = queued.pod, CycleState()
        framework = self.frameworks[pod.scheduler_name]
        search = self.searches[pod.scheduler_name]
        locked = self.house.locked_for(self)
        found = search.find(
            state, pod, queued.attempts, start=self.scan_start, locked=locked
        )
        self._advance_scan(search.looked)
        if found.node:
            self._take(queued, framework, state, found.node)
        elif found.verdicts is not None:
            self._no_node(queued, framework, state, found)
        else:
            self._give_up(queued, found.status, found.status.message)

    def _advance_scan(self, looked: int) -> None:
        size = self.cluster.columns.size
        if size:
            self.scan_start = (self.scan_start + looked) % size

    def _take(
        self, queued: Queued, framework: Framework, state: CycleState, node: str
    ) -> None:
        """Assume the pod on the node, reserve, ask Permit, start the binding."""
        pod = queued.pod
        held = Held(queued=queued, node=node, framework=framework, state=state)
        held.seen = self.house.version(self, node)
        held.order, self.next_order = self.next_order, self.next_order + 1
        self.cluster.place(pod, node)
        status = framework.reserve(state, pod, node)
        waits: dict[str, int] = {}
        if status.ok:
            status, waits = framework.permit(state, pod, node)
            if status.code not in (Code.SUCCESS, Code.WAIT):
                framework.unreserve(state, pod, node)
        if status.code not in (Code.SUCCESS, Code.WAIT):
            self.cluster.unplace(pod.key)
            self._give_up(queued, status, one_node(status))
            return
        self.held[pod.key] = held
        self.house.lock(self, node)
        self.nominations.remove(pod.key)
        self.context.journal.touch(pod.key)
        self._say(Reserve(at_ms=self.context.now_ms, subject=pod.key, node=node))
        if waits:
            self._wait(held, waits)
        else:
            self._start_binding(held)

    def _wait(self, held: Held, waits: dict[str, int]) -> None:
        now = self.context.now_ms
        for plugin, wait_ms in waits.items():
            held.waited_ms[plugin] = min(wait_ms, MAX_PERMIT_MS)
            held.waits[plugin] = now + held.waited_ms[plugin]
        self._say(
            PermitWait(
                at_ms=now,
                subject=held.pod.key,
                node=held.node,
                deadline_ms=min(held.waits.values()),
                reason=", ".join(sorted(waits)),
            )
        )

    def _no_node(
        self,
        queued: Queued,
        framework: Framework,
        state: CycleState,
        found: Found,
    ) -> None:
        """Run PostFilter; put the pod back with all that was said."""
        verdicts = found.verdicts
        assert verdicts is not None
        reasons: list[str] = []
        nominated: str | None = None
        for plugin in framework.points["post_filter"]:
            status, node = plugin.post_filter(state, queued.pod, verdicts)
            framework.note("PostFilter", plugin, queued.pod, status)
            nominated = node if node is not None else nominated
            if status.ok and node:
                reasons = []
                break
            reasons += status.reasons
            if status.code in (Code.UNRESOLVABLE, Code.ERROR):
                break
        queued.rejectors.update(verdicts.plugins())
        message = verdicts.message(", ".join(reasons))
        if nominated is not None:
            self.nominate(queued.pod, nominated)
        self._give_up(queued, found.status, message)
