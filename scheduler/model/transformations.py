"""Configuration.resources: requests left out, and requests turned into others."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

Quantities = dict[str, Fraction]


@dataclass(frozen=True, slots=True, kw_only=True)
class Transformation:
    """What one requested resource becomes.

    `outputs` are per unit of the input: cores of cpu, bytes of memory.
    """

    outputs: Mapping[str, Fraction]
    retain: bool = True  # the input stays requested as well
    multiply_by: str = ""  # another request of the pod, or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceTransform:
    """Exclusions and transformations, as a Configuration gives them."""

    excluded: tuple[str, ...] = ()  # prefixes
    transformations: Mapping[str, Transformation] = field(default_factory=dict)
    exact: bool = True  # releases/rules.py: EXACT_TRANSFORMATIONS

    def apply(self, requests: Mapping[str, Fraction]) -> Quantities:
        """Return a pod's exact demand on quota; `requests` are those of its spec.

        Source: docs/semantics/kueue.md#resource-transformations.
        """
        asked = {
            name: amount
            for name, amount in requests.items()
            if not name.startswith(self.excluded)
        }
        made: Quantities = {}
        for name, amount in asked.items():
            self._transform(made, name, amount, asked)
        kept = {name: amount for name, amount in asked.items() if self._keeps(name)}
        for name, amount in made.items():
            kept[name] = kept.get(name, Fraction(0)) + max(amount, Fraction(0))
        return kept

    def _keeps(self, name: str) -> bool:
        rule = self.transformations.get(name)
        return rule is None or rule.retain

    def _transform(
        self, made: Quantities, name: str, amount: Fraction, asked: Quantities
    ) -> None:
        rule = self.transformations.get(name)
        if rule is None:
            return
        times = asked.get(rule.multiply_by, Fraction(1))
        amount *= times if self.exact else math.ceil(times)
        if not self.exact:  # a whole number of units, rounded up
            amount = Fraction(math.ceil(amount))
        for output, factor in rule.outputs.items():
            made[output] = made.get(output, Fraction(0)) + amount * factor
