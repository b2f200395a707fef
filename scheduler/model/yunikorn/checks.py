"""What a partition's configuration may not say, in the order of the real checks.

Source: docs/semantics/yunikorn.md#configuration-checks
"""

from __future__ import annotations

import re

from scheduler.model.hierarchy import PartitionSpec, QueueConfig
from scheduler.model.problems import Form, Problem, Wanted, expected
from scheduler.model.yunikorn import limit_checks, resources, rule_checks
from scheduler.model.yunikorn.fields import Fields
from scheduler.model.yunikorn.resources import Amounts

_QUEUE_NAME = re.compile(r"[A-Za-z0-9_:#/@-]{1,64}")
_ACL_PARTS = 2


def check_partition(fields: Fields, spec: PartitionSpec, path: str) -> None:
    """Raise ManifestError for the first problem of a partition."""
    root, at = spec.root, f"{path}.queues[0]"
    if root.max is not None or root.guaranteed is not None:
        raise fields.error(
            f"{at}.resources",
            Problem.ROOT.said(),
        )
    if spec.limits and root.limits and spec.limits != root.limits:
        raise fields.error(f"{at}.limits", expected(Wanted.PARTITION))
    _check_queue(fields, root, at, is_root=True)
    if not root.limits:
        limit_checks.check_limits(fields, spec.limits, path, root, is_root=True)
    check_resources(fields, root, at, None)
    rule_checks.check_fixed_paths(fields, spec, path)
    _check_max_applications(fields, root, at)
    limit_checks.check_descent(fields, root, spec.limits or root.limits, at)


def _check_queue(
    fields: Fields, queue: QueueConfig, path: str, *, is_root: bool
) -> None:
    _check_acl(fields, queue.submit_acl, f"{path}.submitacl")
    _check_acl(fields, queue.admin_acl, f"{path}.adminacl")
    limit_checks.check_limits(fields, queue.limits, path, queue, is_root=is_root)
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
