"""YAML to documents that remember their lines; hostile input is refused early."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec
import yaml

from scheduler.errors import ManifestError, SourceLocation
from scheduler.manifests.dumps import simulator
from scheduler.manifests.json_documents import (
    ItemLines,
    NotPlainError,
    decode,
    decode_many,
    looks_like_json,
)
from scheduler.records.objects import Key

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INDEX = re.compile(r"\[(\d+)\]")
_MERGE = "tag:yaml.org,2002:merge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a text may cost, set by whoever runs the server."""

    bytes: int = 64 * 2**20
    depth: int = 64
    aliases: int = 1_000
    repeats: int = 200_000  # values that aliases add by repeating
    values: int = 5_000_000  # as written: about 500 bytes of memory each
    documents: int = 200_000


DEFAULT_LIMITS = Limits()


@dataclass(slots=True, kw_only=True)
class Document:
    """One YAML document: its plain data, and where each field stands."""

    file: str
    data: dict[str, Any]
    root: yaml.Node | None = field(default=None, repr=False)
    line: int = 1
    lines: ItemLines | None = field(default=None, repr=False)  # of a List in JSON
    index: int = 0  # of the item in it

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
        if self.root is not None:
            return _line_of(self.root, path)
        if self.lines is None:
            return self.line
        first = self.lines.line(self.index)
        if path in ("", "kind"):  # asked of every object that is only kept
            return first
        node = yaml.compose(self.lines.slice(self.index), Loader=_Loader)
        return first - 1 + (_line_of(node, path) if node is not None else 1)

    def error(self, path: str, problem: str) -> ManifestError:
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
        raise _too_much(file, 1, f"more than {limits.bytes} bytes")
    if looks_like_json(text) and (found := _read_json(text, file, limits)):
        return found
    return [
        part
        for document in _compose(text, file, limits)
        for part in _take_apart(document)
    ]


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
        raise _too_much(file, 1, f"over {limits.documents} documents")
    return [
        part
        for index, data in enumerate(found)
        for part in _take_apart(
            Document(
                file=file, data=data, lines=lines, index=index, line=lines.line(index)
            )
        )
    ]


def _compose(text: str, file: str, limits: Limits) -> Iterator[Document]:
    written = _refuse_deep(text, file, limits)
    builder = _Builder(file=file, most=written + limits.repeats)
    try:
        for node in yaml.compose_all(text, Loader=_Loader):
            builder.documents += 1
            if builder.documents > limits.documents:
                raise _too_much(
                    file, node.start_mark.line + 1, f"over {limits.documents} documents"
                )
            data = builder.build(node)
            if data is None:
                continue
            line = node.start_mark.line + 1
            if not isinstance(data, dict):
                raise ManifestError(
                    f"expected an object with apiVersion and kind, got {_kind(data)}",
                    place=SourceLocation(file=file, line=line),
                )
            yield Document(file=file, data=data, root=node, line=line)
    except yaml.YAMLError as error:
        raise _broken(file, error) from error
    except (RecursionError, UnicodeError) as error:
        raise _too_much(file, 1, "nested or encoded beyond reading") from error


def _refuse_deep(text: str, file: str, limits: Limits) -> int:
    """Walk the events first, as composing deep input would recurse natively.

    Returns the number of events: no fewer than the values as written.
    """
    depth = aliases = events = 0
    try:
        for event in yaml.parse(text, Loader=_Loader):
            events += 1
            line = event.start_mark.line + 1  # type: ignore[union-attr]
            if events > limits.values:
                raise _too_much(file, line, f"over {limits.values} values")
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > limits.depth:
                    raise _too_much(file, line, f"nested over {limits.depth} deep")
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            elif isinstance(event, yaml.AliasEvent):
                aliases += 1
                if aliases > limits.aliases:
                    raise _too_much(file, line, f"over {limits.aliases} aliases")
    except yaml.YAMLError as error:
        raise _broken(file, error) from error
    return events


def _broken(file: str, error: yaml.YAMLError) -> ManifestError:
    mark = getattr(error, "problem_mark", None)
    line = mark.line + 1 if mark is not None else 1
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    problem += _hint(error, problem)
    return ManifestError(
        f"not YAML: {problem}", place=SourceLocation(file=file, line=line)
    )


def _hint(error: yaml.YAMLError, problem: str) -> str:
    """Return what is probably wrong; "" for no idea."""
    if "cannot start any token" in problem:
        return " (a tab? YAML is indented with spaces)"
    if "expected the node content" in problem or "flow" in str(error):
        return " (a template? render it first, e.g. with `helm template`)"
    return ""


def _too_much(file: str, line: int, what: str) -> ManifestError:
    return ManifestError(
        f"refused: {what}; split the file or ask the operator for a higher limit",
        place=SourceLocation(file=file, line=line),
    )


def _kind(data: object) -> str:
    return {list: "a list", str: "a text", int: "a number"}.get(
        type(data), type(data).__name__
    )


@dataclass(slots=True, kw_only=True)
class _Builder:
    """Turns nodes into plain data, counting what aliases multiply."""

    file: str
    most: int
    documents: int = 0
    nodes: int = 0
    path: list[int] = field(default_factory=list)

    def build(self, node: yaml.Node) -> Any:
        self.nodes += 1
        if self.nodes > self.most:
            raise self._complain(node, "refused: aliases repeat too many values")
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node)
        if id(node) in self.path:
            raise self._complain(node, "an alias that contains itself")
        self.path.append(id(node))
        try:
            if isinstance(node, yaml.SequenceNode):
                return [self.build(item) for item in node.value]
            return self._mapping(node)
        finally:
            self.path.pop()

    def _mapping(self, node: yaml.Node) -> dict[str, Any]:
        found: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key, value in node.value:
            if key.tag == _MERGE:
                self._merge(merged, value)
                continue
            if not isinstance(key, yaml.ScalarNode):
                raise self._complain(key, _NO_KEY)
            if key.value in found:
                raise self._complain(key, f"the key {key.value!r} is given twice")
            found[key.value] = self.build(value)
        return {**merged, **found} if merged else found

    def _merge(self, merged: dict[str, Any], value: yaml.Node) -> None:
        data = self.build(value)
        for part in data if isinstance(data, list) else [data]:
            if not isinstance(part, dict):
                raise self._complain(value, "expected an object to merge with <<")
            for name, item in part.items():
                merged.setdefault(name, item)

    def _complain(self, node: yaml.Node, problem: str) -> ManifestError:
        place = SourceLocation(file=self.file, line=node.start_mark.line + 1)
        return ManifestError(problem, place=place)


_NO_KEY = (
    "expected a text as key, got a collection "
    "(a template? render it first, e.g. with `helm template`)"
)
_INT = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS = {
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
    "null": None,
    "Null": None,
    "NULL": None,
    "~": None,
    "": None,
}
_STR = "tag:yaml.org,2002:str"


def _scalar(node: yaml.ScalarNode) -> Any:
    """Return a scalar by the JSON schema of YAML, as Kubernetes reads it.

    `on`, `yes` and dates stay texts; a quoted value is always a text.
    """
    text = node.value
    if node.style or node.tag == _STR:  # the C loader gives "" for a plain one
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text) and len(text) < 25:
        return int(text)
    if _FLOAT.fullmatch(text) and len(text) < 40:
        return float(text)
    return text


def _take_apart(document: Document) -> Iterator[Document]:
    """Yield the items of a `List`, or the document itself."""
    if not document.kind and simulator.is_export(document.data):
        yield from _exported(document)
        return
    items = document.data.get("items")
    if not (document.kind.endswith("List") and isinstance(items, list)):
        yield document
        return
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            raise document.error(f"items[{index}]", "expected an object")
        root = _item_node(document.root, index)
        line = root.start_mark.line + 1 if root is not None else document.line
        data = _with_list_kind(document, item)
        yield from _take_apart(
            Document(file=document.file, data=data, root=root, line=line)
        )


def _exported(document: Document) -> Iterator[Document]:
    """Yield the objects of an export of the kube-scheduler-simulator."""
    for path, item in simulator.items(document.data):
        if not isinstance(item, dict):
            raise document.error(path, "expected an object")
        root = _node_at(document.root, path)
        line = root.start_mark.line + 1 if root is not None else document.line
        yield Document(file=document.file, data=item, root=root, line=line)


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
