"""Annotations of namespaces: quota for the queues that placement rules make.

Source: docs/semantics/yunikorn.md#namespace-annotations
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler.engine.yunikorn.objects.model import Application
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.objects.queue_tree import RECOVERY
from scheduler.model import amounts
from scheduler.model.amounts import is_whole
from scheduler.model.errors import QuantityError
from scheduler.model.problems import GivenUp, Wanted, expected
from scheduler.model.sentence import Sentence
from scheduler.model.yunikorn import resources
from scheduler.model.yunikorn.resources import VCORE, Amounts

_DOMAIN = "yunikorn.apache.org/"
_QUOTA = _DOMAIN + "namespace.quota"
_MAX_CPU = _DOMAIN + "namespace.max.cpu"
_MAX_MEMORY = _DOMAIN + "namespace.max.memory"
#: Annotation -> tag of the application.
_TAGS = {
    _QUOTA: "namespace.resourcequota",
    _DOMAIN + "namespace.guaranteed": "namespace.resourceguaranteed",
    _DOMAIN + "namespace.maxApps": "namespace.resourcemaxapps",
    _DOMAIN + "parentqueue": "namespace.parentqueue",
}

Complain = Callable[[Sentence], None]


@dataclass(frozen=True, slots=True)
class NamespaceQuota:
    """What a namespace sets for its queue; None leaves all of it as it is."""

    guaranteed: Amounts | None
    max: Amounts | None
    max_applications: int  # 0 leaves it as it is


def tags_of(namespace: str, annotations: Mapping[str, str]) -> dict[str, str]:
    """Return the tags of an application that is submitted in a namespace."""
    tags = {"namespace": namespace}
    older = {"cpu": annotations.get(_MAX_CPU), "memory": annotations.get(_MAX_MEMORY)}
    given = {name: value for name, value in older.items() if value}
    if given:
        tags[_TAGS[_QUOTA]] = json.dumps(given)
    for annotation, tag in _TAGS.items():
        if annotations.get(annotation):
            tags[tag] = annotations[annotation]
    return tags


def read(tags: Mapping[str, str], complain: Complain) -> NamespaceQuota:
    """Return the quota in the tags; what cannot be read is left out with a notice."""
    text = tags.get("namespace.resourcemaxapps", "0").strip()
    if not is_whole(text):
        complain(_ignored(tags, "namespace.maxApps", text, Wanted.WHOLE))
        text = "0"
    return NamespaceQuota(
        guaranteed=_amounts(tags, "namespace.resourceguaranteed", complain),
        max=_amounts(tags, "namespace.resourcequota", complain),
        max_applications=int(text),
    )


def _amounts(tags: Mapping[str, str], tag: str, complain: Complain) -> Amounts | None:
    text = tags.get(tag)
    if not text:
        return None
    try:
        data = json.loads(text)
        found = {_name(key): _value(key, value) for key, value in data.items()}
    except (ValueError, AttributeError, QuantityError):
        found = {}
    if not any(found.values()):
        complain(_ignored(tags, tag, text, Wanted.QUANTITIES))
    return resources.is_set(found)


def _name(kind: str) -> str:
    return VCORE if kind == "cpu" else kind


def _value(kind: str, quantity: Any) -> int:
    if not isinstance(quantity, str):
        raise QuantityError(expected(Wanted.TEXT, quantity), kind)
    return amounts.canonical(kind, quantity)


def _ignored(tags: Mapping[str, str], what: str, text: str, wanted: Wanted) -> Sentence:
    namespace = tags.get("namespace", "")
    return GivenUp.IGNORED.said(
        name=namespace, key=what, wanted=wanted, given=repr(text)
    )


def apply_quota(partition: Partition, app: Application, complain: Complain) -> None:
    """Set the quota of the queue that an application enters, if a rule made it.

    Guaranteed and max are set as a pair; ancestors are not checked.
    """
    leaf = app.queue
    if leaf.managed or leaf.name == RECOVERY:
        return
    found = read(app.tags, complain)
    if found.guaranteed is not None or found.max is not None:
        leaf.guaranteed, leaf.max = found.guaranteed, found.max
        partition.apply_sort_policy(leaf)
        partition.stale_max = True
    if found.max_applications:
        leaf.max_applications = found.max_applications
    partition.changed()
