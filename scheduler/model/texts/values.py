"""YAML to plain data, within limits: the only entrance for a text of YAML."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import yaml

from scheduler.model.errors import ManifestError, SourceLocation
from scheduler.model.problems import (
    FileProblem,
    Form,
    NotYaml,
    Problem,
    Wanted,
    expected,
)
from scheduler.model.problems.validation import said_of_yaml
from scheduler.model.sentence import Sentence

_CASES = (str.lower, str.title, str.upper)
_WORDS: dict[str, bool | None] = {
    case(word): value
    for value, words in (
        (True, ("yes", "true", "on")),
        (False, ("no", "false", "off")),
        (None, ("", "~", "null")),
    )
    for word in words
    for case in _CASES
}
_WHOLE = re.compile(r"([-+]?)(?:0x([0-9a-f]+)|0b([01]+)|0o?([0-7]+)|(0|[1-9][0-9]*))")
_BASES = (16, 2, 8, 10)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_USUAL = re.compile(
    r"|~|null|Null|NULL|true|True|TRUE|false|False|FALSE"
    r"|[-+]?(0|[1-9][0-9]*)(\.[0-9]*)?([eE][-+]?[0-9]+)?"
)
#: The widest whole numbers: of 64 bits, with or without a sign.
_LEAST, _MOST = -(1 << 63), (1 << 64) - 1
#: From here on a whole number is written with an exponent, and stays a float.
_WHOLE_FLOATS = 1e21
_LONGEST_NUMBER = 400


@lru_cache(maxsize=65536)
def plain(text: str) -> Any:
    """Return the value of an unquoted scalar: None, bool, int, float or the text."""
    if text in _WORDS:
        return _WORDS[text]
    first = text[0]
    if first not in "+-.0123456789" or len(text) > _LONGEST_NUMBER:
        return text
    digits = text if first == "." else text.replace("_", "")
    found = _whole(digits)
    return _float(digits, text) if found is None else found


def unchanged(text: str) -> Any:
    """Return the value of an unquoted scalar whose text is that value; else the text.

    For a reader that knows which fields are texts, as YuniKorn's of queues.yaml does:
    a queue `n`, `08` or `0x1` keeps its name.
    """
    return plain(text) if _USUAL.fullmatch(text) else text


def key(value: Any, text: str) -> str:
    """Return the key that a scalar of this value is: `on` is `true`, `0x10` is `16`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else text


def _whole(digits: str) -> int | None:
    match = _WHOLE.fullmatch(digits.lower())
    if match is None:
        return None
    sign, *forms = match.groups()
    number = next(
        int(form, base) for form, base in zip(forms, _BASES, strict=True) if form
    )
    number = -number if sign == "-" else number
    return number if _LEAST <= number <= _MOST else None


def _float(digits: str, text: str) -> float | int | str:
    if not _FLOAT.fullmatch(digits):
        return text
    number = float(digits)
    if math.isinf(number):
        return text
    whole = number.is_integer() and abs(number) < _WHOLE_FLOATS
    return int(number) if whole else number


# ------------------------------------------------------------------------
# YAML to plain data, within limits: the only entrance for a text of YAML.


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a text may cost, set by whoever runs the server."""

    bytes: int = 64 * 2**20
    depth: int = 64
    aliases: int = 1_000
    repeats: int = 200_000  # values that aliases add by repeating
    values: int = 10_000_000  # as written: about 100 bytes of memory each
    documents: int = 200_000
    objects: int = 1_000_000  # that arrivals and generators make, with those written
    pods: int = 1_000_000  # that one object makes; 0 = any number


DEFAULT_LIMITS = Limits()


def read_values(
    text: str, *, file: str = "input", limits: Limits = DEFAULT_LIMITS
) -> list[Any]:
    """Return the plain data of every document of a YAML text; None for an empty one.

    For what is no manifest: settings and patches. Raises ManifestError with file and
    line for broken YAML, duplicate keys and for what passes a limit.
    """
    if len(text.encode("utf-8", "surrogatepass")) > limits.bytes:
        raise refused(file, 1, f"more than {limits.bytes} bytes")
    return [read.data for read in read_each(text, file, limits)]


def read_value(text: str, *, file: str = "input") -> Any:
    """Return the plain data of a YAML text of one document; None where it is empty.

    Raises ManifestError as `read_values` does, and for a second document.
    """
    found = read_values(text, file=file)
    if len(found) > 1:
        problem = expected(Wanted.ONE_DOCUMENT, given=len(found))
        raise ManifestError(problem, place=SourceLocation(file=file, line=1))
    return found[0] if found else None


def read_each(text: str, file: str, limits: Limits) -> Iterator[Read]:
    """Yield the documents of a text, each read as whoever it is for reads it.

    Raises ManifestError with file and line.
    """
    text = text.removeprefix("\ufeff")
    bounds = Bounds(
        depth=limits.depth,
        aliases=limits.aliases,
        repeats=limits.repeats,
        values=limits.values,
        documents=limits.documents,
    )
    try:
        for read in read_events(text, file, bounds):
            if _is_queues(read.data):
                read = _with_texts(read, text, file, bounds)
            yield read
    except yaml.YAMLError as error:
        raise _broken(file, error) from error
    except (RecursionError, UnicodeError) as error:
        raise refused(file, 1, "nested or encoded beyond reading") from error


def _is_queues(data: Any) -> bool:
    return isinstance(data, dict) and "partitions" in data and "kind" not in data


def _with_texts(read: Read, text: str, file: str, bounds: Bounds) -> Read:
    """Read a queues.yaml once more as YuniKorn does, which knows what is a text."""
    again = text[read.span.begin : read.span.end]
    (named,) = read_events(again, file, bounds, unchanged)
    return replace(read, data=named.data)


def _broken(file: str, error: yaml.YAMLError) -> ManifestError:
    mark = getattr(error, "problem_mark", None)
    line = mark.line + 1 if mark is not None else 1
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    what = said_of_yaml(problem)
    if "cannot start any token" in problem:
        what = NotYaml.TABS.said(what=what)
    return ManifestError(
        NotYaml.KNOWN.said(what=what), place=SourceLocation(file=file, line=line)
    )


# ------------------------------------------------------------------------
# YAML to plain data in one pass over its events, with where documents and items
# stand.


Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STR = "tag:yaml.org,2002:str"


@dataclass(frozen=True, slots=True)
class Span:
    """Where something begins and ends in a text; its line from 1, its column from 0."""

    begin: int
    end: int
    line: int
    column: int


@dataclass(slots=True, kw_only=True)
class SpanLines:
    """The lines of documents, or of the items of a List, by their spans."""

    text: str = field(repr=False)
    spans: list[Span]

    def line(self, index: int) -> int:
        """Return the line in which the item begins."""
        return self.spans[index].line

    def kind_line(self, index: int) -> int:
        """Return the line of the item's kind, or of its begin."""
        text = self.slice(index)
        match = re.search(
            rf"^ {{{self.spans[index].column}}}kind *:", text, re.MULTILINE
        )
        return self.line(index) + (text.count("\n", 0, match.start()) if match else 0)

    def slice(self, index: int) -> str:
        """Return the text of the item, its first line at its own column."""
        span = self.spans[index]
        return " " * span.column + self.text[span.begin : span.end]


@dataclass(frozen=True, slots=True)
class Read:
    """One document: its data, its place, and those of its `items`, if it has such."""

    data: Any
    span: Span
    items: list[Span]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What the text of one file may cost."""

    depth: int
    aliases: int
    repeats: int
    values: int
    documents: int


def read_events(
    text: str, file: str, bounds: Bounds, resolve: Callable[[str], Any] = plain
) -> Iterator[Read]:
    """Yield the documents of a text; empty ones have the data None.

    `resolve` gives an unquoted scalar its value.

    Raises ManifestError with file and line for duplicate keys and for what passes a
    bound, yaml.YAMLError for what is no YAML. Cost: O(text), without recursion.
    """
    return _Reader(file, bounds, resolve).read(text)


@dataclass(slots=True)
class _Open:
    """A collection that has begun: `key` is None where a key comes next."""

    data: Any  # dict or list
    begin: Any  # the mark
    values: int  # how many were read before it
    anchor: str | None
    key: str | None = None
    merged: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class _Anchored:
    """What an alias stands for, and how many values that is."""

    value: Any
    text: str | None  # of a scalar: it may be a key
    values: int


_MERGE = "<<"
_BEGUN = _Anchored(None, None, -1)


class _Reader:
    """Builds one document after the other."""

    def __init__(
        self, file: str, bounds: Bounds, resolve: Callable[[str], Any]
    ) -> None:
        self.file = file
        self.resolve = resolve
        self.bounds = bounds
        self.values = self.aliases = self.repeated = self.documents = 0
        self.stack: list[_Open] = []
        self.anchors: dict[str, _Anchored] = {}
        self.items: list[Span] = []
        self.data: Any = None
        self.span: Span | None = None
        self.keys: set[int] = set()

    def read(self, text: str) -> Iterator[Read]:
        scalar, alias = yaml.ScalarEvent, yaml.AliasEvent
        for event in yaml.parse(text, Loader=Loader):
            kind = type(event)
            self.values += 1
            if self.values > self.bounds.values:
                raise self._too_much(event, f"over {self.bounds.values} values")
            if kind is scalar:
                self._scalar(event)
            elif isinstance(event, yaml.CollectionStartEvent):
                self._begin(event)
            elif isinstance(event, yaml.CollectionEndEvent):
                self._end(event)
            elif kind is alias:
                self._alias(event)
            elif isinstance(event, yaml.DocumentStartEvent):
                self.anchors.clear()
                self.items, self.data, self.span = [], None, None
            elif isinstance(event, yaml.DocumentEndEvent) and self.span is not None:
                self.documents += 1
                if self.documents > self.bounds.documents:
                    what = FileProblem.DOCUMENTS.said(most=self.bounds.documents)
                    raise self._refused(self.span.line, what)
                yield Read(self.data, self.span, self.items)

    # -- events

    def _scalar(self, event: Any) -> None:
        text, unquoted = event.value, event.style is None or event.style == ""
        value = self.resolve(text) if unquoted and event.tag != _STR else text
        if event.anchor:
            self.anchors[event.anchor] = _Anchored(value, text, 1)
        if self._is_key():
            merge = unquoted and text == _MERGE and not event.tag
            self._key(event, key(value, text), merge=merge)
        else:
            self._put(event, value)

    def _begin(self, event: Any) -> None:
        if self._is_key():
            raise self._complain(event, Problem.COLLECTION.said())
        if len(self.stack) >= self.bounds.depth:
            raise self._too_much(event, f"nested over {self.bounds.depth} deep")
        if event.anchor:
            self.anchors[event.anchor] = _BEGUN
        data: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
        mark, anchor = event.start_mark, event.anchor
        self.stack.append(_Open(data, mark, self.values, anchor))

    def _end(self, event: Any) -> None:
        ended = self.stack.pop()
        data = ended.data
        if ended.merged is not None:
            data = {**ended.merged, **data}
        if ended.anchor:
            count = self.values - ended.values
            self.anchors[ended.anchor] = _Anchored(data, None, count)
        if self._is_item():
            self.items.append(_span(ended.begin, event.end_mark))
        self._put(event, data, begin=ended.begin)

    def _alias(self, event: Any) -> None:
        self.aliases += 1
        if self.aliases > self.bounds.aliases:
            raise self._too_much(event, f"over {self.bounds.aliases} aliases")
        known = self.anchors.get(event.anchor)
        if known is None:
            raise self._complain(event, NotYaml.ALIAS.said(given=repr(event.anchor)))
        if known is _BEGUN:
            raise self._complain(event, Problem.ALIAS_LOOP.said())
        self.repeated += known.values
        if self.repeated > self.bounds.repeats:
            raise self._complain(event, Problem.ALIASES.said())
        self.values += known.values - 1  # as if it had been written again
        if not self._is_key():
            self._put(event, copy.deepcopy(known.value))
        elif known.text is None:
            raise self._complain(event, Problem.COLLECTION.said())
        else:
            self._key(event, known.text, merge=False)

    # -- where it goes

    def _is_item(self) -> bool:
        """Return whether what ends is one of the `items` of the document."""
        if len(self.stack) != 2 or type(self.stack[1].data) is not list:
            return False
        return type(self.stack[0].data) is dict and self.stack[0].key == "items"

    def _is_key(self) -> bool:
        if not self.stack:
            return False
        top = self.stack[-1]
        return top.key is None and type(top.data) is dict

    def _key(self, event: Any, text: str, *, merge: bool) -> None:
        top = self.stack[-1]
        if merge:
            top.key = _MERGE
            self.keys.add(id(top))
        elif text in top.data:
            raise self._complain(event, Problem.KEY_TWICE.said(name=repr(text)))
        else:
            top.key = text

    def _put(self, event: Any, value: Any, begin: Any = None) -> None:
        if not self.stack:
            self.data = value
            self.span = _span(begin or event.start_mark, event.end_mark)
            return
        top = self.stack[-1]
        if type(top.data) is list:
            top.data.append(value)
            return
        key, top.key = top.key, None
        if key == _MERGE and id(top) in self.keys:
            self.keys.discard(id(top))
            top.merged = {} if top.merged is None else top.merged
            for part in value if isinstance(value, list) else [value]:
                if not isinstance(part, dict):
                    raise self._complain(event, Problem.TO_MERGE_IN.said())
                for name, item in part.items():
                    top.merged.setdefault(name, item)
        else:
            top.data[key] = value

    # -- refusals

    def _complain(self, event: Any, problem: Sentence) -> ManifestError:
        place = SourceLocation(file=self.file, line=event.start_mark.line + 1)
        return ManifestError(problem, place=place)

    def _too_much(self, event: Any, what: str) -> ManifestError:
        return self._refused(event.start_mark.line + 1, what)

    def _refused(self, line: int, what: Sentence | str) -> ManifestError:
        return refused(self.file, line, what)


def refused(file: str, line: int, what: Sentence | str) -> ManifestError:
    """Return the error for what passes a bound."""
    return ManifestError(
        Form.TOO_MUCH.said(problem=what), place=SourceLocation(file=file, line=line)
    )


def _span(begin: Any, end: Any) -> Span:
    return Span(begin.index, end.index, begin.line + 1, begin.column)
