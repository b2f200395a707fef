"""Fields of a queues.yaml, each read with the place to complain about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from scheduler.model.errors import (
    ManifestError,
    PatternError,
    QuantityError,
    SourceLocation,
)
from scheduler.model.hierarchy import PlacementRule, RuleFilter
from scheduler.model.problems import Form, Problem, Wanted, expected
from scheduler.model.sentence import Sentence
from scheduler.model.texts.plain_text import read_pattern
from scheduler.model.yunikorn import resources
from scheduler.model.yunikorn.resources import Amounts

#: Texts that stand for a flag, as YAML 1.1 has them.
_FLAGS = {
    **dict.fromkeys(("y", "yes", "on"), True),
    **dict.fromkeys(("n", "no", "off"), False),
}


class ReadDocument(Protocol):
    """Plain data, and the error to raise about a field of it."""

    @property
    def data(self) -> dict[str, Any]:
        """Return the data."""

    def error(self, path: str, problem: Sentence) -> ManifestError:
        """Return the error to raise about a field, with its place."""


@dataclass(frozen=True, slots=True)
class PlainQueues:
    """A queues.yaml that a policy holds, which has no lines."""

    data: dict[str, Any]
    file: str = "policy"

    def error(self, path: str, problem: Sentence) -> ManifestError:
        """Return the error to raise about a field."""
        place = SourceLocation(file=self.file, line=1, field=path)
        return ManifestError(problem, place=place)


@dataclass(slots=True, kw_only=True)
class Fields:
    """Reads single fields of one document; raises ManifestError with their place."""

    document: ReadDocument

    def error(self, path: str, problem: Sentence) -> ManifestError:
        """Return the error to raise about a field."""
        return self.document.error(path, problem)

    def amounts(self, data: Mapping[str, Any], key: str, path: str) -> Amounts | None:
        """Return the resource, or None when nothing in it is above zero."""
        given = self.mapping(data, key, path)
        found: Amounts = {}
        for name, text in given.items():
            try:
                found[name] = resources.parse(name, text)
            except QuantityError as error:
                raise self.error(f"{path}.{key}.{name}", error.said) from error
        return resources.is_set(found)

    def text(self, data: Mapping[str, Any], key: str, path: str) -> str:
        """Return a text, "" when it is absent; numbers and flags become texts."""
        value = data.get(key)
        if isinstance(value, dict | list):
            raise self.error(f"{path}.{key}", expected(Wanted.TEXT, value))
        return _plain(value)

    def names(self, data: Mapping[str, Any], key: str, path: str) -> tuple[str, ...]:
        """Return a list of texts, empty when it is absent."""
        found = self.list_of(data, key, path)
        for index, value in enumerate(found):
            if isinstance(value, dict | list):
                at = f"{path}.{key}[{index}]"
                raise self.error(at, expected(Wanted.TEXT, value))
        return tuple(map(_plain, found))

    def texts(self, data: Mapping[str, Any], key: str, path: str) -> dict[str, str]:
        """Return a mapping of texts; YAML numbers and flags become texts."""
        given = self.mapping(data, key, path)
        return {_plain(name): self.text(given, name, f"{path}.{key}") for name in given}

    def mapping(self, data: Mapping[str, Any], key: str, path: str) -> dict[str, Any]:
        """Return an object, empty when it is absent."""
        value = data.get(key)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.error(f"{path}.{key}", expected(Wanted.OBJECT, value))
        return value

    def list_of(self, data: Mapping[str, Any], key: str, path: str) -> list[Any]:
        """Return a list, empty when it is absent."""
        value = data.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            at = f"{path}.{key}" if path else key
            raise self.error(at, expected(Wanted.LIST, value))
        return value

    def flag(self, data: Mapping[str, Any], key: str, path: str, default: bool) -> bool:
        """Return a switch, or the default where it is absent. YAML 1.1 words count, too."""
        value = data.get(key)
        if value is None:
            return default
        if isinstance(value, str) and value.lower() in _FLAGS:
            return _FLAGS[value.lower()]
        if not isinstance(value, bool):
            raise self.error(f"{path}.{key}", expected(Wanted.FLAG, value))
        return value

    def count(self, data: Mapping[str, Any], key: str, path: str) -> int:
        """Return a whole number of 0 or more."""
        value = data.get(key)
        if value is None:
            return 0
        if isinstance(value, float) and value >= 0:
            return int(value)  # as the real reader takes it
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            problem = expected(Wanted.WHOLE_OR_MORE.said(least="0"), value)
            raise self.error(f"{path}.{key}", problem)
        return value

    def known(self, data: Mapping[str, Any], keys: set[str], path: str) -> None:
        """Refuse keys that are none of these."""
        for key in data:
            if key not in keys:
                names = ", ".join(sorted(keys))
                raise self.error(f"{path}.{key}", Form.UNKNOWN_KEY.said(known=names))


def _plain(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


# ------------------------------------------------------------------------
# Placement rules of a queues.yaml.


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
