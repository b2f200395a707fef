"""Changes that a scenario brings at their time: patches, deletions, lost nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from scheduler.engine.lifetime.node_loss import NodeLoss
from scheduler.engine.lifetime.runs import Due
from scheduler.model import streams
from scheduler.model.decisions import Edit, NodeChange
from scheduler.model.durations import NEVER, Span, read_span
from scheduler.model.errors import ManifestError
from scheduler.model.event_words import PLANNED, Befallen, node_lost
from scheduler.model.kueue.check_answers import check_reclaimable
from scheduler.model.objects import Key, Object
from scheduler.model.patches import merge
from scheduler.model.policy import Failures
from scheduler.model.problems import GivenUp
from scheduler.model.sentence import Sentence

if TYPE_CHECKING:
    from scheduler.engine.lifetime.node_loss import NodeLoss


CHANGE = "Change"
#: What the node controller puts on a node that does not answer.
UNREACHABLE = {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}


def target_of(change: Object) -> Key:
    """Return the key of the object that a Change is about."""
    target = change.spec["target"]
    return Key(target["kind"], target.get("namespace", ""), target["name"])


def carry_out(lifetime: NodeLoss, change: Object) -> None:
    """Do what a Change says, once, as an administrator would at this instant.

    A target that does not exist is reported as a problem and changes nothing.
    """
    key = target_of(change)
    known = lifetime.host.objects.get(key)
    if known is None:
        lifetime.context.journal.complain(
            GivenUp.NOT_THERE.said(key=change.key, other=key)
        )
        return
    known = lifetime.host.get(key)
    if change.spec.get("delete"):
        _record_edit(lifetime, change, key, "Delete", known.manifest, None)
        lifetime.host.delete(key)
    elif "node" in change.spec:
        _change_node(lifetime, change, known, change.spec["node"])
    else:
        _patch(lifetime, change, known, change.spec["patch"])
        if "queues" in change.spec:
            lifetime.queues = change.spec["queues"]


def _patch(
    lifetime: NodeLoss, change: Object, known: Object, patch: dict[str, Any]
) -> None:
    before = {**known.manifest, "status": known.status}
    after = merge(before, patch)
    if "reclaimablePods" in (patch.get("status") or {}):
        try:
            check_reclaimable(known, after["status"].get("reclaimablePods") or ())
        except ManifestError as error:
            problem = GivenUp.NOT_DONE.said(key=change.key, what=error.said)
            lifetime.context.journal.complain(problem)
            return
    _record_edit(lifetime, change, known.key, "Patch", None, patch)
    known.status = after.pop("status")
    _put(lifetime, known, after)


def _change_node(lifetime: NodeLoss, change: Object, node: Object, action: str) -> None:
    _record_edit(lifetime, change, node.key, action.capitalize(), None, None)
    lifetime.host.put(changed_node(node, action))
    if action in TAKING:
        lifetime.lose_node(node.key.name, node_lost(action))


def changed_node(node: Object, action: str) -> Object:
    """Return the node as an operator, or a power cut, leaves it.

    A node that fails keeps its cordon and is not Ready; its pods are lost
    apart from this, as those of a drained node are.
    """
    taints = [t for t in node.spec.get("taints") or () if t != UNREACHABLE]
    if action == "fail":
        taints.append(UNREACHABLE)
    spec = {**node.spec, "taints": taints, "unschedulable": action in _CLOSING}
    if action == "fail":
        spec["unschedulable"] = bool(node.spec.get("unschedulable"))
    kept = {name: value for name, value in spec.items() if value not in (False, [])}
    manifest = {**node.manifest, "metadata": dict(node.metadata), "spec": kept}
    return Object(key=node.key, manifest=manifest, status=_heard_from(node, action))


def _heard_from(node: Object, action: str) -> dict[str, Any]:
    """Return the status that changes: Ready goes when the node falls silent."""
    if action not in ("fail", "recover"):
        return {}
    others = [c for c in node.status.get("conditions") or () if c["type"] != "Ready"]
    return {"conditions": [*others, dict(_SILENT if action == "fail" else _HEARD)]}


_CLOSING = ("cordon", "drain")
#: What takes the pods off a node.
TAKING = ("drain", "fail")
_SILENT = {
    "type": "Ready",
    "status": "Unknown",
    "reason": "NodeStatusUnknown",
    "message": "Kubelet stopped posting node status.",
}
_HEARD = {
    "type": "Ready",
    "status": "True",
    "reason": "KubeletReady",
    "message": "kubelet is posting ready status",
}


def _put(lifetime: NodeLoss, known: Object, manifest: dict[str, Any]) -> None:
    """Put an edited manifest; the world writes identity into metadata."""
    own = {**manifest, "metadata": dict(manifest["metadata"])}
    lifetime.host.put(Object(key=known.key, manifest=own))


def _record_edit(
    lifetime: NodeLoss, change: Object, key: Key, action: str, before: Any, after: Any
) -> None:
    note = change.annotations.get("description", "")
    said = PLANNED[action].said(object=str(key))
    lifetime.context.journal.emit(
        Edit(
            at_ms=lifetime.context.now_ms,
            subject=key,
            by=change.key,
            reason=action,
            message=note or said.text,
            said=UNSET if note else said,
            action=action,
            before=before,
            after=after,
        )
    )


# ------------------------------------------------------------------------
# Failures as a process: when nodes and racks fail, and when they are back.


DOMAIN = "Domain"
#: Of a node or a domain: what was drawn so far, the next instant, and if it is down.
State = tuple[int, int, bool]


class FailureProcess:
    """Each node and each domain waits for its next failure or repair.

    A draw depends on the seed, the node's UID (or the domain's name) and how many
    came before: what runs on the nodes shifts no failure.
    """

    def __init__(self, lifetime: NodeLoss, failures: Failures) -> None:
        self.lifetime = lifetime
        self.context = lifetime.context
        self.failures = failures
        self.mean_ms = read_span(failures.mean_time_between).values[0]
        self.domain_mean_ms = read_span(failures.domain_mean_time_between).values[0]
        self.repair = read_span(failures.repair)
        self.domain_repair = read_span(failures.domain_repair)
        self.states: dict[Key, State] = {}

    # -- nodes come and go -------------------------------------------------

    def begin(self, node: Object, kept: list[Any] | None = None) -> None:
        """Let a node fail from now on, or go on with what was kept of it."""
        if node.key in self.states or not self._may_fail(node):
            return
        if kept is not None:
            self._set(node.key, (kept[0], kept[1], kept[2]), node)
        else:
            self._set(node.key, self._next_failure(node.key, 0), node)
        domain = self._domain_of(node)
        if domain is not None and domain not in self.states:
            self._set(domain, self._next_failure(domain, 0))

    def forget(self, node: Key) -> None:
        """Forget a node that is gone."""
        self.states.pop(node, None)

    def kept(self, node: Key) -> list[Any] | None:
        """Return plain values from which `begin` goes on."""
        state = self.states.get(node)
        return None if state is None else list(state)

    def dump_domains(self) -> dict[str, list[Any]]:
        """Return the stored state of the domains, by name."""
        return {k.name: list(v) for k, v in self.states.items() if k.kind == DOMAIN}

    def load_domains(self, domains: Mapping[str, list[Any]]) -> None:
        """Take back what `dump_domains` returned."""
        for name, (drawn, at, down) in domains.items():
            self._set(Key(DOMAIN, "", name), (drawn, at, down))

    # -- failing and coming back -------------------------------------------

    def stands(self, key: Key, at: int) -> bool:
        """Return whether a timer still means something."""
        return key in self.states and self.states[key][1] == at

    def fire(self, key: Key) -> None:
        """Fail or bring back the node or domain whose instant has come."""
        drawn, _, down = self.states[key]
        if key.kind == DOMAIN:
            self._fail_domain(key, drawn)
        elif down:
            self._bring_back(self.lifetime.host.objects[key], drawn)
        else:
            self._fail(key, drawn, self._repair_ms(self.repair, key, drawn))

    def _fail_domain(self, domain: Key, drawn: int) -> None:
        repair = self._repair_ms(self.domain_repair, domain, drawn)
        back = self.context.now_ms + repair
        for key in sorted(key for key in self.states if key.kind != DOMAIN):
            node = self.lifetime.host.objects[key]
            if self._domain_of(node) == domain:
                number, at, down = self.states[key]
                if down:
                    self._set(key, (number, max(at, back), True), node)
                else:
                    self._fail(key, number, repair, domain.name)
        drawn, at, _ = self._next_failure(domain, drawn)
        self._set(domain, (drawn, at + repair if at < NEVER else at, False))

    def _fail(self, key: Key, drawn: int, repair: int, domain: str = "") -> None:
        node = self.lifetime.host.objects[key]
        if UNREACHABLE in (node.spec.get("taints") or ()):  # failed by a person
            self._set(key, self._next_failure(key, drawn), node)
            return
        self._set(key, (drawn, self.context.now_ms + repair, True), node)
        words = Befallen.FAILED_WITH if domain else Befallen.FAILED
        sentence = words.said(domain=domain, long=repair / 1000)
        self._emit(key, "failed", sentence)
        self.lifetime.host.put(changed_node(node, "fail"))
        self.lifetime.lose_node(key.name, sentence)

    def _bring_back(self, node: Object, drawn: int) -> None:
        self._set(node.key, self._next_failure(node.key, drawn), node)
        if UNREACHABLE not in (node.spec.get("taints") or ()):
            return
        self._emit(node.key, "recovered", Befallen.REPAIRED.said())
        back = changed_node(node, "recover")
        if node.spec.get("unschedulable"):
            back.spec["unschedulable"] = True
        self.lifetime.host.put(back)

    def _emit(self, node: Key, change: str, said: Sentence) -> None:
        now = self.context.now_ms
        self.context.journal.emit(
            NodeChange(
                at_ms=now, subject=node, change=change, message=said.text, said=said
            )
        )

    # -- draws -------------------------------------------------------------

    def _next_failure(self, key: Key, drawn: int) -> State:
        mean = self.domain_mean_ms if key.kind == DOMAIN else self.mean_ms
        if mean >= NEVER:
            return drawn, NEVER, False
        seed, subject = self.context.seed, self._subject(key)
        gap = streams.exponential(seed, "failure", subject, drawn, mean=mean)
        return drawn + 1, self.context.now_ms + max(1, round(gap)), False

    def _repair_ms(self, span: Span, key: Key, drawn: int) -> int:
        return span.draw(self.context.seed, "repair", self._subject(key), drawn)

    def _subject(self, key: Key) -> str:
        if key.kind == DOMAIN:
            return key.name
        return str(self.lifetime.host.objects[key].metadata.get("uid") or key.name)

    def _set(self, key: Key, state: State, node: Object | None = None) -> None:
        self.states[key] = state
        if state[1] < NEVER:
            self.lifetime.timers.add(state[1], Due.FAILURE, key)
        if node is not None:
            self.context.journal.touch(key)

    def _may_fail(self, node: Object) -> bool:
        wanted = self.failures.nodes.items()
        return all(node.labels.get(name) == value for name, value in wanted)

    def _domain_of(self, node: Object) -> Key | None:
        label = self.failures.domain
        value = node.labels.get(label) if label else None
        return None if value is None else Key(DOMAIN, "", f"{label}={value}")
