"""The ConfigMap of the priority expander: patterns of names, by priority.

Source: docs/semantics/capacity.md#expanders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scheduler.model.amounts import whole
from scheduler.model.errors import QuantityError, SchedulerError
from scheduler.model.objects import Key, Object
from scheduler.model.problems import GivenUp, Wanted, expected
from scheduler.model.sentence import Sentence
from scheduler.model.texts.patterns import Pattern, read_pattern
from scheduler.model.texts.values import read_value

CONFIG_MAP = Key("ConfigMap", "kube-system", "cluster-autoscaler-priority-expander")
_FIELD = "priorities"

Rules = list[tuple[int, list[Pattern]]]


class Priorities:
    """Which groups come first: by the ConfigMap while it is there, else their own."""

    def __init__(self, complain: Callable[[Sentence], None]) -> None:
        self.complain = complain
        self.rules: Rules | None = None
        self.text: str | None = None  # what the rules were read from
        self.outdated = False  # the ConfigMap says something else, not to be read

    def put(self, obj: Object) -> None:
        """Take the ConfigMap; one that cannot be read changes nothing, with a word."""
        if obj.key != CONFIG_MAP:
            return
        data = obj.manifest.get("data") or {}
        try:
            self.rules = read_priorities(data)
        except QuantityError as error:
            self.outdated = True
            self.complain(GivenUp.PRIORITIES.said(key=CONFIG_MAP.path, problem=error))
        else:
            self.text, self.outdated = str(data[_FIELD]), False

    def remove(self, key: Key) -> None:
        """Forget the ConfigMap."""
        if key == CONFIG_MAP:
            self.rules, self.text, self.outdated = None, None, False

    def state(self) -> dict[str, str]:
        """Return the rules that hold where the ConfigMap no longer says them."""
        kept = self.outdated and self.text is not None
        return {_FIELD: self.text or ""} if kept else {}

    def load(self, state: Mapping[str, Any]) -> None:
        """Take back `state`."""
        if _FIELD in state:
            self.rules, self.text = read_priorities(state), state[_FIELD]

    def of(self, name: str, own: int) -> int | None:
        """Return a group's priority; None if the ConfigMap names it nowhere."""
        if self.rules is None:
            return own
        return next(
            (
                number
                for number, patterns in self.rules
                if any(pattern.found_in(name) for pattern in patterns)
            ),
            None,
        )


def read_priorities(data: Any) -> Rules:
    """Return the rules, highest first. Raises QuantityError."""
    text = (data or {}).get(_FIELD)
    if not isinstance(text, str | None):
        raise QuantityError(
            expected(Wanted.TEXT, given=f"{text!r:.40}"), f"data.{_FIELD}"
        )
    try:
        found = read_value(text or "", file=CONFIG_MAP.path)
        rules = [
            (whole(number), [read_pattern(str(one)) for one in given])
            for number, given in found.items()
        ]
    except (SchedulerError, AttributeError, TypeError) as error:
        raise QuantityError(
            expected(Wanted.PATTERNS, given=error), f"data.{_FIELD}"
        ) from error
    return sorted(rules, key=lambda rule: -rule[0])
