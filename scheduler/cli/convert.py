"""`python -m scheduler convert`: manifests of one system in the terms of another."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any, TextIO

from scheduler.analysis.conversion.files import convert_files
from scheduler.assembly import assemble
from scheduler.cli.files import read_paths
from scheduler.cli.statuses import refused
from scheduler.input.manifests.documents import read_documents
from scheduler.model.errors import SchedulerError
from scheduler.model.texts.plain_text import write_all


def main(arguments: Sequence[str], out: TextIO | None = None) -> int:
    """Print the manifests as YAML, what is lost on stderr; 2 on bad input."""
    out = out or sys.stdout
    options = _parser().parse_args(arguments)
    try:
        documents, losses = converted(read_paths(options.paths), options.to)
    except SchedulerError as error:
        return refused(error)
    out.write(write_all(documents))
    sys.stderr.writelines(f"lost: {loss}\n" for loss in losses)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m scheduler convert",
        description="Write manifests of Volcano, KAI, Kueue or YuniKorn in "
        "the terms of Kueue or YuniKorn; what is lost goes to stderr.",
    )
    parser.add_argument("paths", nargs="+", metavar="PATH")
    parser.add_argument("--to", choices=["kueue", "yunikorn"], default="kueue")
    return parser


def converted(
    sources: Sequence[tuple[str, str]], stack: str
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the documents in the terms of a stack, and a line per loss.

    Raises SchedulerError for what cannot be read, or taken when it is converted.
    """
    found = convert_files(sources, stack=stack)
    assemble(found.files)
    documents = [
        document.data
        for name, text in found.files
        for document in read_documents(text, file=name)
    ]
    return documents, [str(loss) for loss in found.losses]
