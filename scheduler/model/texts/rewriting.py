"""Other data into a YAML text that somebody wrote: only what differs is touched.

Comments, order, quotes and every other line stay byte for byte. The edits are made at
the marks of single values, and the text is read again: what does not read as it should
is refused, never written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import yaml

from scheduler.model.texts.plain_text import write
from scheduler.model.texts.values import DEFAULT_LIMITS, Limits, Loader, read_each

_PLAIN_KEY = re.compile(r"[A-Za-z_][\w./-]*")


class Edit(NamedTuple):
    """`text` takes the place of what stands from `begin` up to `end`."""

    begin: int
    end: int
    text: str


class UnwritableError(Exception):
    """The text cannot be brought to the data by edits at marks: it uses an alias there."""


@dataclass(frozen=True, slots=True)
class Written:
    """One document of a text: its data, and the nodes with marks into the text."""

    data: Any
    root: yaml.Node


def written(text: str, *, file: str, limits: Limits = DEFAULT_LIMITS) -> list[Written]:
    """Return the documents of a text that are not empty.

    Raises ManifestError as `read_each` does, which looks at the bounds first.
    """
    data = [read.data for read in read_each(text, file, limits)]
    roots = list(yaml.compose_all(text.removeprefix("\ufeff"), Loader=Loader))
    pairs = zip(data, roots, strict=True)
    return [Written(data=one, root=root) for one, root in pairs if one is not None]


def edits(text: str, document: Written, after: Any) -> list[Edit]:
    """Return the edits that make the document read as `after`, in order.

    `text` is that of the whole file, without a byte order mark. Raises UnwritableError.
    Cost: O(document).
    """
    writer = _Writer(text, document.root)
    writer.change(document.root, document.data, after, flow=False)
    found = sorted(writer.edits)
    for one, following in pairwise(found):
        if following.begin < one.end:
            raise UnwritableError
    return found


def rewritten(text: str, changes: Sequence[Edit]) -> str:
    """Return the text with edits made; they are in order and do not overlap."""
    parts, at = [], 0
    for one in changes:
        parts += [text[at : one.begin], one.text]
        at = one.end
    return "".join([*parts, text[at:]])


class _Writer:
    """Collects the edits of one document."""

    def __init__(self, text: str, root: yaml.Node) -> None:
        self.text = text
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self.edits: list[Edit] = []
        self.strict = bool(getattr(root, "flow_style", False))  # JSON: quoted by it
        self.shared = set(_shared(root))

    def change(self, node: yaml.Node, before: Any, after: Any, *, flow: bool) -> None:
        """Make what stands at a node read as `after`."""
        if same(before, after):
            return
        if id(node) in self.shared:
            raise UnwritableError
        flow = flow or bool(getattr(node, "flow_style", False))
        if isinstance(node, yaml.MappingNode) and isinstance(after, Mapping):
            self._mapping(node, before, after, flow=flow)
        elif (
            isinstance(node, yaml.SequenceNode)
            and isinstance(after, list)
            and self._sequence(node, before, after, flow=flow)
        ):
            return
        else:
            self._replace(node, after)

    # -- mappings

    def _mapping(
        self,
        node: yaml.MappingNode,
        before: Mapping[str, Any],
        after: Mapping[str, Any],
        *,
        flow: bool,
    ) -> None:
        own = {str(key.value): (key, value) for key, value in node.value}
        gone = [name for name in before if name not in after]
        if any(name not in own for name in gone):
            raise UnwritableError  # it comes by a merge key, or is spelt otherwise
        if gone and len(gone) == len(own):
            self._replace(node, dict(after))
            return
        added: dict[str, Any] = {}
        for name, value in after.items():
            if name in own and name in before:
                self.change(own[name][1], before[name], value, flow=flow)
            elif name not in before or not same(before[name], value):
                added[name] = value
        for name in gone:
            self._take_out(node, name, flow=flow)
        if added:
            self._add(node, added, {*gone}, flow=flow)

    def _add(
        self,
        node: yaml.MappingNode,
        added: Mapping[str, Any],
        gone: set[str],
        *,
        flow: bool,
    ) -> None:
        """Write keys after the last one that stays."""
        staying = [pair for pair in node.value if str(pair[0].value) not in gone]
        if flow or not staying:
            body = ", ".join(
                f"{self._key(name, node)}: {self._flow(value)}"
                for name, value in added.items()
            )
            if not staying:
                self._put(node.start_mark.index, _end(node), f"{{{body}}}")
            else:
                at = _end(staying[-1][1]) or _end(staying[-1][0])
                self._put(at, at, f", {body}")
            return
        at = self._line_end(_end_of_pair(self.text, staying[-1]))
        indent = " " * node.value[0][0].start_mark.column
        self._put(at, at, self.newline + self._block(dict(added), indent))

    def _take_out(self, node: yaml.MappingNode, name: str, *, flow: bool) -> None:
        names = [str(key.value) for key, _ in node.value]
        at = names.index(name)
        key, value = node.value[at]
        begin, end = key.start_mark.index, _end_of_pair(self.text, (key, value))
        if flow:
            if at + 1 < len(node.value):
                self._put(begin, node.value[at + 1][0].start_mark.index, "")
            else:
                self._put(_end_of_pair(self.text, node.value[at - 1]), end, "")
            return
        line = self._line_begin(begin)
        if self.text[line:begin].strip(" ") == "":
            self._put(line, self._after_line(end), "")
        elif at + 1 < len(node.value):  # "- name: ..." goes, the next takes its place
            self._put(begin, node.value[at + 1][0].start_mark.index, "")
        else:
            raise UnwritableError

    def _key(self, name: str, node: yaml.MappingNode) -> str:
        quoted = any(key.style == '"' for key, _ in node.value)
        return name if _PLAIN_KEY.fullmatch(name) and not quoted else json.dumps(name)

    # -- sequences

    def _sequence(
        self,
        node: yaml.SequenceNode,
        before: list[Any],
        after: list[Any],
        *,
        flow: bool,
    ) -> bool:
        """Edit items in place where their order stays; False where it does not."""
        pairs = aligned(before, after)
        at = [old for old, _ in pairs if old is not None]
        kept = [(old, new) for old, new in pairs if old is not None]
        if at != sorted(at) or not kept or len(before) != len(node.value):
            return False
        last_kept = max(new for _, new in kept)
        new_items = [new for old, new in pairs if old is None]
        if any(new < last_kept for new in new_items):
            return False  # something comes in between
        gone = [index for index in range(len(before)) if index not in at]
        if gone and (flow or new_items):
            return False
        for index in gone:
            item = node.value[index]
            line = self._line_begin(self._dash(item))
            if self.text[line : item.start_mark.index].strip(" ") != "-":
                raise UnwritableError
            self._put(line, self._after_line(_end(item)), "")
        for old, new in kept:
            self.change(node.value[old], before[old], after[new], flow=flow)
        if new_items:
            self._add_items(node, [after[new] for new in new_items], flow=flow)
        return True

    def _add_items(
        self, node: yaml.SequenceNode, items: list[Any], *, flow: bool
    ) -> None:
        last = node.value[-1]
        if flow:
            self._put(
                _end(last), _end(last), "".join(f", {self._flow(one)}" for one in items)
            )
            return
        dash = self._dash(last)
        indent = " " * (dash - self._line_begin(dash))
        at = self._line_end(_end(last))
        self._put(at, at, self.newline + self._block(items, indent))

    def _dash(self, item: yaml.Node) -> int:
        return self.text.rindex("-", 0, item.start_mark.index)

    # -- values

    def _replace(self, node: yaml.Node, value: Any) -> None:
        begin, end = node.start_mark.index, _end(node)
        block = isinstance(node, yaml.CollectionNode) and not node.flow_style
        if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
            self._replace_lines(node, value)
            return
        if not block:
            text = self._scalar(node, value)
            before = self.text[begin - 1 : begin]
            self._put(
                begin, end, f" {text}" if begin == end and before == ":" else text
            )
            return
        indent = " " * node.start_mark.column
        if isinstance(value, (dict, list)) and value:
            self._put(begin, end, self._block(value, indent).removeprefix(indent))
        else:
            self._put(begin, end, self._in_place_of_block(node, value))

    def _in_place_of_block(self, node: yaml.Node, value: Any) -> str:
        """Return a value for where a block begins: deeper than the key it is of."""
        begin = node.start_mark.index
        alone = self.text[self._line_begin(begin) : begin].strip(" ") == ""
        deeper = "  " if alone and isinstance(node, yaml.SequenceNode) else ""
        return deeper + self._flow(value)

    def _replace_lines(self, node: yaml.ScalarNode, value: Any) -> None:
        """Write a text of lines where one stood, at its indentation."""
        if node.style != "|" or not isinstance(value, str):
            raise UnwritableError
        begin = self.text.index("\n", node.start_mark.index) + 1
        end = node.start_mark.index + len(
            self.text[node.start_mark.index : node.end_mark.index].rstrip()
        )
        first = self.text[begin:end].lstrip("\r\n")
        indent = first[: len(first) - len(first.lstrip(" "))]
        lines = value.rstrip("\n").split("\n")
        text = self.newline.join(f"{indent}{one}" if one else "" for one in lines)
        self._put(begin, end, text)

    def _scalar(self, node: yaml.Node, value: Any) -> str:
        style = getattr(node, "style", None)
        if isinstance(value, str) and style == "'" and value.isprintable():
            return "'" + value.replace("'", "''") + "'"
        if isinstance(value, str) and style == '"':
            return json.dumps(value, ensure_ascii=False)
        return self._flow(value)

    def _flow(self, value: Any) -> str:
        """Return a value as it may stand anywhere, in one line."""
        if isinstance(value, str) and not self.strict:
            text = write([value]).removeprefix("- ").removesuffix("\n")
            if not set(text) & set("{}[],'\"\n|>"):
                return text
        return json.dumps(value, ensure_ascii=False)

    def _block(self, value: Any, indent: str) -> str:
        lines = write(value).rstrip("\n").split("\n")
        return self.newline.join(f"{indent}{line}" if line else "" for line in lines)

    # -- places

    def _put(self, begin: int, end: int, text: str) -> None:
        self.edits.append(Edit(begin, end, text))

    def _line_begin(self, at: int) -> int:
        return self.text.rfind("\n", 0, at) + 1

    def _line_end(self, at: int) -> int:
        """Return where the line ends that `at` stands in, before its mark."""
        if at and self.text[at - 1] == "\n":  # a block of text ends with its line
            at -= 1
        found = self.text.find("\n", at)
        end = len(self.text) if found < 0 else found
        return end - 1 if self.text[at:end].endswith("\r") else end

    def _after_line(self, at: int) -> int:
        if at and self.text[at - 1] == "\n":
            return at
        found = self.text.find("\n", at)
        return len(self.text) if found < 0 else found + 1


def aligned(
    before: Sequence[Any], after: Sequence[Any]
) -> list[tuple[int | None, int]]:
    """Return for each item of `after` which one of `before` it was: by name, or by place.

    Each is taken once. Lists of one length whose items have no names go by place.
    """
    names = [_identity(one) for one in (*before, *after)]
    if len(before) == len(after) and (
        None in names or names[: len(before)] == names[len(before) :]
    ):
        return [(index, index) for index in range(len(after))]
    left = dict(enumerate(before))
    pairs: list[tuple[int | None, int]] = []
    for new, item in enumerate(after):
        name = _identity(item)
        found = next(
            (
                old
                for old, other in left.items()
                if (name is not None and _identity(other) == name) or same(other, item)
            ),
            None,
        )
        if found is not None:
            del left[found]
        pairs.append((found, new))
    return pairs


def _identity(item: Any) -> Any:
    if not isinstance(item, Mapping):
        return None
    metadata = item.get("metadata")
    if isinstance(metadata, Mapping) and metadata.get("name") is not None:
        return item.get("kind"), metadata.get("namespace"), metadata["name"]
    for field in ("name", "key", "coveredResources", "schedulerName"):
        if item.get(field) is not None:
            return field, json.dumps(item[field], default=str)
    return None


def same(one: Any, other: Any) -> bool:
    """Return whether two values are one, and of one type: 1 is not true."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(
            same(value, other[name]) for name, value in one.items()
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)


def _end(node: yaml.Node) -> int:
    """Return where a node ends; a block's own mark stands after what follows it."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        if isinstance(last, tuple):
            last = last[1] if last[1].end_mark.index else last[0]
        node = last
    return int(node.end_mark.index)


def _end_of_pair(text: str, pair: tuple[yaml.Node, yaml.Node]) -> int:
    key, value = pair
    end = max(_end(value), int(key.end_mark.index))
    if isinstance(value, yaml.ScalarNode) and value.style in ("|", ">"):
        end = int(key.end_mark.index) + len(text[key.end_mark.index : end].rstrip())
    return end


def _shared(root: yaml.Node) -> Iterator[int]:
    """Yield the nodes that stand in several places: an edit would change them all."""
    seen: set[int] = set()
    left = [root]
    while left:
        node = left.pop()
        if id(node) in seen:
            yield id(node)
            continue
        seen.add(id(node))
        for part in node.value if isinstance(node, yaml.CollectionNode) else ():
            left += part if isinstance(part, tuple) else (part,)
