"""Filters of placement rules: the users and groups that a rule is for.

Source: docs/semantics/yunikorn.md#filters-of-placement-rules
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from scheduler.model.errors import PatternError
from scheduler.model.hierarchy import RuleFilter
from scheduler.model.texts.patterns import read_pattern

_SPECIAL = re.compile(r"[\^$*+?()\[{}|]")


def passes(rule: RuleFilter | None, user: str, groups: tuple[str, ...]) -> bool:
    """Return whether a rule is for a user with these groups."""
    if rule is None:
        return True
    if not rule.users and not rule.groups:
        return not rule.deny
    named = _match(rule.users, (user,)) or _match(rule.groups, groups)
    return named is not rule.deny


def _match(entries: tuple[str, ...], names: Iterable[str]) -> bool:
    """Return whether a name is meant; only a single entry may be an expression."""
    if len(entries) == 1 and _SPECIAL.search(entries[0]):
        try:
            pattern = read_pattern(entries[0])
        except PatternError:
            return False
        return any(pattern.found_in(name) for name in names)
    return any(name in entries for name in names)
