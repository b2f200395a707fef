"""The settings of Kueue and YuniKorn, as YAML texts, with their names mapped.

Only what decides is written: of a Configuration the sections that are simulated, of
a queues.yaml its partitions. Comments and every other text are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import Any

from scheduler.model.errors import ManifestError
from scheduler.model.kueue.configuration import GROUP
from scheduler.model.texts.values import read_values
from scheduler.model.texts.writing import write
from scheduler.model.yunikorn.reading import PARTITION_FIELDS, QUEUE_FIELDS
from scheduler.recorded.qrec.kept_pods import Tree, fields, keep

Name = Callable[[str], str]
Rewrite = Callable[[dict[str, Any]], dict[str, Any]]

_CONFIGURATION: Tree = fields(
    "apiVersion kind admissionFairSharing fairSharing featureGates integrations "
    "managedJobsNamespaceSelector manageJobsWithoutQueueName resources waitForPodsReady"
)
_LIMIT = ("users", "groups", "maxresources", "maxapplications")
_RULE = ("name", "value", "create", "filter", "parent")


def mapped(text: str, name: Name, rewrite: Rewrite) -> str:
    """Return a settings' text with its names mapped; "" where it is none of ours.

    `name` maps one name or path of a queue, `rewrite` the names in an object.
    """
    try:
        found = [_document(one, name, rewrite) for one in read_values(text)]
    except (ManifestError, AttributeError, TypeError, ValueError):
        return ""  # what cannot be read cannot be made anonymous
    return "---\n".join(write(one) for one in found if one)


def _document(given: Any, name: Name, rewrite: Rewrite) -> dict[str, Any] | None:
    if not isinstance(given, dict):
        return None
    if str(given.get("apiVersion", "")).partition("/")[0] == GROUP:
        return rewrite(keep(given, _CONFIGURATION))
    if "partitions" in given:
        parts = given["partitions"] or ()
        return {"partitions": [_partition(part, name) for part in parts]}
    return None


def _partition(given: Mapping[str, Any], name: Name) -> dict[str, Any]:
    return _branch(given, name, PARTITION_FIELDS)


def _queue(given: Mapping[str, Any], name: Name) -> dict[str, Any]:
    return _branch(given, name, QUEUE_FIELDS)


def _branch(given: Mapping[str, Any], name: Name, kept: Set[str]) -> dict[str, Any]:
    """Return a partition or a queue, with what is below it."""
    return {
        field: _PARTS[field](part, name) if field in _PARTS else part
        for field, part in given.items()
        if field in kept
    }


def _access(text: Any, name: Name) -> str:
    """Return `user,user group,group` with each mapped; `*` and blanks stay."""
    return " ".join(
        ",".join(name(one) if one else "" for one in part.split(","))
        for part in str(text or "").split(" ")
    )


def _limit(given: Mapping[str, Any], name: Name) -> dict[str, Any]:
    kept = {field: given[field] for field in _LIMIT if field in given}
    return {**kept, **_people(kept, name)}


def _people(given: Mapping[str, Any], name: Name) -> dict[str, Any]:
    return {
        field: [name(str(one)) for one in given[field] or ()]
        for field in ("users", "groups")
        if field in given
    }


def _rule(given: Mapping[str, Any], name: Name) -> dict[str, Any]:
    """Return a placement rule; only a fixed one's value names a queue."""
    kept = {field: given[field] for field in _RULE if field in given}
    if str(given.get("name", "")).lower() == "fixed" and given.get("value"):
        kept["value"] = name(str(given["value"]))
    if filtered := given.get("filter"):
        kept["filter"] = {"type": filtered.get("type", "")} | _people(filtered, name)
    if given.get("parent") is not None:
        kept["parent"] = _rule(given["parent"], name)
    return kept


def _each(one: Callable[[Any, Name], Any]) -> Callable[[Any, Name], Any]:
    return lambda given, name: [one(item, name) for item in given or ()]


#: A field that names people or queues stands here: all others are kept as they are.
_PARTS: dict[str, Callable[[Any, Name], Any]] = {
    "name": lambda given, name: name(str(given)),
    "submitacl": _access,
    "adminacl": _access,
    "limits": _each(_limit),
    "queues": _each(_queue),
    "placementrules": _each(_rule),
}
