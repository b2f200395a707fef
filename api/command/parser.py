"""The words that `quotalab` understands, with help and examples."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import tomllib
from pathlib import Path

# The verbs enrol when their modules are read.
from api.command import (  # noqa: F401
    changing,
    connecting,
    experimenting,
    explaining,
    proving,
    reading,
    retention,
    twins,
    what_ifs,
)
from scheduler import ENGINE
from scheduler.cli.verbs import VERBS, Verb

VERBS |= {
    name: Verb(help_, process=True)
    for name, help_ in (
        ("up", "start everything on this machine and open the page"),
        ("worker", "processes of a server run that tick and run experiments"),
        ("clock", "the clock of a server run"),
        ("record", "follow a running cluster, read-only, into a file"),
        ("tidy", "delete now history that is not to be kept"),
    )
}
VERBS["mcp"] = Verb(
    "offer a server to assistants, by the Model Context Protocol",
    module="api.assistants.server",
)
# Here they know the scenarios of the library by name, and a server may search.
VERBS["plan"].module = "api.command.planning"
VERBS["advise"].module = "api.command.advising"
_ABOUT = """\
Sandboxes of this machine or, with --server, of a server.

  quotalab up                                   start here, open the page
  quotalab import queues.yaml jobs.yaml         a new sandbox; prints its id
  quotalab run ID --ticks 100                   until they are made
  quotalab table ID workloads phase=pending     who waits
  quotalab explain ID default/job-a             why
  quotalab plan new/ --against old/ --on friday-rush --assert checks.yaml
  quotalab plan --release 0.16.4 --against 0.19.2 --on last-night.qrec
  quotalab prove mine.yaml --kubeconfig FILE --context NAME --yes-write
  quotalab what-if ID --change queues.yaml      who pays for it, and why
  quotalab advise goal.yaml --patches set.yaml  what should be set
  quotalab twin prod.qrec                       a real cluster, as recorded
  quotalab experiment compare.yaml              exit status from its assertions
"""
_EPILOG = """\
environment:
  QUOTALAB_SERVER   address of a server, as --server
  QUOTALAB_TOKEN    an API token, as --token
  QUOTALAB_DATA     folder of the sandboxes of this machine

exit status: 0 done; 1 an assertion failed; 2 refused, or wrong words; 3 a fault here.
completion: eval "$(quotalab completion bash)"
"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of everything."""
    root = argparse.ArgumentParser(
        "quotalab",
        description=_ABOUT,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    root.add_argument("--version", action="version", version=_version_words())
    _common(root, default=True)
    sub = root.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name, verb in VERBS.items():
        if verb.do is None:  # it has words and help of its own
            sub.add_parser(name, help=verb.help, add_help=False)
            continue
        examples = [f"  quotalab {one}" for one in verb.examples]
        if verb.takes_either:
            examples.append(f"  quotalab {name} {verb.usage}")
        part = sub.add_parser(
            name,
            help=verb.help,
            description=verb.help[0].upper() + verb.help[1:] + ".",
            epilog="examples:\n" + "\n".join(examples),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        _common(part, default=False)
        verb.arguments(part)
    part = sub.add_parser("completion", help="print completion for a shell")
    part.add_argument("shell", choices=["bash", "zsh", "fish"])
    return root


def _version_words() -> str:
    words = f"quotalab {version()}, engine: {ENGINE}"
    return words.replace("%", "%%")  # it is a format to argparse


def version() -> str:
    """Return the version: that which is installed, or the checkout's."""
    try:
        return importlib.metadata.version("quotalab")
    except importlib.metadata.PackageNotFoundError:
        project = Path(__file__).resolve().parents[2] / "pyproject.toml"
        return str(tomllib.loads(project.read_text())["project"]["version"])


def _common(part: argparse.ArgumentParser, *, default: bool) -> None:
    """Add what every verb takes, before the verb or after it."""
    environ = os.environ.get

    def kept(value: object) -> object:
        return value if default else argparse.SUPPRESS

    part.add_argument(
        "--server",
        metavar="URL",
        default=kept(environ("QUOTALAB_SERVER", "")),
        help="a server, e.g. https://quotalab.example",
    )
    part.add_argument(
        "--token",
        default=kept(environ("QUOTALAB_TOKEN", "")),
        help="an API token; better in QUOTALAB_TOKEN, where no process list shows it",
    )
    part.add_argument(
        "--json", action="store_true", default=kept(False), help="answer in JSON"
    )
    part.add_argument(
        "--quiet", action="store_true", default=kept(False), help="no progress bar"
    )
