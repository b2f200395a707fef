"""Placement rules of a queues.yaml."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler.model.errors import PatternError
from scheduler.model.hierarchy import PlacementRule, RuleFilter
from scheduler.model.problems import Problem, Wanted, expected
from scheduler.model.texts.patterns import read_pattern
from scheduler.model.yunikorn.fields import Fields

_RULES = ("provided", "user", "fixed", "tag")
_USER = re.compile(r"[A-Za-z_][A-Za-z0-9:#/_.@-]*\$?")
_GROUP = re.compile(r"[A-Za-z_][A-Za-z0-9:_.-]*")
#: What makes a single entry of a filter a regular expression.
SPECIAL = re.compile(r"[\^$*+?()\[{}|]")
#: Words of Go, which are no identifiers there.
_KEYWORDS = frozenset(
    [
        "break",
        "case",
        "chan",
        "const",
        "continue",
        "default",
        "defer",
        "else",
        "fallthrough",
        "for",
        "func",
        "go",
        "goto",
        "if",
        "import",
        "interface",
        "map",
        "package",
        "range",
        "return",
        "select",
        "struct",
        "switch",
        "type",
        "var",
    ]
)


@dataclass(slots=True, kw_only=True)
class RuleReader(Fields):
    """Reads placement rules and their filters."""

    def rules(self, data: Mapping[str, Any], path: str) -> tuple[PlacementRule, ...]:
        """Return the placement rules."""
        items = self.list_of(data, "placementrules", path)
        return tuple(
            self.rule(item, f"{path}.placementrules[{index}]")
            for index, item in enumerate(items)
        )

    def rule(self, data: Any, path: str) -> PlacementRule:
        """Return one placement rule and its parent rules."""
        if not isinstance(data, dict):
            raise self.error(path, expected(Wanted.RULE.said(known=", ".join(_RULES))))
        self.known(data, {"name", "value", "create", "filter", "parent"}, path)
        name = self.text(data, "name", path)
        if not name.isidentifier() or name in _KEYWORDS:
            problem = expected(Wanted.ONE_OF.said(known=", ".join(_RULES)), name)
            raise self.error(f"{path}.name", problem)
        parent = data.get("parent")
        return PlacementRule(
            name=name.lower(),
            value=self.text(data, "value", path),
            create=self.flag(data, "create", path, False),
            filter=self.filter(data, path),
            parent=self.rule(parent, f"{path}.parent") if parent is not None else None,
        )

    def filter(self, data: Mapping[str, Any], path: str) -> RuleFilter | None:
        """Return the users and groups that a rule is for."""
        given, at = self.mapping(data, "filter", path), f"{path}.filter"
        if not given:
            return None
        self.known(given, {"type", "users", "groups"}, at)
        kind = self.text(given, "type", at)
        if kind.lower() not in ("", "allow", "deny"):
            raise self.error(
                f"{at}.type",
                expected(Wanted.CHOICE.said(first="allow", last="deny"), kind),
            )
        users = self.names(given, "users", at)
        groups = self.names(given, "groups", at)
        self.check_entry(users, _USER, f"{at}.users")
        self.check_entry(groups, _GROUP, f"{at}.groups")
        return RuleFilter(deny=kind == "deny", users=users, groups=groups)

    def check_entry(
        self, entries: tuple[str, ...], name: re.Pattern[str], path: str
    ) -> None:
        """Refuse a single entry that is neither a name nor a regular expression."""
        if len(entries) != 1 or name.fullmatch(entries[0]):
            return
        if not SPECIAL.search(entries[0]):
            problem = Problem.EXPRESSION.said(given=repr(entries[0]))
            raise self.error(f"{path}[0]", problem)
        try:
            read_pattern(entries[0])
        except PatternError as error:
            raise self.error(f"{path}[0]", error.said) from error

    def unbuildable(self, rules: tuple[PlacementRule, ...]) -> str:
        """Return why the rules cannot be built, "" when they can.

        The configuration is good all the same: it runs without any rule.
        """
        for rule in rules:
            for at in chain(rule):
                if at.name not in _RULES:
                    return f"unknown placement rule {at.name!r}"
                if at.name in ("tag", "fixed") and not at.value:
                    return f"placement rule {at.name!r} has no value"
                if (
                    at.name == "fixed"
                    and at.parent
                    and at.value.lower().startswith("root")
                ):
                    return f"fixed rule {at.value!r} is qualified and has a parent"
        return ""


def chain(rule: PlacementRule) -> Iterator[PlacementRule]:
    """Yield a rule, its parent rule, and so on."""
    at: PlacementRule | None = rule
    while at is not None:
        yield at
        at = at.parent
