"""A text of which something is broken: read document by document, so the rest counts."""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from scheduler.input.manifests.documents import Document, read_documents
from scheduler.model.errors import ManifestError
from scheduler.model.texts.values import Limits

_MARK = re.compile(r"^---(?=[ \t\r\n]|$)", re.MULTILINE)
#: Beyond it a broken text is refused whole: parts are read with the lines before them.
_MOST_PARTS = 500
_MOST_FAULTS = 100


def read_all(
    text: str, *, file: str, limits: Limits
) -> tuple[list[Document], list[ManifestError]]:
    """Return the documents that can be read, and what is wrong with the others.

    A text that can be read is read once. Never raises ManifestError.
    """
    try:
        return read_documents(text, file=file, limits=limits), []
    except ManifestError as error:
        whole = error
    parts = list(_parts(text))
    if not 1 < len(parts) <= _MOST_PARTS or len(text) > limits.bytes:
        return [], [whole]
    documents: list[Document] = []
    faults: list[ManifestError] = []
    for part in parts:
        try:
            documents += read_documents(part, file=file, limits=limits)
        except ManifestError as error:
            faults.append(error)
    return documents, (faults or [whole])[:_MOST_FAULTS]


def _parts(text: str) -> Iterator[str]:
    """Yield each document behind empty lines, so that its lines keep their numbers."""
    starts = [0, *(match.start() for match in _MARK.finditer(text)), len(text)]
    for begin, end in itertools.pairwise(starts):
        if text[begin:end].strip():
            yield "\n" * text.count("\n", 0, begin) + text[begin:end]


# ------------------------------------------------------------------------
# What else is wrong with a document: checked again with each fault put right.


#: Faults of one document that are reported; a hostile one has more.
MOST_FAULTS = 20
_CHOICES = re.compile(r"expected one of ([\w, /.-]+?)(?:, got|;|$)")
_STEP = re.compile(r"\[([0-9]+)\]")

Check = Callable[[Document], object]


def further_faults(
    document: Document, first: ManifestError, check: Check
) -> Iterator[ManifestError]:
    """Yield the faults besides the `first`, in the order of the files.

    `document` stays as it is. A fault that cannot be put right ends the search.
    Cost: a few checks per fault.
    """
    fixed = replace(document, data=copy.deepcopy(document.data))
    fault: ManifestError | None = first
    for _ in range(MOST_FAULTS):
        if fault is None or not _put_right(fixed, fault, check):
            return
        fault = _fault(fixed, check)
        if fault is not None:
            yield fault


def _fault(document: Document, check: Check) -> ManifestError | None:
    try:
        check(document)
    except ManifestError as error:
        return error
    return None


def _put_right(document: Document, fault: ManifestError, check: Check) -> bool:
    """Change the field so that the check goes on beyond it; False when nothing helps."""
    path = fault.place.field if fault.place else ""
    found = holder_of(document.data, path) if path else None
    if found is None:
        return False
    holder, name = found
    was = holder[name] if isinstance(holder, list) else holder.get(name, _ABSENT)
    for candidate in _candidates(fault, in_list=isinstance(holder, list)):
        if candidate is _ABSENT:
            holder.pop(name, None)
        else:
            holder[name] = copy.deepcopy(candidate)
        after = _fault(document, check)
        if after is None or not _is_within(_place(after), path):
            return True
    if was is not _ABSENT:
        holder[name] = was
    return False


_ABSENT = object()


def _place(fault: ManifestError) -> str:
    return fault.place.field if fault.place else ""


def _is_within(place: str, path: str) -> bool:
    """Return whether a fault is about a field or something in it: a filler's own."""
    return place.startswith(path) and place[len(path) :][:1] in ("", ".", "[")


def _candidates(fault: ManifestError, *, in_list: bool) -> Iterator[Any]:
    """Yield what the field may be: as expected, absent, then of every type."""
    if not in_list:
        yield _ABSENT  # a list would move the places of what comes behind
    if choices := _CHOICES.search(fault.problem.text):
        yield choices[1].split(",")[0].strip()
    yield from (1, "1", "a", {}, [], True, ["a"], {"a": "a"})


def holder_of(data: Any, path: str) -> tuple[Any, Any] | None:
    """Return the object or list that the last step of a path is in, and that step.

    None where the path leads nowhere.
    """
    at, rest = data, path
    while True:
        step = _next(at, rest)
        if step is None:
            return None
        name, rest = step
        if not rest:
            return at, name
        at = at[name] if isinstance(at, list) else at.get(name)
        if at is None:
            return None


def _next(at: Any, path: str) -> tuple[Any, str] | None:
    """Return the step that a path begins with, and the rest; keys may hold dots."""
    if match := _STEP.match(path):
        index = int(match[1])
        if not isinstance(at, list) or index >= len(at):
            return None
        return index, path[match.end() :].removeprefix(".")
    if not isinstance(at, dict):
        return None
    known = [
        name
        for name in at
        if isinstance(name, str)
        and path.startswith(name)
        and path[len(name) :][:1] in ("", ".", "[")
    ]
    if known:
        name = max(known, key=len)
        return name, path[len(name) :].removeprefix(".")
    head = re.split(r"[.\[]", path, maxsplit=1)[0]
    return (head, "") if head == path else None
