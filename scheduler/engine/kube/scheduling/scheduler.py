"""One scheduler: its view, its queue, its profiles, its assumed pods."""

from __future__ import annotations

from scheduler.engine.kube.framework.framework import Framework
from scheduler.engine.kube.framework.plugin import MAX_PERMIT_MS
from scheduler.engine.kube.framework.queued_pod import QueuedPodInfo
from scheduler.engine.kube.framework.status import Code, CycleState
from scheduler.engine.kube.scheduling.assumed_pod import AssumedPod
from scheduler.engine.kube.scheduling.binding_cycles import BindingCycles
from scheduler.engine.kube.scheduling.event_handlers import one_node
from scheduler.engine.kube.scheduling.schedule_one import SearchResult
from scheduler.model.decisions import PermitWait, Reserve
from scheduler.model.pod import Pod


class Scheduler(BindingCycles):
    """A kube-scheduler: one loop over one queue, for every profile it has.

    Source: docs/semantics/kube-scheduler.md#scheduling-cycle-and-binding-cycle.
    """

    def schedule_one(self) -> QueuedPodInfo | None:
        """Try the next pod; return it, None when there is none to try now."""
        queued = self._next_pod()
        if queued is None:
            return None
        self._scheduling_cycle(queued)
        self._end_deleted()
        self._activate()
        return queued

    def _next_pod(self) -> QueuedPodInfo | None:
        """Return the pod to decide on now: answers of extenders take their time."""
        now = self.context.now_ms
        if self.asking is None:
            queued = self.queue.pop()
            delay = self._extender_ms(queued.pod) if queued is not None else 0
            if queued is None or not delay:
                return queued
            self.asking = queued.pod.key, now + delay
        key, ends = self.asking
        if ends > now:
            return None
        self.asking = None
        queued = self.queue.entries.get(key)
        return queued if queued is not None else self._next_pod()

    def _extender_ms(self, pod: Pod) -> int:
        search = self.searches[pod.scheduler_name]
        locked = self.host.locked_for(self)
        return search.extender_ms(pod, start=self.scan_start, locked=locked)

    def _scheduling_cycle(self, queued: QueuedPodInfo) -> None:
        pod, state = queued.pod, CycleState()
        framework = self.frameworks[pod.scheduler_name]
        search = self.searches[pod.scheduler_name]
        locked = self.host.locked_for(self)
        found = search.find(
            state, pod, queued.attempts, start=self.scan_start, locked=locked
        )
        self._advance_scan(search.looked)
        if found.node:
            self._assume(queued, framework, state, found.node)
        elif found.failure is not None:
            queued.rejectors.update(found.failure.rejectors)
            self._handle_failure(queued, found.status, found.failure.message)
        elif found.verdicts is not None:
            self._no_node(queued, framework, state, found)
        else:
            self._handle_failure(queued, found.status, found.status.message)

    def _advance_scan(self, looked: int) -> None:
        size = self.cluster.node_table.size
        if size:
            self.scan_start = (self.scan_start + looked) % size

    def _assume(
        self, queued: QueuedPodInfo, framework: Framework, state: CycleState, node: str
    ) -> None:
        """Assume the pod on the node, reserve, ask Permit, start the binding."""
        pod = queued.pod
        assumed = AssumedPod(queued=queued, node=node, framework=framework, state=state)
        assumed.seen = self.host.version(self, node)
        assumed.read = self.host.node_version(node)
        assumed.order, self.next_order = self.next_order, self.next_order + 1
        self.cluster.place(pod, node)
        status = framework.reserve(state, pod, node)
        waits: dict[str, int] = {}
        if status.ok:
            status, waits = framework.permit(state, pod, node)
            if status.code not in (Code.SUCCESS, Code.WAIT):
                framework.unreserve(state, pod, node)
        if status.code not in (Code.SUCCESS, Code.WAIT):
            self.cluster.unplace(pod.key)
            self._handle_failure(queued, status, one_node(status))
            return
        self.assumed[pod.key] = assumed
        self.host.lock(self, node)
        self.nominations.remove(pod.key)
        self.context.journal.touch(pod.key)
        self._emit(Reserve(at_ms=self.context.now_ms, subject=pod.key, node=node))
        if waits:
            self._wait(assumed, waits)
        else:
            self._start_binding(assumed)

    def _wait(self, assumed: AssumedPod, waits: dict[str, int]) -> None:
        now = self.context.now_ms
        for plugin, wait_ms in waits.items():
            assumed.waited_ms[plugin] = min(wait_ms, MAX_PERMIT_MS)
            assumed.waits[plugin] = now + assumed.waited_ms[plugin]
        self._emit(
            PermitWait(
                at_ms=now,
                subject=assumed.pod.key,
                node=assumed.node,
                deadline_ms=min(assumed.waits.values()),
                reason=", ".join(sorted(waits)),
            )
        )

    def _no_node(
        self,
        queued: QueuedPodInfo,
        framework: Framework,
        state: CycleState,
        found: SearchResult,
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
        rejectors = verdicts.plugins()
        queued.rejectors.update(rejectors)
        message = verdicts.message(", ".join(reasons))
        if nominated is not None:
            self.nominate(queued.pod, nominated)
        if not (nominated or verdicts.special or verdicts.rejected):
            self._note_failure(queued.pod, framework, state, message, rejectors)
        self._handle_failure(queued, found.status, message)

    def _note_failure(
        self,
        pod: Pod,
        framework: Framework,
        state: CycleState,
        message: str,
        rejectors: list[str],
    ) -> None:
        """Keep what an attempt came to for equal pods, where it is the same for them."""
        search = self.searches[pod.scheduler_name]
        alike = search.fails_alike(pod, self.host.locked_for(self)) and all(
            plugin.fails_alike() for plugin in framework.points["post_filter"]
        )
        if alike:
            search.evaluator.note_failure(state, pod, message, tuple(rejectors))
