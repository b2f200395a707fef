"""What the partition decides, as decisions of the world."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler.engine.stage import Context
from scheduler.engine.yunikorn import messages
from scheduler.engine.yunikorn.objects.model import Application, Ask, SchedulingNode
from scheduler.model import reasons
from scheduler.model.decisions import Bind, Evict, Fail, Preempt, Reserve, Unreserve
from scheduler.model.objects import Key

PREEMPTED = "PreemptedByScheduler"
UNSCHEDULABLE = "Unschedulable"


class DecisionRecorder:
    """Records in the journal what a partition decided, and which objects changed."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.leaving: list[Ask] = []  # preempted placeholders
        self.timed_out: list[Ask] = []  # of gangs that failed
        self.displaced: set[str] = set()  # nodes whose order score is out of date

    def allocated(self, ask: Ask, node: SchedulingNode) -> None:
        """Record that a pod has its node; a placeholder only holds it."""
        self._moved(node)
        now = self.context.now_ms
        if ask.pod is None:
            self._emit_gang(ask, node, reserve=True, message=f"placeholder {ask.key}")
            return
        ask.pod.since_ms = now
        key = ask.pod.key
        self.context.journal.touch(key)
        self.context.journal.emit(Bind(at_ms=now, subject=key, node=node.name))

    def _moved(self, node: SchedulingNode) -> None:
        if node.name in self.displaced:
            self.displaced.discard(node.name)
            self.context.journal.touch(Key("Node", "", node.name))

    def _emit_gang(
        self, ask: Ask, node: SchedulingNode | None, *, reserve: bool, message: str
    ) -> None:
        kind = Reserve if reserve else Unreserve
        self.context.journal.emit(
            kind(
                at_ms=self.context.now_ms,
                subject=application_key(ask.app),
                node=node.name if node is not None else "",
                reason="Placeholder",
                message=message,
            )
        )

    def reserved(self, ask: Ask, node: SchedulingNode) -> None:
        """Record that a node is held for a pod."""
        self._hold(Reserve, ask, node)

    def unreserved(self, ask: Ask, node: SchedulingNode) -> None:
        """Record that a node is no longer held."""
        self._hold(Unreserve, ask, node)

    def _hold(
        self, kind: type[Reserve | Unreserve], ask: Ask, node: SchedulingNode
    ) -> None:
        if ask.pod is None:
            return
        key = ask.pod.key
        self.context.journal.touch(key)
        self.context.journal.emit(
            kind(at_ms=self.context.now_ms, subject=key, node=node.name)
        )

    def attempting(self, ask: Ask) -> None:
        """Note that the pod remembers when preemption was last tried for it."""
        if ask.pod is not None:
            self.context.journal.touch(ask.pod.key)

    def preempting(self, ask: Ask, victims: Sequence[Ask], strategy: str) -> None:
        """Evict the victims of an ask."""
        by = _key(ask)
        path = ask.app.queue.path
        message = messages.preempted_by(ask.key, ask.app.id, path)
        for victim in victims:
            if victim.pod is None:
                self.leaving.append(victim)
                continue
            self._evict(victim, message, PREEMPTED, by=by, strategy=strategy)
        if ask.pod is not None:
            self.context.journal.touch(ask.pod.key)

    def _evict(
        self,
        victim: Ask,
        message: str,
        reason: str,
        *,
        by: Key | None = None,
        strategy: str = "",
    ) -> None:
        assert victim.pod is not None
        now, key = self.context.now_ms, victim.pod.key
        since = victim.pod.since_ms
        journal = self.context.journal
        if strategy:
            journal.emit(
                Preempt(
                    at_ms=now,
                    subject=key,
                    by=by,
                    reason=reason,
                    message=message,
                    strategy=strategy,
                    work_lost_ms=now - since if since is not None else 0,
                )
            )
        journal.touch(key)
        journal.emit(
            Evict(at_ms=now, subject=key, by=by, reason=reason, message=message)
        )

    def releasing(self, ask: Ask, reason: str, message: str) -> None:
        """Evict a pod for no other pod; placeholders end by themselves."""
        if ask.pod is None:
            self._emit_gang(ask, ask.node, reserve=False, message=message)
        else:
            self._evict(ask, message, reason)

    def refused(self, ask: Ask, message: str) -> None:
        """Record why a pod got nothing, once per reason."""
        if ask.pod is None or message in messages.SILENT:
            return
        key = ask.pod.key
        self.context.journal.touch(key)
        gang = ask.app.gang
        if message == reasons.RESERVATION_TIMEOUT and gang is not None and gang.origin:
            self.timed_out.append(ask)
            return
        if message == messages.DOES_NOT_HELP and not messages.SILENT.issuperset(
            ask.log
        ):
            return  # something more to the point was recorded
        self.context.journal.emit(
            Fail(
                at_ms=self.context.now_ms,
                subject=key,
                reason=UNSCHEDULABLE,
                message=message,
            )
        )

    def entered(self, app: Application) -> None:
        """Leave this to the views: application states decide nothing by themselves."""


def application_key(app: Application) -> Key:
    """Return the key that decisions about an application carry."""
    return Key("Application", "", app.id)


def _key(ask: Ask) -> Key:
    if ask.pod is None:
        return application_key(ask.app)
    key: Key = ask.pod.key
    return key
