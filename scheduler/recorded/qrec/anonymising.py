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

from scheduler.model.amounts import is_whole
from scheduler.recorded.qrec.named_fields import (
    ADDRESSES,
    BY_NAME,
    KEPT,
    LISTS,
    MAPPINGS,
    NAMES,
    PLAIN,
    SWITCHES,
    VALUED,
)
from scheduler.recorded.qrec.settings_texts import mapped

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
