"""The command `advise`: what should be set, searched here or by a server's workers."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

import msgspec

from api.client import ApiError, Client, StoppedError
from api.client.sending import Transport
from api.command.experimenting import LOOK_EVERY_S, body_of
from api.command.output import Bar
from api.command.verbs import WrongError
from sandbox.base import library
from scheduler.analysis.advice.answer import AdviceAnswer
from scheduler.cli import advise
from scheduler.model.errors import SchedulerError


def main(words: Sequence[str], transport: Transport | None = None) -> int:
    """Search; 0 = improved, 1 = nothing better was found, 2 = bad input or no answer.

    Without a server it needs no database either; scenarios are known by name.
    """
    options = _parser().parse_args(words)
    if not options.server:
        return advise.run(options, sys.stdout, library.known_files)
    client = Client(
        options.server, token=options.token, timeout_s=120, transport=transport
    )
    try:
        return _there(client, options)
    except (ApiError, StoppedError, WrongError, SchedulerError, OSError) as error:
        sys.stderr.write(f"quotalab advise: {error}\n")
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = advise.parser("quotalab advise")
    parser.add_argument(
        "--server",
        metavar="URL",
        default=os.environ.get("QUOTALAB_SERVER", ""),
        help="let the workers of a server search, e.g. https://quotalab.example",
    )
    parser.add_argument(
        "--token",
        default=os.environ.get("QUOTALAB_TOKEN", ""),
        help="an API token; better in QUOTALAB_TOKEN, where no process list shows it",
    )
    return parser


def _there(client: Client, options: argparse.Namespace) -> int:
    body = _body(options)
    about: Any = client.operations.experiments_estimate(body)
    said = advise.estimate_text(
        about["settings"], about["runs"], about["secondsPerRun"]
    )
    if options.estimate:
        sys.stdout.write(said)
        return 0
    sys.stderr.write(said)
    made = client.operations.experiments_create(body)
    sys.stderr.write(f"experiment {made['id']} of {options.server}\n")
    found = _ended(client, made["id"], about["runs"])
    search = found["search"]
    if search["answer"] is None:
        problem = search["error"] or f"the search ended without one: {found['state']}"
        raise WrongError(f"no answer: {problem}")
    answer = msgspec.convert(search["answer"], AdviceAnswer)
    advise.write(options, sys.stdout, answer, found["title"])
    return advise.STATUS[answer.verdict]


def _body(options: argparse.Namespace) -> Any:
    """Return what the API takes; the files that were given are the base."""
    if options.stack:
        raise WrongError(
            "--stack: expected none with --server; say the stack in a Policy document "
            f"among the base's files: spec: {{stack: {options.stack}}}"
        )
    body = body_of(options.goal)
    if options.files:
        files = {one["name"]: one["text"] for one in body["files"]}
        base = dict(advise.given_base(options))
        body["document"]["spec"]["base"] = {"files": list(base)}
        both = {**files, **base}
        body["files"] = [{"name": name, "text": text} for name, text in both.items()]
    return body


def _ended(client: Client, experiment: str, most: int) -> Any:
    """Return the experiment when it is over."""
    bar = Bar(quiet=False)
    while True:
        found: Any = client.operations.experiments_read(experiment)
        bar.at(found["done"], max(most, found["total"]), "runs")
        if found["state"] != "running":
            bar.end()
            return found
        time.sleep(LOOK_EVERY_S)
