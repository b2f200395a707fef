"""Answers admission checks as the policy's rules say.

The real controllers of checks are programs of their own; here a rule stands for
each. When an answer comes follows from the reservation alone, so nothing of it is
stored. Source: docs/semantics/kueue-admission-checks.md#answers-in-a-sandbox.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence

from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.stage import Context
from scheduler.model import streams
from scheduler.model.admission_check import Answer, CheckRule, RecordedAnswer
from scheduler.model.durations import NEVER, read_span
from scheduler.model.kueue.check_state import PENDING, RETRY, CheckState
from scheduler.model.objects import Key
from scheduler.model.reasons import QUOTA_RESERVED


class CheckAnswers:
    """When each pending check is answered, and with what. Without rules: never."""

    def __init__(self, context: Context, rules: Sequence[CheckRule] | None) -> None:
        self.context = context
        self.given = rules
        self.simulated = rules is not None
        self.rules = {rule.check: rule for rule in rules or ()}
        #: Whether a simulated controller answers a check: no rule does then.
        self.elsewhere: Callable[[str], bool] = lambda name: False
        self.dispatched: frozenset[str] = frozenset()  # checks of MultiKueue
        self._heap: list[tuple[int, Key, str]] = []
        self._armed: dict[Key, dict[str, int]] = {}  # when, by check

    def arm(self, work: WorkloadInfo) -> None:
        """Set the timers of a workload's checks after something about it changed."""
        if not self.simulated:
            return
        known, armed = self._armed.pop(work.key, {}), dict[str, int]()
        for name in work.checks:
            if (at := self._due(work, name)) is None:
                continue
            armed[name] = at
            if known.get(name) != at:
                heapq.heappush(self._heap, (at, work.key, name))
        if armed:
            self._armed[work.key] = armed

    def drop(self, key: Key) -> None:
        """Forget a workload."""
        self._armed.pop(key, None)

    def answers_at(self, work: WorkloadInfo, name: str) -> int | None:
        """Return when (ms) a rule answers a check; None if nobody asks it, or never."""
        return self._due(work, name) if self.simulated else None

    def due(self) -> int | None:
        """Return the next instant (ms) with an answer, or None."""
        while self._heap:
            at, key, name = self._heap[0]
            if self._armed.get(key, {}).get(name) == at:
                return at
            heapq.heappop(self._heap)
        return None

    def take_due(self) -> Iterator[tuple[Key, str]]:
        """Yield whose checks are answered by now, and which."""
        while (at := self.due()) is not None and at <= self.context.now_ms:
            _, key, name = heapq.heappop(self._heap)
            del self._armed[key][name]
            yield key, name

    def answer(self, work: WorkloadInfo, name: str) -> CheckState | None:
        """Return what a check says of a workload now; None if nobody asks it."""
        if self._due(work, name) is None:
            return None
        rule, recorded = self._rule(name), self._recorded(work, name)
        state: Answer = rule.answer if recorded is None else recorded.answer
        if recorded is None and rule.probability < 1:
            draw = streams.uniform(
                self.context.seed, "check", f"{name}/{work.uid}", _attempt(work)
            )
            state = rule.answer if draw < rule.probability else rule.otherwise
        source = recorded or rule
        delay = source.requeue_after_seconds
        return CheckState(
            state=state,
            message=source.message,
            since_us=0,
            pod_set_updates=tuple(rule.pod_set_updates) if state == "Ready" else (),
            requeue_after_s=delay if state == RETRY else None,
        )

    def _rule(self, name: str) -> CheckRule:
        return self.rules.get(name) or CheckRule(check=name)

    def _recorded(self, work: WorkloadInfo, name: str) -> RecordedAnswer | None:
        for answer in self._rule(name).recorded:
            if (answer.workload, answer.attempt) == (work.name, _attempt(work)):
                return answer
        return None

    def _due(self, work: WorkloadInfo, name: str) -> int | None:
        """Return when (ms) a pending check is answered, None for never."""
        check, rule = work.checks.get(name), self._rule(name)
        asked = work.reserved and not work.evicted and not work.finished
        if check is None or check.state != PENDING or not asked:
            return None
        if name in self.dispatched or self.elsewhere(name):
            return None
        recorded = self._recorded(work, name)
        if recorded is None and rule.by_hand:
            return None
        since = self.context.ms(work.conditions[QUOTA_RESERVED].since_us)
        span = read_span(rule.after if recorded is None else recorded.after)
        delay = span.draw(
            self.context.seed, "check-delay", f"{name}/{work.uid}", _attempt(work)
        )
        return None if delay >= NEVER else _opens(rule, since + delay)


def _attempt(work: WorkloadInfo) -> int:
    """Return the number of the workload's reservation, from 1 on."""
    return 1 + sum(work.evictions.values())


def _opens(rule: CheckRule, at: int) -> int:
    """Return the first instant from `at` on at which the check answers."""
    if not rule.every:
        return at
    every = read_span(rule.every).values[0]
    passed = at % every
    return at if passed < read_span(rule.open).values[0] else at + every - passed
