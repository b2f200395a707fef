"""`python -m scheduler convert`: manifests of one system in the terms of another."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any, TextIO

from scheduler.cli.files import read_paths
from scheduler.conversion import foreign
from scheduler.conversion.converting import convert
from scheduler.errors import SchedulerError
from scheduler.manifests.documents import read_documents
from scheduler.manifests.texts.writing import write_all
from scheduler.records.objects import Object
from scheduler.scenarios import assemble

_OURS = ("uid", "creationTimestamp", "generation")


def main(arguments: Sequence[str], out: TextIO | None = None) -> int:
    """Print the manifests as YAML, what is lost on stderr; 2 on bad input."""
    out = out or sys.stdout
    options = _parser().parse_args(arguments)
    try:
        documents, losses = converted(read_paths(options.paths), options.to)
    except SchedulerError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    out.write(text_of(documents))
    sys.stderr.writelines(f"lost: {loss}\n" for loss in losses)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m scheduler convert",
        description="Write manifests of Volcano, KAI, Armada, Kueue or YuniKorn in "
        "the terms of Kueue or YuniKorn; what is lost goes to stderr.",
    )
    parser.add_argument("paths", nargs="+", metavar="PATH")
    parser.add_argument("--to", choices=["kueue", "yunikorn"], default="kueue")
    return parser


def converted(
    sources: Sequence[tuple[str, str]], stack: str
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the documents in the terms of a stack, and a line per loss.

    Raises SchedulerError for what cannot be read.
    """
    given = [
        document.data
        for name, text in sources
        for document in read_documents(text, file=name)
    ]
    writing = foreign.convert(given)
    losses = [str(loss) for loss in writing.losses]
    documents = writing.documents()
    world = assemble([("converted.yaml", text_of(documents))]).world
    if world.policy.spec.stack == stack:
        return documents, losses
    found = convert(world.objects.values(), world.policy, stack=stack)
    policy = {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Policy",
        "metadata": {"name": "policy"},
        "spec": found.policy,
    }
    objects = [_document(obj) for obj in found.objects]
    return [policy, *objects], [*losses, *map(str, found.losses)]


def text_of(documents: Sequence[dict[str, Any]]) -> str:
    """Return YAML, a document after the other."""
    return write_all(documents)


def _document(obj: Object) -> dict[str, Any]:
    metadata = {n: value for n, value in obj.metadata.items() if n not in _OURS}
    document = {**obj.manifest, "metadata": metadata}
    return {**document, "status": obj.status} if obj.status else document
