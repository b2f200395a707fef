"""The verbs: each asks the API, and says what came of it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from api.client import Client
from api.client.sending import Transport
from api.command.output import Found
from scheduler.cli.verbs import VERBS, Verb

Part = argparse.ArgumentParser


class WrongError(Exception):
    """What was given makes no sense; the message says what was expected."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Who is asked, and the words."""

    client: Client
    words: argparse.Namespace
    remote: bool

    @classmethod
    def of(cls, words: argparse.Namespace, transport: Transport | None = None) -> Asked:
        """Return the words with a client of the server that they name, or of `transport`."""
        url = words.server or "http://127.0.0.1"
        client = Client(url, token=words.token, timeout_s=120, transport=transport)
        return cls(client, words, remote=transport is None)


def verb(
    name: str,
    help_: str,
    *examples: str,
    arguments: Callable[[Part], None] = lambda part: None,
    of_files: str = "",
    usage: str = "",
) -> Callable[[Callable[[Asked], Found]], Callable[[Asked], Found]]:
    """Return what makes a function what the verb of this name does with a sandbox.

    With `of_files` the module of that name does it with files too; `usage` are its words.
    """

    def enrol(do: Callable[[Asked], Found]) -> Callable[[Asked], Found]:
        either = bool(of_files)
        entry = VERBS.setdefault(
            name, Verb(help_, usage, module=of_files, takes_either=either)
        )
        entry.help, entry.examples = help_, examples
        entry.arguments, entry.do = arguments, do
        return do

    return enrol


def one(part: Part) -> None:
    """Take the id of a sandbox."""
    part.add_argument("sandbox", metavar="ID", help="of the sandbox; see `list`")


def took(found: Any) -> Found:
    """Return where an action led."""
    return Found(document=found, line=f"tick {found['tick']}")
