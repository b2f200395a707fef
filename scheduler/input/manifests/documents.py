"""YAML to documents that remember their lines; hostile input is refused early."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec
import yaml

from scheduler.input.manifests.dumps import formats
from scheduler.model.errors import ManifestError, SourceLocation
from scheduler.model.objects import Key
from scheduler.model.problems import Problem, Wanted, expected
from scheduler.model.sentence import Sentence
from scheduler.model.texts.json_documents import (
    ItemLines,
    NotPlainError,
    decode,
    decode_many,
    is_deeper,
    looks_like_json,
)
from scheduler.model.texts.values import (
    DEFAULT_LIMITS,
    Limits,
    Read,
    SpanLines,
    read_each,
    refused,
)
from scheduler.model.texts.values import Loader as _Loader

_INDEX = re.compile(r"\[([0-9]+)\]")


@dataclass(slots=True, kw_only=True)
class Document:
    """One YAML document: its plain data, and where each field stands."""

    file: str
    data: dict[str, Any]
    root: yaml.Node | None = field(default=None, repr=False)
    line: int = 1
    lines: ItemLines | SpanLines | None = field(default=None, repr=False)
    index: int = 0  # of the item in them
    offset: int = 0  # lines before the root, which was read by itself

    @property
    def kind(self) -> str:
        """Return the kind, or "" when it has none."""
        return str(self.data.get("kind") or "")

    @property
    def api_version(self) -> str:
        """Return the apiVersion, or ""."""
        return str(self.data.get("apiVersion") or "")

    @property
    def metadata(self) -> dict[str, Any]:
        """Return the metadata, empty when absent."""
        metadata = self.data.get("metadata")
        return metadata if isinstance(metadata, dict) else {}

    def key(self, *, namespaced: bool = True) -> Key:
        """Return the object's key; a missing namespace is "default"."""
        metadata = self.metadata
        namespace = str(metadata.get("namespace") or "default") if namespaced else ""
        return Key(self.kind, namespace, str(metadata.get("name") or ""))

    def copied(self) -> dict[str, Any]:
        """Return the data as a copy that may be changed."""
        data: dict[str, Any] = msgspec.to_builtins(self.data)
        return data

    def place(self, path: str = "") -> SourceLocation:
        """Return where `path` ("spec.groups[0].name") stands.

        A field that is absent has the line of the deepest part that exists.
        """
        return SourceLocation(file=self.file, line=self._line(path), field=path)

    def _line(self, path: str) -> int:
        if self.lines is not None and path == "":
            return self.lines.line(self.index)
        if self.lines is not None and path == "kind":  # asked of many objects
            return self.lines.kind_line(self.index)
        node = self.node()
        return self.line if node is None else _line_of(node, path) + self.offset

    def node(self) -> yaml.Node | None:
        """Return the root with its marks, `offset` lines on; None when it has none."""
        if self.root is None and self.lines is not None:
            self.offset = self.lines.line(self.index) - 1
            try:
                self.root = yaml.compose(self.lines.slice(self.index), Loader=_Loader)
            except yaml.YAMLError:  # an alias of what stands elsewhere
                return None
        return self.root

    def error(self, path: str, problem: Sentence) -> ManifestError:
        """Return the error to raise about this field."""
        return ManifestError(problem, place=self.place(path))


def _line_of(root: yaml.Node, path: str) -> int:
    node, line, rest = root, root.start_mark.line, path
    while rest:
        found = _item(node, rest) if rest.startswith("[") else _field(node, rest)
        if found is None:
            break
        node, line, rest = found
    return int(line) + 1


def _item(node: yaml.Node, path: str) -> tuple[yaml.Node, int, str] | None:
    match = _INDEX.match(path)
    if match is None or not isinstance(node, yaml.SequenceNode):
        return None
    index = int(match[1])
    if index >= len(node.value):
        return None
    item = node.value[index]
    return item, item.start_mark.line, path[match.end() :].removeprefix(".")


def _field(node: yaml.Node, path: str) -> tuple[yaml.Node, int, str] | None:
    """Find the key that `path` begins with; keys may hold dots, the longest wins."""
    if not isinstance(node, yaml.MappingNode):
        return None
    best: tuple[yaml.Node, int, str] | None = None
    longest = 0
    for key, value in node.value:
        name = key.value
        if not isinstance(name, str) or len(name) <= longest:
            continue
        rest = path.removeprefix(name)
        if len(rest) < len(path) and (not rest or rest[0] in ".["):
            longest, best = len(name), (value, key.start_mark.line, rest.lstrip("."))
    return best


def read_documents(
    text: str, *, file: str = "input", limits: Limits = DEFAULT_LIMITS
) -> list[Document]:
    """Return the documents of a YAML (or JSON) text, Lists taken apart.

    Empty documents are left out. Raises ManifestError with file and line for
    broken YAML, duplicate keys, non-objects and for what passes a limit.
    """
    if len(text.encode("utf-8", "surrogatepass")) > limits.bytes:
        raise refused(file, 1, f"more than {limits.bytes} bytes")
    if looks_like_json(text) and (found := _read_json(text, file, limits)):
        return found
    return list(_read_yaml(text, file, limits))


def documents_of(
    given: object, *, file: str = "input", limits: Limits = DEFAULT_LIMITS
) -> list[Document]:
    """Return an object that was read already as documents: copies, a List taken apart.

    They have no lines. Raises ManifestError as `read_documents` does.
    """
    if not isinstance(given, dict):
        raise ManifestError(
            Problem.NO_OBJECT.said(given=_kind(given)),
            place=SourceLocation(file=file, line=1),
        )
    if is_deeper(given, limits.depth):
        raise refused(file, 1, f"nested over {limits.depth} deep")
    body = msgspec.json.encode(given)
    if len(body) > limits.bytes:
        raise refused(file, 1, f"more than {limits.bytes} bytes")
    return list(_take_apart(Document(file=file, data=msgspec.json.decode(body))))


def _read_json(text: str, file: str, limits: Limits) -> list[Document]:
    """Return the documents of a List in JSON; [] for what is read as YAML."""
    try:
        data = decode(text, depth=limits.depth)
    except NotPlainError:
        return _read_many(text, file, limits)
    whole = Document(file=file, data=data)
    items = data.get("items")
    if not (whole.kind.endswith("List") and isinstance(items, list)):
        return []
    if not all(
        type(item) is dict and type(item.get("items")) is not list for item in items
    ):
        return []
    lines = ItemLines(text=text)
    return [
        Document(file=file, data=_with_list_kind(whole, item), lines=lines, index=index)
        for index, item in enumerate(items)
    ]


def _read_many(text: str, file: str, limits: Limits) -> list[Document]:
    """Return the documents of JSON lines or of an array; [] for anything else."""
    try:
        found, lines = decode_many(text, depth=limits.depth)
    except NotPlainError:
        return []
    if len(found) > limits.documents:
        raise refused(file, 1, f"over {limits.documents} documents")
    return [
        part
        for index, data in enumerate(found)
        for part in _take_apart(
            Document(
                file=file, data=data, lines=lines, index=index, line=lines.line(index)
            )
        )
    ]


def _read_yaml(text: str, file: str, limits: Limits) -> Iterator[Document]:
    text = text.removeprefix("\ufeff")  # marks do not count it
    for read in read_each(text, file, limits):
        if read.data is not None:
            yield from _documents(read, text, file)


def is_patch(data: object) -> bool:
    """Return whether it is an operation of RFC 6902, as a list of patches holds it."""
    return isinstance(data, dict) and {"op", "path"} <= data.keys()


def _documents(read: Read, text: str, file: str) -> Iterator[Document]:
    """Yield the document, or the items of a List with their places."""
    data, line = read.data, read.span.line
    if isinstance(data, list) and data and all(map(is_patch, data)):
        data = data[0]  # one stands for all: none of them is an object
    if not isinstance(data, dict):
        raise ManifestError(
            Problem.NO_OBJECT.said(given=_kind(data)),
            place=SourceLocation(file=file, line=line),
        )
    lines = SpanLines(text=text, spans=[read.span])
    whole = Document(file=file, data=data, lines=lines, line=line)
    items = data.get("items")
    if not (whole.kind.endswith("List") and isinstance(items, list)):
        yield from _take_apart(whole)
        return
    if len(items) != len(read.items) or not all(type(i) is dict for i in items):
        yield from _take_apart(whole)
        return
    lines = SpanLines(text=text, spans=read.items)
    for index, item in enumerate(items):
        own = _with_list_kind(whole, item)
        yield from _take_apart(
            Document(
                file=file, data=own, lines=lines, index=index, line=lines.line(index)
            )
        )


def _kind(data: object) -> str:
    return {list: "a list", str: "a text", int: "a number"}.get(
        type(data), type(data).__name__
    )


def _take_apart(document: Document) -> Iterator[Document]:
    """Yield the items of a `List`, or the document itself."""
    if not document.kind and formats.is_export(document.data):
        yield from _exported(document)
        return
    if not document.kind and formats.is_shown(document.data):
        for address, text in formats.texts(document.data):
            yield from read_documents(text, file=f"{document.file} {address}")
        return
    if not document.kind and formats.is_dump(document.data):
        if text := formats.queues_text(document.data):
            yield from read_documents(text, file=f"{document.file} config")
        for item in formats.objects(document.data):
            yield _part(document, item, None)
        return
    items = document.data.get("items")
    if document.kind == "List" and items is None:
        return
    if not (document.kind.endswith("List") and isinstance(items, list)):
        yield document
        return
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            raise document.error(f"items[{index}]", expected(Wanted.OBJECT))
        root = _item_node(document.node(), index)
        data = _with_list_kind(document, item)
        yield from _take_apart(_part(document, data, root))


def _exported(document: Document) -> Iterator[Document]:
    """Yield the objects of an export of the kube-scheduler-simulator."""
    for path, item in formats.items(document.data):
        if not isinstance(item, dict):
            raise document.error(path, expected(Wanted.OBJECT))
        yield _part(document, item, _node_at(document.node(), path))


def _part(document: Document, data: dict[str, Any], root: yaml.Node | None) -> Document:
    """Return a part of a document as one of its own."""
    line = document.line
    if root is not None:
        line = root.start_mark.line + 1 + document.offset
    return Document(
        file=document.file, data=data, root=root, line=line, offset=document.offset
    )


def _node_at(root: yaml.Node | None, path: str) -> yaml.Node | None:
    """Return the node of "field" or "field[3]"; None when it has none."""
    found = _field(root, path) if root is not None else None
    if found is None:
        return None
    node, _, rest = found
    item = _item(node, rest) if rest else None
    return item[0] if item is not None else None if rest else node


def _with_list_kind(document: Document, item: dict[str, Any]) -> dict[str, Any]:
    """Give an item of a typed list (`PodList`) the kind its list says."""
    if item.get("kind") or document.kind == "List":
        return item
    kind = document.kind.removesuffix("List")
    return {"apiVersion": document.api_version, "kind": kind, **item}


def _item_node(root: yaml.Node | None, index: int) -> yaml.Node | None:
    items = _field(root, "items") if root is not None else None
    found = _item(items[0], f"[{index}]") if items else None
    return found[0] if found else None
