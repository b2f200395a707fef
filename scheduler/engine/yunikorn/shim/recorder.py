"""What the partition decides, as decisions of the world."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from scheduler.engine.stage import Context
from scheduler.engine.yunikorn import messages
from scheduler.engine.yunikorn.objects.model import Application, Ask, SchedulingNode
from scheduler.engine.yunikorn.objects.node_order import NodeOrder
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.objects.partition_state import rules_of
from scheduler.engine.yunikorn.placement.rules import names_no_list, opened
from scheduler.model import reasons
from scheduler.model.decisions import Bind, Evict, Fail, Preempt, Reserve, Unreserve
from scheduler.model.hierarchy import PartitionSpec
from scheduler.model.objects import Key, Object
from scheduler.model.pod import Pod
from scheduler.model.policy import Policy, YuniKorn
from scheduler.model.problems import GivenUp, in_field
from scheduler.model.reasons import APPLICATION_REJECTED
from scheduler.model.registry import lookup
from scheduler.model.sentence import Sentence
from scheduler.model.yunikorn import properties
from scheduler.model.yunikorn.resources import Amounts

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


# ------------------------------------------------------------------------
# What YuniKorn writes into Pods and Nodes: conditions, and what a restart needs.


SCHEDULED = "PodScheduled"


def fail_pod(obj: Object, reason: str, message: str, stage: str) -> None:
    """End a Pod before it has a place, with all of its status said anew."""
    obj.state.pop(stage, None)
    obj.status.clear()
    obj.status.update(phase="Failed", reason=reason, message=message)


def write_pod(obj: Object, ask: Ask | None, rejected: str | None, stage: str) -> None:
    """Write one Pod's state and its PodScheduled condition."""
    state = {"rejected": rejected} if rejected else _state(ask) if ask else {}
    if state:
        obj.state[stage] = state
    else:
        obj.state.pop(stage, None)
    if ask is None and not rejected:
        return
    given = obj.status.get("conditions") or []
    if (condition := _condition(ask, rejected)) is not None:
        others = [one for one in given if one["type"] != SCHEDULED]
        obj.status["conditions"] = [*others, condition]
    if ask is not None and ask.reserved_on is not None:
        obj.status["nominatedNodeName"] = ask.reserved_on.name
    else:
        obj.status.pop("nominatedNodeName", None)


def _condition(ask: Ask | None, rejected: str | None) -> dict[str, str] | None:
    if rejected:
        return unscheduled(APPLICATION_REJECTED, rejected)
    assert ask is not None
    if ask.node is not None:
        return {"type": SCHEDULED, "status": "True"}
    if not ask.scale_up:
        return None
    return unscheduled(UNSCHEDULABLE, messages.CLUSTER_IS_FULL)


def scheduled_condition(obj: Object) -> Mapping[str, str] | None:
    """Return the PodScheduled condition of a pod; of a waiting one it says why.

    YuniKorn itself writes one only where more nodes would help, without the reason.
    """
    given = obj.status.get("conditions") or ()
    found = next((one for one in given if one["type"] == SCHEDULED), None)
    log = obj.state.get(STAGE, {}).get("log")
    if log and (found is None or found.get("reason") == UNSCHEDULABLE):
        return unscheduled(UNSCHEDULABLE, "; ".join(log))
    return found


def unscheduled(reason: str, message: str) -> dict[str, str]:
    """Return the PodScheduled condition of a pod without a node."""
    return {"type": SCHEDULED, "status": "False", "reason": reason, "message": message}


def _state(ask: Ask) -> dict[str, Any]:
    """Return what a restart needs of one pod; whatever is as usual is left out."""
    origin = ask.pod
    assert origin is not None
    state: dict[str, Any] = {
        "queue": ask.app.queue.path,
        "submit": origin.submit_ms,
        "create": ask.create_ms,
        "rank": ask.rank,
    }
    odd = {
        "allow": (ask.allow_self, True),
        "since": (origin.since_ms, None),
        "triggered": (ask.triggered, False),
        "checked": (ask.checked_ms, None),
        "preempted": (ask.preempted, False),
    }
    state.update({k: now for k, (now, usual) in odd.items() if now != usual})
    state["origin"] = ask.originator
    if ask.reserved_on is not None:
        state["reserved"] = [ask.reserved_on.name, ask.reserved_ms]
    if ask.node is None and (log := reasons_of(ask)):
        state["log"] = log
    if ask.node is None and ask.scale_up:
        state["scaleUp"] = True
    return state


def reasons_of(ask: Ask) -> list[str]:
    """Return why an ask waits, in the order in which it was found out."""
    return [message for message in ask.log if message not in messages.SILENT]


def write_node(
    obj: Object, node: SchedulingNode | None, order: NodeOrder, stage: str
) -> None:
    """Keep a node's place in the order where its present use does not give it."""
    obj.state.pop(stage, None)
    if node is not None:
        score = node.entry[0]
        if score != order.sort.score(order.used_share(node)):
            obj.state[stage] = {"score": score}


# ------------------------------------------------------------------------
# What the shim knows of the cluster beside the core's partition.


STAGE = "yunikorn"


class ShimState:
    """One partition, and what was read from the objects of the cluster."""

    name = STAGE

    def __init__(self, context: Context, policy: Policy, spec: PartitionSpec) -> None:
        self.context = context
        section = policy.spec.yunikorn
        self.recorder = DecisionRecorder(context)
        laws = lookup("laws", section.laws)()
        rules = rules_of(policy.spec.decides_as())
        self.partition = Partition(opened(spec), laws, self.recorder, rules)
        self.partition.now_ms = context.now_ms
        self.policy_ends = False  # the next state is read under another policy
        self.policy_hash = hash_of(section)
        self.opted_out: dict[str, bool] = {}  # PriorityClass -> says "false"
        self.foreign: dict[Key, tuple[str, Amounts]] = {}  # pod -> node, use
        #: Node name -> pods that run on it, while the node is not known.
        self.waiting_for_node: dict[str, dict[Key, Object]] = {}
        self.rejected: dict[Key, str] = {}  # pod -> why
        self.timed_out: set[Key] = set()  # pods of gangs that failed
        #: Applications that their pods alone do not describe: stored by name.
        self.stored_apps: dict[str, None] = {}
        self.records: dict[str, Pod] = {}  # by ask key, foreign pods by path
        #: Namespace -> labels, and -> annotations.
        self.namespaces: dict[str, dict[str, str]] = {}
        self.annotations: dict[str, dict[str, str]] = {}
        self.last_cycle_ms: int | None = None
        # While a stored state is being restored:
        self.same_policy = False  # it was stored under the present policy
        self.stored_gangs: list[Any] = []  # restored after all pods
        self.stored_scores: dict[str, float] = {}  # node -> place in the order
        self.stored_quota: list[Any] = []
        self.stored_counts: dict[str, list[Any]] = {}
        self.stored_clock: tuple[bool, int | None] | None = None
        for problem in _notices(spec):
            context.journal.complain(problem)
        self._warn_properties()

    def _warn_properties(self) -> None:
        for queue in self.partition.root.walk():
            for problem in properties.problems(queue.own_texts):
                self.context.journal.complain(in_field(queue.path, problem))
            named = queue.own_texts.get("application.sort.policy", "").lower()
            if named == "stateaware" and not self.partition.laws.starting:
                self.context.journal.complain(
                    GivenUp.STATE_AWARE.said(queue=queue.path)
                )


def _notices(spec: PartitionSpec) -> Iterator[Sentence]:
    """Yield what people should know of a configuration."""
    for path in spec.unsimulated:
        yield GivenUp.SETTING.said(path=path)
    for other in spec.others:
        yield GivenUp.PARTITION.said(name=repr(other.name))
    if spec.placement_error:
        yield GivenUp.REJECTED.said(problem=spec.placement_error)
    if names_no_list(spec):
        yield GivenUp.NO_LIST.said()


def hash_of(section: YuniKorn) -> str:
    """Return a short text that changes with the policy's section."""
    data = msgspec.msgpack.encode(section, order="sorted")
    return hashlib.blake2b(data, digest_size=8).hexdigest()
