"""`quotalab snippet`: lines for a shell that bring somebody's cluster."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TextIO

from scheduler.input.manifests.dumps.snippet import (
    PACKAGE,
    STATE,
    cluster_line,
    git_lines,
    yunikorn_line,
)


def main(arguments: Sequence[str], out: TextIO | None = None) -> int:
    """Print a line, and on stderr what to do with what it writes."""
    out = out or sys.stdout
    parser = argparse.ArgumentParser(
        prog="quotalab snippet",
        description="Print a line for a shell that brings a cluster: read-only, with "
        "kubectl alone, without Secrets and values of environments.",
    )
    parser.add_argument(
        "of",
        nargs="?",
        choices=["cluster", "yunikorn", "git"],
        default="cluster",
        help="a cluster's objects (as is), YuniKorn's own state, or a repository",
    )
    parser.add_argument("--repository", metavar="URL", help="of git")
    parser.add_argument("--at", metavar="COMMIT", default="HEAD", help="of git (HEAD)")
    parser.add_argument("--path", default="", help="of git: the folder in it")
    words = parser.parse_args(arguments)
    if words.of == "git":
        if not words.repository:
            parser.error("git needs --repository, as https://git.example/team/clusters")
        out.writelines(
            f"{line}\n" for line in git_lines(words.repository, words.at, words.path)
        )
        sys.stderr.write(
            "the first renders a kustomization, the second takes a clone's files as "
            "they are\n"
        )
        return 0
    line, file = (
        (cluster_line(), PACKAGE) if words.of == "cluster" else (yunikorn_line(), STATE)
    )
    out.write(f"{line}\n")
    sys.stderr.write(f"drop {file} on the page, or: quotalab import {file}\n")
    return 0
