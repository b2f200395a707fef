"""Failures as a process: when nodes and racks fail, and when they are back.

Source: docs/semantics/capacity.md#failures-of-nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scheduler.engine.lifetime.changes import UNREACHABLE, changed_node
from scheduler.engine.lifetime.runs import Due
from scheduler.model import streams
from scheduler.model.decisions import NodeChange
from scheduler.model.event_words import Befallen
from scheduler.model.objects import Key, Object
from scheduler.model.policy import Failures
from scheduler.model.sentence import Sentence
from scheduler.model.spans import NEVER, Span, read_span

if TYPE_CHECKING:
    from scheduler.engine.lifetime.node_loss import NodeLoss

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
