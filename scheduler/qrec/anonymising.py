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
from collections.abc import Iterable
from typing import Any

Manifest = dict[str, Any]

_LETTERS = 12
#: Fields whose text is a name, wherever they stand.
_NAMES = frozenset(
    [
        "admissionCheck",
        "claimName",
        "clusterName",
        "clusterQueue",
        "cohort",
        "cohortName",
        "generateName",
        "group",
        "groups",
        "host",
        "hostname",
        "localQueue",
        "namespace",
        "nodeName",
        "nominatedNodeName",
        "parent",
        "parentName",
        "podName",
        "priorityClassName",
        "prefix",
        "queue",
        "queueName",
        "runtimeClassName",
        "serviceAccountName",
        "serviceName",
        "subdomain",
        "topology",
        "topologyName",
        "user",
        "users",
        "volumeName",
    ]
)
#: Lists whose items have a `name` that is a resource or a role, not a secret.
_PLAIN = frozenset(
    [
        "resources",
        "resourceRequests",
        "podSets",
        "podSetAssignments",
        "podSetUpdates",
        "ports",
    ]
)
#: Fields below which each value is a name or a label's value.
_MAPPINGS = frozenset(
    ["labels", "matchLabels", "nodeSelector", "nodeLabels", "flavors"]
)
#: Lists of texts that are names.
_LISTS = frozenset(
    ["values", "names", "users", "groups", "namespaces", "nodeNames", "roots"]
)
_ADDRESSES = frozenset(
    ["addresses", "podIP", "podIPs", "hostIP", "hostIPs", "clusterIP"]
)
#: Names that a scheduler or the API treats in a way of its own.
_KEPT = frozenset(
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
        "true",
        "false",
        "linux",
        "windows",
        "amd64",
        "arm64",
    ]
)
_UIDS = re.compile(r"\((?:[A-Za-z]*UID: [0-9a-fA-F-]+(?:, )?)+\)")
_UID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_AMOUNT = re.compile(r"-?[\d.]+[A-Za-zµ%]{0,3}|")
_LABEL_KEY = re.compile(r"[a-z0-9.-]+/[A-Za-z0-9._-]+")


class Anonymiser:
    """Maps the names in objects by HMAC-SHA-256 of a key."""

    def __init__(self, key: bytes) -> None:
        self.key = key
        self.known: dict[str, str] = {}

    def manifest(self, given: Manifest) -> Manifest:
        """Return a manifest with its names mapped. Cost: that of its size."""
        return self._dict(given, "")

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
        if not text or text in _KEPT or text.isdecimal() or _UID.fullmatch(text):
            return text
        head, dash, number = text.rpartition("-")
        if dash and (number.isdecimal() or not number):
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
            if name not in _ADDRESSES
        }

    def _field(self, field: str, part: Any, parent: str) -> Any:
        if isinstance(part, str):
            return self._text(field, part, parent)
        if isinstance(part, dict):
            return self._mapping(field, part)
        if field in _LISTS and isinstance(part, list):
            of = self._part if parent == "images" else self.name
            return [of(x) if isinstance(x, str) else x for x in part]
        if field == "valuesPerLevel":
            return [self._level(level) for level in part]
        return self._any(part, field)

    def _text(self, field: str, text: str, parent: str) -> str:
        if field in {"message", "note"}:
            return " ".join(_UIDS.findall(text))
        if field == "image":
            return self._part(text)
        if field == "name" and parent not in _PLAIN:
            return self.name(text)
        if field in _NAMES and not (field == "group" and _is_api_group(text)):
            return self.name(text)
        if field == "value" and parent in {"taints", "tolerations"}:
            return self.name(text)
        return text

    def _mapping(self, field: str, part: Manifest) -> Manifest:
        plain = _all_text(part.values())
        if field in _MAPPINGS and plain:
            return {name: self.name(item) for name, item in part.items()}
        if field == "annotations" and plain:
            return {name: self._annotation(item) for name, item in part.items()}
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
