"""Reviews and evictions in Kubernetes' binary encoding, which clients send them in.

Of the encoding only what these messages need: numbers, texts and messages.

Source: <https://protobuf.dev/programming-guides/encoding/> and `generated.proto` of
authorization.k8s.io/v1; the envelope is that of
<https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding>
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

MEDIA = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\x00"
#: Number of a field -> its name, and the fields below it if it is a message.
Fields = dict[int, tuple[str, Any]]
_RESOURCE: Fields = {
    1: ("namespace", None),
    2: ("verb", None),
    3: ("group", None),
    4: ("version", None),
    5: ("resource", None),
    6: ("subresource", None),
    7: ("name", None),
}
_PATH: Fields = {1: ("path", None), 2: ("verb", None)}
_ACCESS: Fields = {
    1: ("resourceAttributes", _RESOURCE),
    2: ("nonResourceAttributes", _PATH),
}
_SPECS: dict[str, Fields] = {
    "SelfSubjectAccessReview": _ACCESS,
    "SelfSubjectRulesReview": {1: ("namespace", None)},
}
_OPTIONS: Fields = {
    1: ("gracePeriodSeconds", None),
    2: ("preconditions", {1: ("uid", None), 2: ("resourceVersion", None)}),
    3: ("orphanDependents", None),
    4: ("propagationPolicy", None),
    5: ("dryRun", None),
}
_EVICTION: Fields = {2: ("deleteOptions", _OPTIONS)}
_TYPE: Fields = {1: ("apiVersion", None), 2: ("kind", None)}


class ReviewParser(BaseParser):
    """A review as the data that its JSON would be."""

    media_type = MEDIA

    def parse(
        self,
        stream: Any,
        media_type: str | None = None,
        parser_context: Any = None,
    ) -> dict[str, Any]:
        """Return kind and spec. Raises ParseError for anything else."""
        try:
            return _review(stream.read())
        except (IndexError, KeyError, UnicodeDecodeError, ValueError) as error:
            raise ParseError(
                f"expected a review in {MEDIA}; send it as application/json"
            ) from error


class EvictionParser(BaseParser):
    """An eviction as the data that its JSON would be: its options, as all else is said."""

    media_type = MEDIA

    def parse(
        self,
        stream: Any,
        media_type: str | None = None,
        parser_context: Any = None,
    ) -> dict[str, Any]:
        """Return its deleteOptions. Raises ParseError for anything else."""
        try:
            found = _message(_raw(stream.read())[1], _EVICTION)
        except (IndexError, KeyError, UnicodeDecodeError, ValueError) as error:
            raise ParseError(
                f"expected an Eviction in {MEDIA}; send it as application/json"
            ) from error
        options = found.get("deleteOptions", {})
        if "dryRun" in options:
            options["dryRun"] = [options["dryRun"]]
        if "orphanDependents" in options:
            options["orphanDependents"] = bool(options["orphanDependents"])
        return found


def _raw(body: bytes) -> tuple[str, bytes]:
    """Return the kind of a body and the message in it."""
    if not body.startswith(_MAGIC):
        raise ValueError(body[:4])
    envelope: dict[int, Any] = dict(_parts(body[len(_MAGIC) :]))
    return _message(envelope[1], _TYPE)["kind"], envelope.get(2, b"")


def _review(body: bytes) -> dict[str, Any]:
    kind, raw = _raw(body)
    spec: Any = dict(_parts(raw)).get(2, b"")
    return {"kind": kind, "spec": _message(spec, _SPECS[kind])}


def _message(data: bytes, fields: Fields) -> dict[str, Any]:
    """Return the named fields of a message; those without a name are left out."""
    found: dict[str, Any] = {}
    for number, value in _parts(data):
        if number in fields:
            name, below = fields[number]
            if isinstance(value, int):
                found[name] = value
            else:
                found[name] = _message(value, below) if below else value.decode()
    return found


def _parts(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield (number, content) of the numbers, texts and messages of a message."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        if tag & 7 == 0:
            value, at = _varint(data, at)
            yield tag >> 3, value
            continue
        if tag & 7 != 2:
            raise ValueError(tag)
        length, at = _varint(data, at)
        if at + length > len(data):
            raise ValueError(length)
        yield tag >> 3, data[at : at + length]
        at += length


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number in groups of seven bits, and where it ends."""
    value = 0
    for shift in range(0, 64, 7):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise ValueError(value)
