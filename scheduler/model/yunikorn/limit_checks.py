"""What limits of users and groups may not say.

Source: docs/semantics/yunikorn.md#configuration-checks
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from scheduler.model.hierarchy import Limit, QueueConfig
from scheduler.model.problems import Form, Problem, Wanted, expected, in_field
from scheduler.model.sentence import Sentence, plain
from scheduler.model.yunikorn import resources
from scheduler.model.yunikorn.fields import Fields
from scheduler.model.yunikorn.resources import Amounts

ANY = "*"
_USER = re.compile(r"[A-Za-z_][A-Za-z0-9:#/_.@-]*\$?")
_GROUP = re.compile(r"[A-Za-z_][A-Za-z0-9:_.-]*")

#: What a name may use at a queue: resources (None is unlimited), applications (0).
_Allowance = tuple[Amounts | None, int]


def check_limits(
    fields: Fields,
    limits: tuple[Limit, ...],
    path: str,
    queue: QueueConfig,
    *,
    is_root: bool,
) -> None:
    """Raise ManifestError for the first problem of a queue's own limits."""
    users: list[str] = []
    groups: list[str] = []
    for index, limit in enumerate(limits):
        at = f"{path}.limits[{index}]"
        if not limit.users and not limit.groups:
            raise fields.error(
                at,
                Form.GOT_NEITHER.said(
                    wanted=Wanted.CHOICE.said(first="users", last="groups")
                ),
            )
        for name in limit.users:
            _check_name(fields, name, users, _USER, f"{at}.users")
        for name in limit.groups:
            if name == ANY and not groups:
                problem = Problem.NAMED_GROUP.said()
                raise fields.error(f"{at}.groups", problem)
            _check_name(fields, name, groups, _GROUP, f"{at}.groups")
        _check_amounts(fields, limit, at, queue, is_root=is_root)


def _check_name(
    fields: Fields, name: str, seen: list[str], pattern: re.Pattern[str], path: str
) -> None:
    if name != ANY and not pattern.fullmatch(name):
        raise fields.error(path, expected(Wanted.NAME, name))
    if name in seen:
        raise fields.error(path, Form.TWICE.said(name=repr(name)))
    if ANY in seen:
        raise fields.error(path, Problem.LAST.said(name=repr(name)))
    seen.append(name)


def _check_amounts(
    fields: Fields, limit: Limit, path: str, queue: QueueConfig, *, is_root: bool
) -> None:
    if limit.max_resources is None and not limit.max_applications:
        raise fields.error(path, expected(Wanted.LIMITS))
    if queue.max_applications and limit.max_applications > queue.max_applications:
        problem = expected(Wanted.QUEUE_OWN.said(most=queue.max_applications))
        raise fields.error(f"{path}.maxapplications", problem)
    if queue.max is None or limit.max_resources is None or is_root:
        return
    for name, value in limit.max_resources.items():
        if value > queue.max.get(name, value):
            allowed = resources.text_of(name, queue.max[name])
            problem = in_field(name, expected(Wanted.QUEUE_MOST.said(most=allowed)))
            raise fields.error(f"{path}.maxresources", problem)


def check_descent(
    fields: Fields, root: QueueConfig, limits: tuple[Limit, ...], path: str
) -> None:
    """Raise ManifestError where a limit exceeds one further up.

    Resources of the whole tree first, then applications.
    """
    for check in (_resources_within, _applications_within):
        _descend(fields, root, limits, {}, path, check)


def _descend(
    fields: Fields,
    queue: QueueConfig,
    limits: tuple[Limit, ...],
    above: Mapping[tuple[str, str], _Allowance],
    path: str,
    check: object,
) -> None:
    assert callable(check)
    here = dict(above)
    for index, limit in enumerate(limits):
        own = dict(limit.max_resources) if limit.max_resources else None
        names = [("user", name) for name in limit.users]
        names += [("group", name) for name in limit.groups]
        for kind, name in names:
            found = above.get((kind, name), above.get((kind, ANY)))
            given: _Allowance = (own, limit.max_applications)
            if found is not None and (problem := check(given, found)):
                at = f"{path}.limits[{index}]"
                raise fields.error(at, in_field(f"{kind} {name!r}", problem))
            inherited = found[0] if found is not None else None
            here[kind, name] = (resources.least(own, inherited), given[1])
    for index, child in enumerate(queue.queues):
        at = f"{path}.queues[{index}]"
        _descend(fields, child, child.limits, here, at, check)


def _resources_within(given: _Allowance, above: _Allowance) -> Sentence | None:
    for name, value in (given[0] or {}).items():
        limit = (above[0] or {}).get(name)
        if limit is not None and value > limit:
            return plain(f"{name} is more than the limit further up")
    return None


def _applications_within(given: _Allowance, above: _Allowance) -> Sentence | None:
    if above[1] and not 0 < given[1] <= above[1]:
        return expected(Wanted.FURTHER.said(least=1, most=above[1]))
    return None
