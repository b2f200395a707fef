"""Objects in Kubernetes' binary encoding, read and written by the table of types.

Source: <https://protobuf.dev/programming-guides/encoding/>; the envelope is that of
<https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding>
"""

from __future__ import annotations

import base64
import functools
import json
import struct
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer

from scheduler.model import durations, schemas
from scheduler.model.schemas import Field, Fields

MEDIA = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\x00"
_ZEROS = ("", 0, False, b"", 0.0)
Document = dict[str, Any]


class ProtobufParser(BaseParser):
    """A body in protobuf as the data that its JSON would be."""

    media_type = MEDIA

    def parse(
        self, stream: Any, media_type: str | None = None, parser_context: Any = None
    ) -> Document:
        """Return the document. Raises ParseError for what is no object of the table."""
        body = stream.read()
        if not body:
            return {}
        try:
            return decode(body)
        except ValueError as error:
            raise ParseError(
                f"expected an object in {MEDIA}, got {len(body)} bytes that are "
                f"none ({error}); send it as application/json"
            ) from error


class ProtobufRenderer(BaseRenderer):
    """Answers in protobuf, for clients that read nothing else."""

    media_type = MEDIA
    format = "protobuf"
    charset = None
    render_style = "binary"

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        """Return the document in its envelope; its kind must be in the table."""
        return b"" if data is None else encode(data)


def decode(body: bytes) -> Document:
    """Return the document of a body in protobuf. Raises ValueError."""
    if not body.startswith(_MAGIC):
        raise ValueError("no k8s at its beginning")
    try:
        return _decoded(body)
    except (AttributeError, IndexError, TypeError, struct.error) as error:
        raise ValueError("a field is of another type") from error


def _decoded(body: bytes) -> Document:
    envelope: dict[int, Any] = dict(_parts(body[len(_MAGIC) :]))
    about = {
        n: v.decode() for n, v in _parts(envelope.get(1, b"")) if isinstance(v, bytes)
    }
    version, kind = about.get(1, ""), about.get(2, "")
    type_ = _type_of(version, kind)
    if not type_:
        raise ValueError(f"{kind} of {version} is not read in it")
    document = _message(envelope.get(2, b""), type_)
    return {"apiVersion": version, "kind": kind, **document}


def encode(document: Mapping[str, Any]) -> bytes:
    """Return a document in protobuf. Raises ValueError for a kind not in the table."""
    version, kind = document.get("apiVersion", ""), document.get("kind", "")
    about = text_field(1, version) + text_field(2, kind)
    inner = _encoded_whole(document, version, kind)
    return (
        _MAGIC
        + message_field(1, about)
        + message_field(2, inner)
        + text_field(3, "")
        + text_field(4, "")
    )


def _encoded_whole(document: Mapping[str, Any], version: str, kind: str) -> bytes:
    type_ = _type_of(version, kind)
    if type_:
        return _encoded(document, type_)
    item = _type_of(version, kind.removesuffix("List"))
    if not item or not kind.endswith("List"):
        raise ValueError(f"{kind} of {version} is not written in {MEDIA}")
    metadata = _encoded(document.get("metadata") or {}, "meta.v1.ListMeta")
    items = (message_field(2, _encoded(o, item)) for o in document.get("items") or ())
    return message_field(1, metadata) + b"".join(items)


def _type_of(version: str, kind: str) -> str:
    if kind in ("DeleteOptions", "Status"):
        return f"meta.v1.{kind}"
    group, _, number = version.rpartition("/")
    asked = {
        ("authorization.k8s.io", "v1"): "authorization.v1",
        ("authentication.k8s.io", "v1"): "authentication.v1",
        ("policy", "v1"): "policy.v1",
        ("autoscaling", "v1"): "autoscaling.v1",
        ("", "v1"): "core.v1",
    }.get((group, number), "")
    name = f"{asked}.{kind}"
    found = schemas.named(group, number, kind)
    return found or (name if schemas.fields_of(name) else "")


@functools.cache
def _by_number(type_: str) -> dict[int, tuple[str, Field]]:
    return {f.at: (n, f) for n, f in schemas.fields_of(type_).items() if f.at}


@functools.lru_cache(1024)
def _embedded(type_: str, number: int) -> dict[int, tuple[str, Field]]:
    """Return the fields of a message that is embedded under a number."""
    return {
        f.within[1]: (n, f)
        for n, f in schemas.fields_of(type_).items()
        if f.within is not None and f.within[0] == number
    }


def _message(data: bytes, type_: str) -> Document:
    found: Document = {}
    _fill(found, data, _by_number(type_), type_)
    for name, field in schemas.fields_of(type_).items():
        if name in found and _is_unset(found[name], field):
            del found[name]
    return found


def _fill(
    found: Document, data: bytes, fields: Mapping[int, tuple[str, Field]], type_: str
) -> None:
    for number, value in _parts(data):
        if number not in fields:
            inner = _embedded(type_, number) if fields is _by_number(type_) else {}
            if inner and isinstance(value, bytes):
                _fill(found, value, inner, type_)
            continue
        name, field = fields[number]
        of = schemas.bare(field.type)
        if field.type.startswith("map "):
            pair = dict(_parts(value if isinstance(value, bytes) else b""))
            key = pair.get(1, b"")
            found.setdefault(name, {})[key.decode()] = _value(pair.get(2, b""), of)
        elif field.type.startswith("[]"):
            found.setdefault(name, []).append(_value(value, of))
        else:
            found[name] = _value(value, of)


def _is_unset(value: Any, field: Field) -> bool:
    """Return whether a value is one that JSON would have left out."""
    if value is None or (value == {} and not field.pointer):
        return True
    if field.pointer or isinstance(value, dict | list):
        return False
    return any(value is zero or value == zero for zero in _ZEROS) and not field.always


def _value(value: Any, type_: str) -> Any:
    if type_ in ("int32", "int64"):
        return value - (1 << 64) if value >= 1 << 63 else value
    if type_ == "bool":
        return bool(value)
    if type_ == "double":
        return struct.unpack("<d", value)[0]
    if type_ == "string":
        return value.decode()
    if type_ == "Quantity":
        return dict(_parts(value)).get(1, b"0").decode()
    if type_ == "IntOrString":
        parts = dict(_parts(value))
        return (
            parts.get(3, b"").decode()
            if parts.get(1)
            else _value(parts.get(2, 0), "int32")
        )
    if type_ in ("Time", "MicroTime"):
        return _stamp(dict(_parts(value)), micro=type_ == "MicroTime")
    if type_ in ("FieldsV1", "RawExtension"):
        return json.loads(dict(_parts(value)).get(1, b"{}") or b"{}")
    if type_ == "bytes":
        return base64.b64encode(value).decode()
    return _message(value, type_)


def _stamp(parts: Mapping[int, Any], *, micro: bool) -> str | None:
    if not parts.get(1):
        return None
    seconds = _value(parts[1], "int64")
    at = datetime.fromtimestamp(seconds, UTC)
    text = at.strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}.{parts.get(2, 0) // 1000:06d}Z" if micro else f"{text}Z"


def _parts(data: bytes) -> Iterator[tuple[int, Any]]:
    """Yield (number, content) of each field of a message."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        match tag & 7:
            case 0:
                value, at = _varint(data, at)
                yield tag >> 3, value
                continue
            case 1:
                length = 8
            case 2:
                length, at = _varint(data, at)
            case 5:
                length = 4
            case other:
                raise ValueError(f"wire type {other}")
        if at + length > len(data):
            raise ValueError("it ends in a field")
        yield tag >> 3, data[at : at + length]
        at += length


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number in groups of seven bits, and where it ends."""
    value = 0
    for shift in range(0, 70, 7):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (1 << 64) - 1, at
    raise ValueError("a number of over 64 bits")


def _number(value: int) -> bytes:
    value &= (1 << 64) - 1
    if value < 0x80:
        return _SMALL[value]
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


_SMALL = [bytes([value]) for value in range(0x80)]


def message_field(number: int, data: bytes) -> bytes:
    """Return a field that is a message."""
    return _number(number << 3 | 2) + _number(len(data)) + data


def text_field(number: int, text: str) -> bytes:
    """Return a field that is a text."""
    return message_field(number, text.encode())


_Writer = Callable[[Any], bytes]
#: Messages that many objects of a list have alike: each is written once.
_REPEATED = frozenset(
    {
        "core.v1.ContainerStatus",
        "core.v1.PodCondition",
        "core.v1.PodSpec",
        "meta.v1.ManagedFieldsEntry",
        "meta.v1.OwnerReference",
    }
)


def _encoded(document: Mapping[str, Any], type_: str) -> bytes:
    """Return a message; fields that the type does not have are left out."""
    writers = _writers(type_)
    found: list[bytes] = []
    embedded: dict[int, bytes] = {}
    for name, value in document.items():
        if value is None or (writer := writers.get(name)) is None:
            continue
        outer, write = writer
        if outer:
            embedded[outer] = embedded.get(outer, b"") + write(value)
        else:
            found.append(write(value))
    found += [message_field(n, data) for n, data in embedded.items()]
    return b"".join(found)


@functools.cache
def _writers(type_: str) -> dict[str, tuple[int, _Writer]]:
    """Return (the message within which it is, or 0; what writes it) by field."""
    fields: Fields = schemas.fields_of(type_)
    found = {}
    for name, field in fields.items():
        outer, number = field.within or (0, field.at)
        if number:
            found[name] = outer, _writer(number, field)
    return found


def _writer(number: int, field: Field) -> _Writer:
    """Return what writes a field: one value, each of a list, or pairs of a map."""
    of = schemas.bare(field.type)
    if field.type.startswith("map "):
        value_of = _scalar(2, of)

        def pairs(value: Any) -> bytes:
            return b"".join(
                message_field(number, text_field(1, str(key)) + value_of(one))
                for key, one in value.items()
            )

        return pairs
    write = _scalar(number, of)
    if field.type.startswith("[]"):
        return lambda value: b"".join(map(write, value))
    return write


def _scalar(number: int, type_: str) -> _Writer:
    tag = _number(number << 3 | 2)
    if type_ in ("int32", "int64", "bool"):
        plain = _number(number << 3)
        return lambda value: plain + _number(int(value))
    if type_ == "double":
        wide = _number(number << 3 | 1)
        return lambda value: wide + struct.pack("<d", float(value))
    inner: _Writer = _INNER.get(type_) or functools.partial(_encoded, type_=type_)
    if type_ in _REPEATED:
        inner = functools.partial(_encoded_once, type_)

    def write(value: Any) -> bytes:
        data = inner(value)
        return tag + _number(len(data)) + data

    return write


def _encoded_once(type_: str, value: Any) -> bytes:
    return _known(type_, msgspec.json.encode(value))


@functools.lru_cache(4096)
def _known(type_: str, text: bytes) -> bytes:
    return _encoded(msgspec.json.decode(text), type_)


def _of_text(value: Any) -> bytes:
    return str(value).encode()


def _of_quantity(value: Any) -> bytes:
    return text_field(1, str(value))


def _of_int_or_string(value: Any) -> bytes:
    if isinstance(value, int):
        return _number(1 << 3) + _number(0) + _number(2 << 3) + _number(value)
    return _number(1 << 3) + _number(1) + text_field(3, str(value))


@functools.lru_cache(4096)
def _of_time(value: Any) -> bytes:
    seconds, rest = divmod(durations.stamp_us(value), 1_000_000)
    return _number(1 << 3) + _number(seconds) + _number(2 << 3) + _number(rest * 1000)


def _of_raw(value: Any) -> bytes:
    return message_field(1, json.dumps(value).encode())


_INNER: dict[str, _Writer] = {
    "FieldsV1": _of_raw,
    "IntOrString": _of_int_or_string,
    "MicroTime": _of_time,
    "Quantity": _of_quantity,
    "RawExtension": _of_raw,
    "Time": _of_time,
    "bytes": base64.b64decode,
    "string": _of_text,
}
