"""queues.yaml, bare or inside a ConfigMap: to a partition's records and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler.input.manifests.documents import Document, read_documents
from scheduler.model.errors import ManifestError
from scheduler.model.hierarchy import PartitionSpec
from scheduler.model.problems import Problem, Wanted, expected, in_field
from scheduler.model.sentence import Sentence
from scheduler.model.yunikorn.properties import SORT_POLICY, problems
from scheduler.model.yunikorn.reading import Reader, from_plain, to_plain
from scheduler.words.read_as import ReadAs

__all__ = [
    "from_plain",
    "holds_queues",
    "is_queues",
    "read",
    "read_text",
    "to_plain",
    "untaken",
]

FILE = "queues.yaml"


def holds_queues(document: Document) -> bool:
    """Return whether this document is a queues.yaml or a ConfigMap that holds one."""
    if document.kind == "ConfigMap":
        data = document.data.get("data")
        return isinstance(data, dict) and FILE in data
    return not document.kind and is_queues(document.data)


def is_queues(data: Mapping[str, Any]) -> bool:
    """Return whether this mapping is a bare queues.yaml."""
    return "partitions" in data


def read_text(text: str, *, file: str = FILE) -> PartitionSpec:
    """Return the partition of a queues.yaml text; raises ManifestError."""
    documents = read_documents(text, file=file)
    if not documents:
        raise ManifestError(in_field(file, Problem.NO_DOCUMENT.said()))
    return read(documents[0])


def read(document: Document) -> PartitionSpec:
    """Return the partition that the document configures, checked.

    Raises ManifestError with file, line and field: an unknown key, a quantity
    that is none, a child that asks for more than its parent has. The first
    problem is reported.
    Source: docs/semantics/yunikorn.md#configuration-checks
    """
    if document.kind == "ConfigMap":
        inner = document.data["data"][FILE]
        if not isinstance(inner, str):
            raise document.error(f"data.{FILE}", expected(Wanted.TEXT))
        return read_text(inner, file=f"{document.file}[{FILE}]")
    return Reader(document=document).partition()


def untaken(document: Document, laws: str) -> Iterator[tuple[str, Sentence]]:
    """Yield (field, what counts instead) of properties of queues that are not taken.

    The document is one that `read` takes; `laws` are those of the policy. Cost: O(queues).
    """
    left = [
        (f"partitions[{index}]", partition)
        for index, partition in enumerate(document.data.get("partitions") or ())
    ]
    while left:
        path, holder = left.pop()
        own = {n: str(v) for n, v in (holder.get("properties") or {}).items()}
        yield from ((f"{path}.properties", said) for said in problems(own))
        if own.get(SORT_POLICY, "").lower() == "stateaware" and laws == "released":
            yield f"{path}.properties.{SORT_POLICY}", ReadAs.STATE_AWARE.said()
        queues = list(enumerate(holder.get("queues") or ()))
        left += [(f"{path}.queues[{at}]", queue) for at, queue in reversed(queues)]
