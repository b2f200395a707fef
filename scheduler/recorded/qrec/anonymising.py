"""Names mapped by a keyed hash, so that a recording can be given to others.

The same name has the same hash everywhere, so references, owners and selectors
still fit. What a scheduler reads otherwise than as a name stays: amounts, times,
keys of labels, UIDs. Names order differently than before: where a scheduler
takes the first of equals by name, it may take another.
The rules are in docs/recording.md#names-that-nobody-may-see.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any

from scheduler.model import schemas
from scheduler.model.amounts import is_whole
from scheduler.model.annotations import KNOWN, RUNTIME_SOURCE
from scheduler.model.errors import ManifestError
from scheduler.model.kueue.configuration import GROUP
from scheduler.model.texts.plain_text import write
from scheduler.model.texts.values import read_values
from scheduler.model.yunikorn.reading import PARTITION_FIELDS, QUEUE_FIELDS
from scheduler.recorded.qrec.kept_work import Tree, fields, keep

Manifest = dict[str, Any]

_LETTERS = 12
_UIDS = re.compile(r"\((?:[A-Za-z]*UID: [0-9a-fA-F-]+(?:, )?)+\)")
_UID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_AMOUNT = re.compile(r"-?[0-9.]+[A-Za-zµ%]{0,3}|")
_LABEL_KEY = re.compile(r"[a-z0-9.-]+/[A-Za-z0-9._-]+")


class Anonymiser:
    """Maps the names in objects by HMAC-SHA-256 of a key."""

    def __init__(self, key: bytes) -> None:
        self.key = key
        self.known: dict[str, str] = {}

    def manifest(self, given: Manifest) -> Manifest:
        """Return a manifest with its names mapped. Cost: that of its size."""
        if given.get("kind") == "ConfigMap":
            return self._settings(given)
        return self._dict(given, "")

    def _settings(self, given: Manifest) -> Manifest:
        """Return a scheduler's ConfigMap: what it is called stays, its texts do not."""
        texts = {
            name: mapped(text, self.name, lambda found: self._dict(found, ""))
            for name, text in (given.get("data") or {}).items()
        }
        metadata = {
            name: part
            for name, part in given["metadata"].items()
            if name not in {"labels", "annotations"}
        }
        called = {"apiVersion": "v1", "kind": "ConfigMap"}
        return {**called, "metadata": metadata, "data": texts}

    def name(self, text: str) -> str:
        """Return what stands for a name.

        The parts between dots are mapped one by one, as a queue's path has them;
        the number at the end of a pod's or node's name stays, as do well-known
        names and numbers.
        """
        if text not in self.known:
            self.known[text] = ".".join(self._part(p) for p in text.split("."))
        return self.known[text]

    def _part(self, text: str) -> str:
        if not text or text in KEPT or is_whole(text) or _UID.fullmatch(text):
            return text
        head, dash, number = text.rpartition("-")
        if dash and (is_whole(number) or not number):
            return f"{self._part(head)}-{number}"
        digest = hmac.new(self.key, text.encode(), hashlib.sha256).hexdigest()
        return f"n{digest[:_LETTERS]}"

    def _any(self, given: Any, parent: str) -> Any:
        if isinstance(given, dict):
            return self._dict(given, parent)
        if isinstance(given, list):
            return [self._any(item, parent) for item in given]
        return given

    def _dict(self, given: Manifest, parent: str) -> Manifest:
        return {
            name: self._field(name, part, parent)
            for name, part in given.items()
            if name not in ADDRESSES
        }

    def _field(self, field: str, part: Any, parent: str) -> Any:
        if isinstance(part, str):
            return self._text(field, part, parent)
        if isinstance(part, dict):
            return self._mapping(field, part)
        if field in LISTS and isinstance(part, list):
            of = self._part if parent == "images" else self.name
            return [of(x) if isinstance(x, str) else self._any(x, field) for x in part]
        if field == "valuesPerLevel":
            return [self._level(level) for level in part]
        return self._any(part, field)

    def _text(self, field: str, text: str, parent: str) -> str:
        if field in {"message", "note"}:
            return " ".join(_UIDS.findall(text))
        if field == "image":
            return self._part(text)
        if field == "name" and parent not in PLAIN:
            return self.name(text)
        if field in NAMES and not (field == "group" and _is_api_group(text)):
            return self.name(text)
        if field == "value" and parent in VALUED:
            return self.name(text)
        return text

    def _mapping(self, field: str, part: Manifest) -> Manifest:
        plain = _all_text(part.values())
        if field in MAPPINGS and plain:
            return {name: self.name(item) for name, item in part.items()}
        if field == "annotations" and plain:
            return {
                name: item if name in SWITCHES else self._annotation(item)
                for name, item in part.items()
            }
        if field in BY_NAME:
            return {self.name(name): item for name, item in part.items()}
        return self._dict(part, field)

    def _annotation(self, text: str) -> str:
        """Return an annotation's value: amounts and keys stay, JSON is gone through."""
        if _AMOUNT.fullmatch(text) or _LABEL_KEY.fullmatch(text):
            return text
        if text[:1] in "[{":
            try:
                return json.dumps(self._any(json.loads(text), ""))
            except ValueError:
                return ""
        return self.name(text)

    def _level(self, level: Manifest) -> Manifest:
        """Return one level of an assignment; its values are whole names again."""
        shared = level.get("individual")
        if not isinstance(shared, dict):
            return {name: self.name(str(text)) for name, text in level.items()}
        before, after = shared.get("prefix", ""), shared.get("suffix", "")
        names = [self.name(f"{before}{root}{after}") for root in shared["roots"]]
        return {"individual": {"roots": names}}


def _is_api_group(text: str) -> bool:
    return not text or "." in text or text in {"batch", "apps", "policy", "autoscaling"}


def _all_text(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


# ------------------------------------------------------------------------
# Which fields of an object hold a name, a label's value, or a word that stays.


#: Fields whose meaning depends on the list that they stand in.
_BY_LIST = frozenset({"name", "value"})


def _holding(type_: str) -> frozenset[str]:
    """Return the fields of a plain type whose texts are names."""
    return frozenset(
        name
        for fields in schemas.types().values()
        for name, one in fields.items()
        if one.type == type_ and one.is_name and name not in _BY_LIST
    )


def _lists(field: str, holds: str) -> frozenset[str]:
    """Return the lists whose items have a field that is said to hold this."""
    return frozenset(
        name
        for fields in schemas.types().values()
        for name, one in fields.items()
        if one.type.startswith("[]")
        and (inner := schemas.fields_of(one.type[2:]).get(field)) is not None
        and inner.holds == holds
    )


#: Fields whose text is a name, wherever they stand.
NAMES = _holding("string") | {
    "admissionCheck",
    "group",
    "groups",
    "host",
    "localQueue",
    "parent",
    "podName",
    "priorityClass",
    "queue",
    "user",
    "users",
}
#: Lists whose items have a `name` that is a resource, a role or a gate: no secret.
PLAIN = _lists("name", "word") | {
    "dependsOn",
    "deviceClassMappings",
    "gpu",
    "jobsStatus",
    "replicatedJobs",
    "replicatedJobsStatus",
    "transformations",
}
#: Lists whose items have a `value` that is one of a label.
VALUED = _lists("value", "name") | {"startupTaints"}
#: Fields below which each value is a name or a label's value.
MAPPINGS = _holding("map string") | {"clusterSelector", "provisioningClassDetails"}
#: Fields below which each name is that of a pod.
BY_NAME = frozenset(["disruptedPods", "executorState"])
#: Lists of texts that are names.
LISTS = _holding("[]string") | {"deviceClassNames", "groups", "nodeNames", "users"}
#: Not written at all.
ADDRESSES = frozenset(
    ["addresses", "podIP", "podIPs", "hostIP", "hostIPs", "clusterIP"]
)
#: Annotations whose values are switches and spans.
SWITCHES = frozenset(
    {
        *KNOWN,
        "yunikorn.apache.org/schedulingPolicyParameters",
        "resource.kubernetes.io/pod-claim-name",
    }
) - {RUNTIME_SOURCE}
#: Names that a scheduler or the API treats in a way of its own.
KEPT = frozenset(
    [
        "default",
        "main",
        "kube-system",
        "kube-public",
        "kueue-system",
        "system-node-critical",
        "system-cluster-critical",
        "default-scheduler",
        "yunikorn",
        "root",
        "*",
        "node",
        "trainer",
        "true",
        "false",
        "linux",
        "windows",
        "amd64",
        "arm64",
    ]
)


# ------------------------------------------------------------------------
# The settings of Kueue and YuniKorn, as YAML texts, with their names mapped.


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
