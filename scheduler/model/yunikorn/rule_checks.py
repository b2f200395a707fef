"""Where the fixed part of a placement rule may not lead.

Source: docs/semantics/yunikorn.md#configuration-checks
"""

from __future__ import annotations

from scheduler.model.hierarchy import PartitionSpec, PlacementRule, QueueConfig
from scheduler.model.sentence import plain
from scheduler.model.yunikorn.fields import Fields
from scheduler.model.yunikorn.rules import chain


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
