"""Which devices a CEL expression selects, where it only compares attributes."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

import msgspec

from scheduler.model import amounts
from scheduler.model.errors import QuantityError

Attribute = str | int | bool


class Device(msgspec.Struct, frozen=True, kw_only=True):
    """One device of a pool; attributes and capacity by their full names."""

    driver: str
    pool: str
    name: str
    attributes: dict[str, Attribute] = {}
    capacity: dict[str, int] = {}

    @property
    def id(self) -> tuple[str, str, str]:
        """Return its unique name."""
        return self.driver, self.pool, self.name


Rule = Callable[[Device], bool]
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_OPERATOR = r"\s*(==|!=|>=|<=|>|<)\s*"
_TEXT = r"""("[^"]*"|'[^']*')"""  # CEL has both quotes
_NAMED = rf"\[{_TEXT}\]\.([A-Za-z_]\w*)"
_DRIVER = re.compile(r"device\.driver" + _OPERATOR + _TEXT)
_FLAG = re.compile(r"(!?)\s*device\.attributes" + _NAMED)
_ATTRIBUTE = re.compile(
    rf"device\.attributes{_NAMED}{_OPERATOR}({_TEXT}|-?[0-9]+|true|false)"
)
_CAPACITY = re.compile(
    rf"device\.capacity{_NAMED}\.compareTo\(quantity\({_TEXT}\)\){_OPERATOR}0"
)


def read_rule(expression: str) -> Rule | None:
    """Return the rule of a CEL expression; None for one that is not simple.

    Simple: terms joined by `&&`, each of which compares the driver, an attribute or a
    capacity with a literal, or names a boolean attribute. A device without the
    attribute is not selected. Source: docs/semantics/kube-scheduler.md#devices.
    """
    rules = [_term(term.strip()) for term in expression.split("&&")]
    known = [rule for rule in rules if rule is not None]
    if len(known) < len(rules):
        return None
    return lambda device: all(rule(device) for rule in known)


def _term(text: str) -> Rule | None:
    if found := _DRIVER.fullmatch(text):
        compare, driver = _COMPARE[found[1]], found[2][1:-1]
        return lambda device: compare(device.driver, driver)
    if found := _FLAG.fullmatch(text):
        flag, wanted = _full(found[2], found[3]), found[1] == ""
        return lambda device: device.attributes.get(flag) is wanted
    if found := _ATTRIBUTE.fullmatch(text):
        return _attribute(_full(found[1], found[2]), _COMPARE[found[3]], found[4])
    if found := _CAPACITY.fullmatch(text):
        return _capacity(_full(found[1], found[2]), _COMPARE[found[4]], found[3][1:-1])
    return None


def _full(quoted: str, name: str) -> str:
    """Return the full name of an attribute of a domain in quotes."""
    return f"{quoted[1:-1]}/{name}"


def _attribute(name: str, compare: Callable[[Any, Any], bool], text: str) -> Rule:
    literal: Attribute = text[1:-1]
    if text in ("true", "false"):
        literal = text == "true"
    elif text[0] not in "\"'":
        literal = int(text)

    def rule(device: Device) -> bool:
        value = device.attributes.get(name)
        return type(value) is type(literal) and compare(value, literal)

    return rule


def _capacity(name: str, compare: Callable[[Any, Any], bool], text: str) -> Rule | None:
    try:
        amount = amounts.canonical("memory", text)
    except QuantityError:
        return None
    return lambda device: (
        name in device.capacity and compare(device.capacity[name], amount)
    )
