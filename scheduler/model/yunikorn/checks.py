"""What a partition's configuration may not say, in the order of the real checks.

Source: docs/semantics/yunikorn.md#configuration-checks
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from scheduler.model.hierarchy import Limit, PartitionSpec, PlacementRule, QueueConfig
from scheduler.model.problems import Form, Problem, Wanted, expected, in_field
from scheduler.model.sentence import Sentence, plain
from scheduler.model.yunikorn import resources
from scheduler.model.yunikorn.fields import Fields, chain
from scheduler.model.yunikorn.resources import Amounts

_QUEUE_NAME = re.compile(r"[A-Za-z0-9_:#/@-]{1,64}")
_ACL_PARTS = 2


def check_partition(fields: Fields, spec: PartitionSpec, path: str) -> None:
    """Raise ManifestError for the first problem of a partition."""
    root, at = spec.root, f"{path}.queues[0]"
    if root.max is not None or root.guaranteed is not None:
        raise fields.error(f"{at}.resources", Problem.ROOT.said())
    if spec.limits and root.limits and spec.limits != root.limits:
        raise fields.error(f"{at}.limits", expected(Wanted.PARTITION))
    _check_queue(fields, root, at, is_root=True)
    if not root.limits:
        check_limits(fields, spec.limits, path, root, is_root=True)
    check_resources(fields, root, at, None)
    check_fixed_paths(fields, spec, path)
    _check_max_applications(fields, root, at)
    check_descent(fields, root, spec.limits or root.limits, at)


def _check_queue(
    fields: Fields, queue: QueueConfig, path: str, *, is_root: bool
) -> None:
    _check_acl(fields, queue.submit_acl, f"{path}.submitacl")
    _check_acl(fields, queue.admin_acl, f"{path}.adminacl")
    check_limits(fields, queue.limits, path, queue, is_root=is_root)
    names: set[str] = set()
    for index, child in enumerate(queue.queues):
        at = f"{path}.queues[{index}].name"
        if not _QUEUE_NAME.fullmatch(child.name):
            problem = Problem.QUEUE_NAME.said(name=repr(child.name))
            raise fields.error(at, problem)
        if child.name in names:
            raise fields.error(at, Form.TWICE.said(name=f"queue {child.name!r}"))
        names.add(child.name)
    for index, child in enumerate(queue.queues):
        _check_queue(fields, child, f"{path}.queues[{index}]", is_root=False)


def _check_acl(fields: Fields, text: str, path: str) -> None:
    """Refuse an ACL of more than users and groups; every blank separates."""
    if len(text.split(" ")) > _ACL_PARTS:
        problem = Problem.USERS.said(given=repr(text))
        raise fields.error(path, problem)


def check_resources(
    fields: Fields, queue: QueueConfig, path: str, above: Amounts | None
) -> Amounts:
    """Return what a queue guarantees: its own, or the sum of its children.

    `above` is the effective max of its parent.
    """
    limit = dict(queue.max) if queue.max is not None else None
    at = f"{path}.resources.guaranteed"
    if queue.guaranteed is not None and limit is not None:
        _within(fields, dict(queue.guaranteed), limit, at, "its max")
    if limit is not None and above is not None:
        _within(fields, limit, above, f"{path}.resources.max", "its parent's max")
    effective = resources.least(limit, above)
    total: Amounts = {}
    for index, child in enumerate(queue.queues):
        part = check_resources(fields, child, f"{path}.queues[{index}]", effective)
        resources.add_to(total, part)
    if queue.guaranteed is not None:
        own = dict(queue.guaranteed)
        _within(fields, total, own, at, "the guarantee above its children's sum")
    if effective is not None:
        _within(fields, total, effective, at, "the max")
    return total if queue.guaranteed is None else dict(queue.guaranteed)


def _within(
    fields: Fields, amounts: Amounts, limit: Amounts, path: str, whose: str
) -> None:
    for name, value in amounts.items():
        if name in limit and value > limit[name]:
            given = resources.text_of(name, value)
            allowed = resources.text_of(name, limit[name])
            raise fields.error(
                path,
                Problem.ALLOWS.said(key=name, other=given, name=whose, most=allowed),
            )


def _check_max_applications(fields: Fields, queue: QueueConfig, path: str) -> None:
    limit = queue.max_applications
    for index, child in enumerate(queue.queues):
        at = f"{path}.queues[{index}]"
        if limit and not 0 < child.max_applications <= limit:
            problem = expected(Wanted.PARENT_ALLOWS.said(least="1", most=limit))
            raise fields.error(f"{at}.maxapplications", problem)
        _check_max_applications(fields, child, at)


# ------------------------------------------------------------------------
# What limits of users and groups may not say.


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
            inherited, _ = above.get((kind, name), (None, 0))  # not of ANY
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


# ------------------------------------------------------------------------
# Where the fixed part of a placement rule may not lead.


def check_fixed_paths(fields: Fields, spec: PartitionSpec, path: str) -> None:
    """Raise ManifestError for a fixed path that can never hold an application."""
    for index, rule in enumerate(spec.placement):
        problem = _problem(spec.root, rule)
        if problem:
            raise fields.error(f"{path}.placementrules[{index}]", plain(problem))


def _problem(root: QueueConfig, rule: PlacementRule) -> str:
    """Return the problem of a rule, "" for none.

    Whether the queue may be missing is for the rule itself to say, not for its
    parent rules.
    """
    names, dynamic = _fixed_part(rule)
    if not names:
        return ""
    queue: QueueConfig | None = root
    for name in names[1:]:
        assert queue is not None
        if not queue.parent:
            return f"queue {queue.name!r} is a leaf and has no {name!r} below it"
        queue = next((child for child in queue.queues if child.name == name), None)
        if queue is None:
            break
    where = ".".join(names)
    if queue is None:
        return (
            "" if rule.create else f"queue {where} does not exist and create is false"
        )
    if dynamic:
        return "" if queue.parent else f"queue {where} is a leaf: nothing goes below it"
    return (
        f"queue {where} is a parent: no application goes there" if queue.parent else ""
    )


def _fixed_part(rule: PlacementRule) -> tuple[list[str], bool]:
    """Return the names of the fixed part, and whether more follows."""
    names: list[str] = []
    for link in list(chain(rule))[::-1]:
        if link.name != "fixed":
            return names, bool(names)
        value = link.value.lower()
        parts = value.split(".")
        names = parts if value.startswith("root") else [*(names or ["root"]), *parts]
    return names, False
