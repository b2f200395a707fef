"""One scheduler: its profiles, queue and assumed pods, and the events it handles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from scheduler.engine.kube.cache.cluster import ClusterCache
from scheduler.engine.kube.cache.node_info import Nominations
from scheduler.engine.kube.extender.extenders import PSEUDO_PLUGIN, Extenders
from scheduler.engine.kube.framework.framework import Framework
from scheduler.engine.kube.framework.plugin import (
    NODE_UNLOCKED,
    PENDING_ADDED,
    PENDING_DELETED,
    POD_ADDED,
    POD_CHANGED,
    POD_DELETED,
    Event,
    Handle,
    Hint,
    Plugin,
    QueuedPodInfo,
)
from scheduler.engine.kube.framework.status import OK, Code, Status, no_node
from scheduler.engine.kube.queue.scheduling_queue import SchedulingQueue
from scheduler.engine.kube.scheduling.evaluation import Evaluator
from scheduler.engine.kube.scheduling.host import AssumedPod, SchedulerHost
from scheduler.engine.kube.scheduling.profile_handle import (
    ProfileHandle,
    ProposedNodes,
    pods_in_order,
)
from scheduler.engine.kube.scheduling.schedule_one import LOCK, NodeSearch
from scheduler.engine.stage import Context
from scheduler.model.decisions import Fail, Nominate, Unreserve
from scheduler.model.kube.configuration import BackoffSettings
from scheduler.model.kube.profiles import Profile, plugin_class
from scheduler.model.objects import Key
from scheduler.model.pod import Pod
from scheduler.model.proposals import Asking

#: plug-in -> its hint; None: always
Hints = dict[str, Hint | None]
_NO_HINTS: Hints = {}


def _never(pod: Pod, event: Event) -> bool:
    return False


DELETED = "pod was deleted while it waited"
DELETED_BINDING = "pod was deleted while it was being bound"


class EventHandlers:
    """The state of one kube-scheduler, and how it reacts to the cluster.

    Base of the scheduler, which tries pods and binds them.
    """

    def __init__(
        self,
        context: Context,
        host: SchedulerHost,
        profiles: list[Profile],
        *,
        timing: BackoffSettings,
        extenders: Callable[[EventHandlers], Extenders],
        make: Callable[[str], type[Plugin]] = plugin_class,
        name: str = "",
        cluster: ClusterCache | None = None,
        proposal: Asking | None = None,
    ) -> None:
        self.context = context
        self.proposal = proposal
        self.host = host
        self.name = name or profiles[0].scheduler_name
        self.cluster = cluster or ClusterCache()
        self.nominations = Nominations()
        self.extenders = extenders(self)
        self.assumed: dict[Key, AssumedPod] = {}
        self.deleted: list[AssumedPod] = []  # while they waited, still assumed
        self.bindings: list[tuple[int, int, AssumedPod]] = []  # a heap: at, order
        self.signals: list[tuple[Key, Status]] = []
        self.to_activate: list[Key] = []
        self.asking: tuple[Key, int] | None = None  # whose extenders answer, and when
        self.frameworks: dict[str, Framework] = {}
        self.searches: dict[str, NodeSearch] = {}
        for profile in profiles:
            self._add_profile(profile, make)
        self.scan_start = 0
        self.next_order = 0
        self._hints = self._gather_hints()
        self._helpers = self._gather_helpers()
        sort = next(iter(self.frameworks.values())).points["queue_sort"][0]
        self.sort = sort
        self.queue = SchedulingQueue(
            context,
            timing=timing,
            sort_key=pods_in_order(proposal, context, sort.sort_key),
            moving=sort.changing_keys,
            pre_enqueue=self._pre_enqueue,
            helped=self.helped,
            may_help=self.may_help,
        )

    def _add_profile(
        self, profile: Profile, make: Callable[[str], type[Plugin]]
    ) -> None:
        handle = ProfileHandle(self)
        typed: Handle = handle
        framework = Framework.of_profile(profile, typed, make)
        handle.framework = framework
        if self.proposal is not None and "node_order" in self.proposal.overridden:
            extended = self.extenders.extenders
            above = sum(framework.weights.values()) + sum(e.weight for e in extended)
            framework.add_scorer(ProposedNodes(self.proposal, typed), above + 1)
        evaluator = Evaluator(framework, self.cluster, self.nominations)
        self.frameworks[profile.scheduler_name] = framework
        self.searches[profile.scheduler_name] = NodeSearch(
            evaluator, self.extenders, self.context
        )

    def _gather_hints(self) -> dict[str, dict[str, Hints]]:
        """Return scheduler name -> event -> plug-in -> hint."""
        found: dict[str, dict[str, Hints]] = {}
        for name, framework in self.frameworks.items():
            table = found.setdefault(name, {})
            for plugin in framework.plugins.values():
                for event, hint in plugin.hints().items():
                    table.setdefault(event, {})[plugin.name] = hint
        return found

    def _gather_helpers(self) -> dict[str, dict[str, None]]:
        """Return event -> the plug-ins, of any profile, that it may help."""
        found: dict[str, dict[str, None]] = {NODE_UNLOCKED: {}}
        for table in self._hints.values():
            for event, hints in table.items():
                found.setdefault(event, {}).update(dict.fromkeys(hints))
        for names in found.values():
            names[PSEUDO_PLUGIN] = None
        found[NODE_UNLOCKED][LOCK] = None
        return found

    def responsible(self, pod: Pod) -> bool:
        """Return whether the pod names one of this scheduler's profiles."""
        return pod.scheduler_name in self.frameworks

    def _pre_enqueue(self, pod: Pod) -> Status:
        return self.frameworks[pod.scheduler_name].pre_enqueue(pod)

    def helped(
        self, pod: Pod, event: Event, among: Iterable[str] | None = None
    ) -> set[str]:
        """Return the plug-ins (`among` these) whose rejection the event may turn."""
        table = self._hints[pod.scheduler_name].get(event.name, _NO_HINTS)
        names = set()
        for name in table if among is None else among:
            hint = table.get(name, _never)
            if hint is None or hint(pod, event):
                names.add(name)
        names.add(PSEUDO_PLUGIN)
        if event.name == NODE_UNLOCKED:
            names.add(LOCK)
        return names

    def may_help(self, event: Event) -> Iterable[str]:
        """Return all plug-ins, of any profile, whose rejections the event may turn."""
        return self._helpers.get(event.name, (PSEUDO_PLUGIN,))

    # --- what happens around it

    def pod_added(self, pod: Pod) -> None:
        """Take a pod that wants a node from this scheduler."""
        self.queue.add(pod)
        if pod.nominated:
            self.nominations.put(pod, pod.nominated)
        self.queue.move(Event(PENDING_ADDED, new=pod), but=pod.key)

    def found_bound(self, pod: Pod, node: str) -> None:
        """Take a pod that has a node when it is first seen."""
        for plugin in self._plugins():
            plugin.found_bound(pod)
        self.pod_placed(pod, node)

    def _plugins(self) -> Iterator[Plugin]:
        for framework in self.frameworks.values():
            yield from framework.plugins.values()

    def pod_gone(self, pod: Pod) -> None:
        """Forget a pod that was waiting, assumed or placed.

        One that waits on Permit is announced and taken out of its group at
        once, but keeps its place until its binding cycle has ended.
        Source: docs/semantics/kube-scheduler.md#deleting-a-pod-that-waits-on-permit.
        """
        assumed = self.assumed.get(pod.key)
        self.queue.remove(pod.key)
        self.nominations.remove(pod.key)
        self.extenders.recorded.pop(pod.key, None)
        if assumed is not None and assumed.waits:
            self._delete_waiting(assumed)
            return
        if assumed is not None:
            self._release(assumed)
            self._emit_unreserve(assumed, DELETED_BINDING)
        found = self.cluster.unplace(pod.key) or assumed
        for plugin in self._plugins():
            plugin.forget(pod)
        name = POD_DELETED if found else PENDING_DELETED
        self.queue.move(Event(name, old=pod))

    def _delete_waiting(self, assumed: AssumedPod) -> None:
        pod = assumed.pod
        assumed.deleted = True
        self.deleted.append(assumed)
        self.signal(pod.key, Status(Code.UNSCHEDULABLE, (DELETED,)))
        assumed.waits.clear()
        # First the event: who is tried next is settled before the group's time moves.
        self.queue.move(Event(POD_DELETED, old=pod))
        assumed.framework.unreserve(assumed.state, pod, assumed.node)

    def _emit_unreserve(self, assumed: AssumedPod, message: str) -> None:
        self._emit(
            Unreserve(
                at_ms=self.context.now_ms,
                subject=assumed.pod.key,
                node=assumed.node,
                message=message,
            )
        )

    def _release(self, assumed: AssumedPod) -> None:
        """Give back what an assumed pod holds."""
        pod = assumed.pod
        del self.assumed[pod.key]
        self.signals = [(key, s) for key, s in self.signals if key != pod.key]
        if not assumed.deleted:
            assumed.framework.unreserve(assumed.state, pod, assumed.node)
        self.cluster.unplace(pod.key)
        self.host.unlock(self, assumed.node)

    def end_deleted(self, key: Key) -> None:
        """Let go of a deleted pod at once, because another of its name is here."""
        assumed = self.assumed.get(key)
        if assumed is not None and assumed.deleted:
            self._release(assumed)
            self._emit_unreserve(assumed, DELETED)
            self.queue.move(Event(POD_DELETED, old=assumed.pod))

    def bound(self, key: Key) -> None:
        """Note that an assumed pod is bound: it leaves the queue for good."""
        assumed = self.assumed.pop(key, None)
        if assumed is not None:
            self.host.unlock(self, assumed.node)
        self.queue.remove(key)

    def pod_placed(self, pod: Pod, node: str) -> None:
        """See that a pod has a node (bound here, elsewhere, or given so)."""
        before = self.cluster.placed.get(pod.key)
        self.cluster.place(pod, node)
        # A pod that was only assumed here is new to those who wait.
        if before is not None and before[0].started_us is not None:
            event = Event(POD_CHANGED, old=before[0], new=pod)
        else:
            event = Event(POD_ADDED, new=pod)
        self.queue.move(event)

    def event(self, event: Event) -> None:
        """Let an event wake the pods it may help."""
        self.queue.move(event)

    def _emit(self, decision: Any) -> None:
        self.context.journal.emit(decision)

    # --- who is turned back, promised, woken

    def _activate(self) -> None:
        keys, self.to_activate = self.to_activate, []
        self.queue.activate(keys)

    def _handle_failure(
        self, queued: QueuedPodInfo, status: Status, message: str
    ) -> None:
        """Put a pod back after a rejection, or after an error."""
        failed = status.code is Code.ERROR
        if not failed and status.plugin:
            pending = status.code is Code.PENDING
            (queued.waiting_on if pending else queued.rejectors).add(status.plugin)
        queued.reason = "SchedulerError" if failed else "Unschedulable"
        queued.message = message
        # No plug-in rejected it (there is no node): no event says when to try again.
        nobody = not (queued.rejectors or queued.waiting_on)
        self.queue.failed(queued, error=failed or nobody)
        self._tell_failure(queued, queued.reason, message)

    def _tell_failure(self, queued: QueuedPodInfo, reason: str, message: str) -> None:
        """Say that a pod was tried in vain, and how often so far for this reason."""
        now = self.context.now_ms
        count, since = queued.note_failure(message, now)
        self._emit(
            Fail(
                at_ms=now,
                subject=queued.pod.key,
                reason=reason,
                message=message,
                count=count,
                first_ms=since,
            )
        )

    def nominate(self, pod: Pod, node: str) -> None:
        """Nominate the pod to a node; "" takes the nomination away."""
        if self.nominations.node(pod.key) == node:
            return
        self.nominations.put(pod, node)
        self.context.journal.touch(pod.key)
        if node:
            now = self.context.now_ms
            self._emit(Nominate(at_ms=now, subject=pod.key, node=node))
        else:
            self.queue.activate([pod.key] if pod.key in self.queue.entries else [])

    def allow(self, key: Key, plugin: str) -> None:
        """Drop a plug-in from those a pod waits for; the last lets it go."""
        assumed = self.assumed.get(key)
        if assumed is not None and assumed.waits.pop(plugin, None) is not None:
            self.context.journal.touch(key)
            if not assumed.waits:
                self.signals.append((key, OK))

    def signal(self, key: Key, status: Status) -> None:
        """Note a rejection or error for an assumed pod; only the first counts."""
        assumed = self.assumed.get(key)
        if assumed is None or any(k == key for k, _ in self.signals):
            return
        if assumed.waits or status.code is Code.ERROR:
            self.signals.append((key, status))


def one_node(status: Status) -> str:
    """Return the sentence for a pod turned back from the one node it had."""
    return no_node(1, f"1 {status.message}")
