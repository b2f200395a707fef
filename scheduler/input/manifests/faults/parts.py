"""A text of which something is broken: read document by document, so the rest counts."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

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
