"""One scheduler process: its view, its queue, its profiles, the pods it holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler.decisions import Fail, Nominate, PermitWait, Reserve, Unreserve
from scheduler.durations import duration_text
from scheduler.kube import events
from scheduler.kube.cluster import Cluster
from scheduler.kube.evaluation import Evaluator
from scheduler.kube.events import Event
from scheduler.kube.extender import PSEUDO_PLUGIN, Extenders
from scheduler.kube.finding import LOCK, Found, Search
from scheduler.kube.framework import Framework
from scheduler.kube.handle import Held, House, ProfileHandle
from scheduler.kube.nominations import Nominations
from scheduler.kube.plugin import MAX_PERMIT_MS, Handle, Plugin
from scheduler.kube.profiles import Profile, plugin_class
from scheduler.kube.queue import Queued, SchedulingQueue, Timing
from scheduler.kube.status import OK, Code, CycleState, Status
from scheduler.kube.verdicts import no_node
from scheduler.records.objects import Key
from scheduler.records.pod import Pod
from scheduler.stage import Context


class Process:
    """A kube-scheduler: one loop over one queue, for every profile it has.

    Source: KUBE_SCHEDULER.md 2, 3, 10.
    """

    def __init__(
        self,
        context: Context,
        house: House,
        profiles: list[Profile],
        *,
        timing: Timing,
        extenders: Callable[[Process], Extenders],
        make: Callable[[str], type[Plugin]] = plugin_class,
        name: str = "",
        cluster: Cluster | None = None,
    ) -> None:
        self.context = context
        self.house = house
        self.name = name or profiles[0].scheduler_name
        self.cluster = cluster or Cluster()
        self.nominations = Nominations()
        self.extenders = extenders(self)
        self.held: dict[Key, Held] = {}
        self.signals: list[tuple[Key, Status]] = []
        self.to_activate: list[Key] = []
        self.frameworks: dict[str, Framework] = {}
        self.searches: dict[str, Search] = {}
        for profile in profiles:
            self._add_profile(profile, make)
        self.scan_start = 0
        self.next_order = 0
        self._hints = self._gather_hints()
        sort = next(iter(self.frameworks.values())).points["queue_sort"][0]
        self.sort = sort
        self.queue = SchedulingQueue(
            context,
            timing=timing,
            sort_key=sort.sort_key,
            moving=sort.moving_order,
            pre_enqueue=self._pre_enqueue,
            helped=self.helped,
        )

    def _add_profile(
        self, profile: Profile, make: Callable[[str], type[Plugin]]
    ) -> None:
        handle = ProfileHandle(self)
        typed: Handle = handle
        framework = profile.build(typed, make)
        handle.framework = framework
        evaluator = Evaluator(framework, self.cluster, self.nominations)
        self.frameworks[profile.scheduler_name] = framework
        self.searches[profile.scheduler_name] = Search(
            evaluator, self.extenders, self.context
        )

    def _gather_hints(self) -> dict[str, dict[str, list[tuple[str, Any]]]]:
        """Return scheduler name -> event -> (plug-in, hint)."""
        found: dict[str, dict[str, list[tuple[str, Any]]]] = {}
        for name, framework in self.frameworks.items():
            table = found.setdefault(name, {})
            for plugin in framework.plugins.values():
                for event, hint in plugin.hints().items():
                    table.setdefault(event, []).append((plugin.name, hint))
        return found

    def responsible(self, pod: Pod) -> bool:
        """Tell whether the pod names one of this process's profiles."""
        return pod.scheduler_name in self.frameworks

    def _pre_enqueue(self, pod: Pod) -> Status:
        return self.frameworks[pod.scheduler_name].pre_enqueue(pod)

    def helped(self, pod: Pod, event: Event) -> set[str]:
        """Return the plug-ins whose rejection of the pod the event may turn."""
        table = self._hints[pod.scheduler_name].get(event.name, ())
        names = {name for name, hint in table if hint is None or hint(pod, event)}
        names.add(PSEUDO_PLUGIN)
        if event.name == events.NODE_UNLOCKED:
            names.add(LOCK)
        return names

    # --- the scheduling cycle

    def schedule_one(self) -> Queued | None:
        """Try the next pod; return it, None when there is none to try now."""
        queued = self.queue.pop()
        if queued is None:
            return None
        self._cycle(queued)
        self._activate()
        return queued

    def _activate(self) -> None:
        keys, self.to_activate = self.to_activate, []
        self.queue.activate(keys)

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
            self._give_up(queued, status, _one_node(status))
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

    def _give_up(self, queued: Queued, status: Status, message: str) -> None:
        """Put a pod back after a rejection, or after an error."""
        failed = status.code is Code.ERROR
        if not failed and status.plugin:
            pending = status.code is Code.PENDING
            (queued.waiting_on if pending else queued.rejectors).add(status.plugin)
        queued.reason = "SchedulerError" if failed else "Unschedulable"
        queued.message = message
        self.queue.failed(queued, error=failed)
        self._say(
            Fail(
                at_ms=self.context.now_ms,
                subject=queued.pod.key,
                reason=queued.reason,
                message=message,
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
            self._say(Nominate(at_ms=now, subject=pod.key, node=node))
        else:
            self.queue.activate([pod.key] if pod.key in self.queue.entries else [])

    # --- waiting, binding

    def allow(self, key: Key, plugin: str) -> None:
        """Drop a plug-in from those a pod waits for; the last lets it go."""
        held = self.held.get(key)
        if held is not None and held.waits.pop(plugin, None) is not None:
            self.context.journal.touch(key)
            if not held.waits:
                self.signals.append((key, OK))

    def signal(self, key: Key, status: Status) -> None:
        """Note a rejection or error for a held pod; only the first counts."""
        held = self.held.get(key)
        if held is None or any(k == key for k, _ in self.signals):
            return
        if held.waits or status.code is Code.ERROR:
            self.signals.append((key, status))

    def settle(self) -> None:
        """Carry out what was signalled to one held pod, else bind those that may.

        Binding cycles run beside the scheduling loop: one gets its turn when
        the loop has no pod to try, and what it frees is tried for before the
        next has its turn. Source: KUBE_SCHEDULER.md 2.
        """
        while self.signals:
            key, status = self.signals.pop(0)
            held = self.held.get(key)
            if held is None:
                continue
            if status.ok:
                self._start_binding(held)
                continue
            self._turn_back(held, status)
            self._activate()
            return
        self._bind_due()

    def _start_binding(self, held: Held) -> None:
        held.bind_at = self.context.now_ms + self.house.bind_latency_ms
        self.queue.done(held.queued)

    def _bind_due(self) -> None:
        """End the binding cycles whose time has come, in the order of choosing."""
        now = self.context.now_ms
        for held in sorted(self.held.values(), key=lambda held: held.order):
            due = held.bind_at is not None and held.bind_at <= now
            if due and not held.waits and self.held.get(held.pod.key) is held:
                self._bind(held)
                self._activate()

    def _bind(self, held: Held) -> None:
        """End the binding cycle: PreBind, Bind, PostBind."""
        pod, node = held.pod, held.node
        extender = self.extenders.binder(pod)
        status = Status(Code.SKIP)
        if extender is not None:
            status = self.extenders.bind(extender, pod, node)
        if status.code is Code.SKIP:
            status = held.framework.bind(held.state, pod, node)
        if status.ok:
            status = self.house.commit(self, held)
        if status.ok:
            held.framework.post_bind(held.state, pod, node)
        else:
            failed = Status(Code.ERROR, status.reasons, status.plugin)
            self._turn_back(held, failed)

    def bound(self, key: Key) -> None:
        """Note that a held pod is bound: it leaves the queue for good."""
        held = self.held.pop(key, None)
        if held is not None:
            self.house.unlock(self, held.node)
        self.queue.remove(key)

    def _turn_back(self, held: Held, status: Status) -> None:
        """Give the node back and queue the pod again.

        A rejected pod must not be woken by its own going; one that met an
        error may be.
        """
        pod = held.pod
        del self.held[pod.key]
        held.framework.unreserve(held.state, pod, held.node)
        self.cluster.unplace(pod.key)
        self.house.unlock(self, held.node)
        self._say(
            Unreserve(
                at_ms=self.context.now_ms,
                subject=pod.key,
                node=held.node,
                message=status.message,
            )
        )
        gone = Event(events.POD_DELETED, old=pod)
        if status.code is Code.ERROR:
            self.queue.move(gone)
            self._give_up(held.queued, status, status.message)
        else:
            self._give_up(held.queued, status, _one_node(status))
            self.queue.move(gone, but=pod.key)

    # --- timers

    def timers(self) -> None:
        """Do what is due now: timeouts at Permit, bindings, backoffs."""
        now = self.context.now_ms
        for held in sorted(self.held.values(), key=lambda held: held.order):
            if held.waits and self.held.get(held.pod.key) is held:
                self._time_out(held, now)
        self.queue.flush()

    def _time_out(self, held: Held, now: int) -> None:
        due = [(at, plugin) for plugin, at in held.waits.items() if at <= now]
        if due:
            plugin = min(due)[1]
            waited = duration_text(held.waited_ms[plugin])
            reason = (
                f"rejected due to timeout after waiting {waited} at plugin {plugin}"
            )
            self.signal(held.pod.key, Status(Code.UNSCHEDULABLE, (reason,), plugin))

    def due(self) -> int | None:
        """Return the next instant with a timer."""
        times = [t for held in self.held.values() for t in held.waits.values()]
        times += [
            held.bind_at
            for held in self.held.values()
            if held.bind_at is not None and not held.waits
        ]
        later = self.queue.due()
        if later is not None:
            times.append(later)
        return min(times) if times else None

    def remember(self) -> dict[str, Any]:
        """Return what is kept beside the pods."""
        return {
            "scan": self.scan_start,
            "seq": self.queue.next_seq,
            "order": self.next_order,
            "active": [list(key) for key in self.queue.layout()],
            "plugins": {n: f.remember() for n, f in self.frameworks.items()},
        }

    def recall(self, memory: dict[str, Any]) -> None:
        """Take back what `remember` returned."""
        self.scan_start = memory.get("scan", 0)
        self.queue.next_seq = memory.get("seq", 0)
        self.next_order = memory.get("order", 0)
        self.queue.lay_later([Key(*key) for key in memory.get("active", ())])
        for name, kept in memory.get("plugins", {}).items():
            if name in self.frameworks:
                self.frameworks[name].recall(kept)

    # --- what happens around it

    def pod_added(self, pod: Pod) -> None:
        """Take a pod that wants a node from this process."""
        self.queue.add(pod)
        if pod.nominated:
            self.nominations.put(pod, pod.nominated)
        self.queue.move(Event(events.PENDING_ADDED, new=pod), but=pod.key)

    def pod_gone(self, pod: Pod) -> None:
        """Forget a pod that was waiting, held or placed."""
        held = self.held.pop(pod.key, None)
        self.signals = [(key, s) for key, s in self.signals if key != pod.key]
        if held is not None:
            held.framework.unreserve(held.state, pod, held.node)
            self.house.unlock(self, held.node)
        self.queue.remove(pod.key)
        self.nominations.remove(pod.key)
        found = self.cluster.unplace(pod.key)
        for framework in self.frameworks.values():
            for plugin in framework.plugins.values():
                plugin.forget(pod)
        name = events.POD_DELETED if found else events.PENDING_DELETED
        self.queue.move(Event(name, old=pod))

    def pod_placed(self, pod: Pod, node: str) -> None:
        """See that a pod has a node (bound here, elsewhere, or given so)."""
        before = self.cluster.placed.get(pod.key)
        self.cluster.place(pod, node)
        # A pod that was only assumed here is new to those who wait.
        if before is not None and before[0].started_us is not None:
            event = Event(events.POD_CHANGED, old=before[0], new=pod)
        else:
            event = Event(events.POD_ADDED, new=pod)
        self.queue.move(event)

    def event(self, event: Event) -> None:
        """Let an event wake the pods it may help."""
        self.queue.move(event)

    def _say(self, decision: Any) -> None:
        self.context.journal.emit(decision)


def _one_node(status: Status) -> str:
    """Return the sentence for a pod turned back from the one node it had."""
    return no_node(1, f"1 {status.message}")
