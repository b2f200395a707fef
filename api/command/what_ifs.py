"""The command `what-if`: who pays for a change, of files or of a sandbox, and why."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from api.command.output import Found, show
from api.command.verbs import Asked, Part, WrongError, verb
from scheduler.cli.files import add_stack_word, read_paths
from scheduler.cli.statuses import refused
from scheduler.input.manifests.documents import read_documents
from scheduler.input.manifests.queues_yaml import is_queues
from scheduler.model import durations
from scheduler.model.amounts import is_whole
from scheduler.model.errors import SchedulerError
from scheduler.model.texts.plain_text import printable
from scheduler.model.texts.values import read_value

HORIZON = "10m"


def _words(part: Part) -> None:
    part.add_argument(
        "--change",
        action="append",
        default=[],
        metavar="FILE",
        help="whole objects, each applied; or changes as REST takes them, e.g. "
        '{"node": {"name": "n0", "change": "drain"}}',
    )
    part.add_argument(
        "--patch",
        action="append",
        default=[],
        metavar="KIND/NAME=YAML",
        help="a merge patch of an object, KIND/NAMESPACE/NAME or KIND/NAME; "
        "Policy=YAML patches the policy",
    )
    part.add_argument("--horizon", default=HORIZON, help=f"how far ({HORIZON})")
    part.add_argument(
        "--seeds", default="", metavar="1,2,3", help="runs that draw from each of them"
    )


def _of_sandbox(part: Part) -> None:
    part.add_argument("sandbox", metavar="ID", help="of the sandbox; see `list`")
    part.add_argument("--at", type=int, metavar="TICK", help="where it begins; now")
    _words(part)


_PATCH = (
    """--patch 'ClusterQueue/a={spec: {preemption: {withinClusterQueue: Never}}}'"""
)


@verb(
    "what-if",
    "say who pays for changes, by team, and why; of files or of a sandbox",
    f"what-if ID {_PATCH}",
    "what-if ID --change more-nodes.yaml --horizon 30m --json",
    f"what-if queues.yaml jobs.yaml --at 5m {_PATCH}",
    arguments=_of_sandbox,
    of_files=__name__,
    usage="PATH... [--at 5m] --change FILE | --patch KIND/NAME=YAML",
)
def what_if(asked: Asked) -> Found:
    """Ask a sandbox; the page lists the what-if."""
    words = asked.words
    try:
        body: Any = {
            "at": words.at,
            "changes": changes_of(words),
            "horizonMs": durations.span_ms(words.horizon),
            "seeds": seeds_of(words.seeds),
        }
    except SchedulerError as error:
        raise WrongError(str(error)) from error
    found: Any = asked.client.what_if(words.sandbox, body)
    return Found(document=found, text=told(found["verdict"]))


def main(words: Sequence[str]) -> int:
    """Ask files; return the exit status: 0 done, 2 for input that cannot be taken."""
    from api.notebook.local import open_files  # the engine, where it is asked for

    parser = argparse.ArgumentParser(
        "quotalab what-if", description="Say who pays for changes of files, and why."
    )
    parser.add_argument("paths", nargs="+", metavar="PATH", help="files or folders")
    parser.add_argument("--at", default="", metavar="5m", help="where it begins")
    parser.add_argument("--seed", type=int, help="of what is drawn before that")
    add_stack_word(parser)
    _words(parser)
    parser.add_argument(
        "--json", action="store_true", help="the verdict as REST has it"
    )
    given = parser.parse_args(words)
    try:
        begin = open_files(*given.paths, seed=given.seed, stack=given.stack)
        if given.at:
            begin.step(until=given.at)
        seeds = seeds_of(given.seeds)
        asked = begin.what_if(*changes_of(given), horizon=given.horizon, seeds=seeds)
        found = asked.verdict().document
    except (SchedulerError, OSError) as error:
        return refused(error)
    show(Found(document=found, text=told(found)), as_json=given.json)
    return 0


def changes_of(words: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the changes that are given, files first. Raises SchedulerError for none."""
    found: list[dict[str, Any]] = []
    for name, text in read_paths(words.change):
        for document in read_documents(text, file=name):
            given = document.data
            is_object = len(given) != 1 or is_queues(given)
            found.append({"apply": given} if is_object else given)
    found += [_patch(text) for text in words.patch]
    if not found:
        raise SchedulerError(
            "expected a change: --change FILE or --patch KIND/NAME=YAML"
        )
    return found


def _patch(text: str) -> dict[str, Any]:
    key, equals, body = text.partition("=")
    kind, *names = key.split("/")
    given = read_value(body, file="--patch") if equals else None
    if (
        not isinstance(given, dict)
        or len(names) > 2
        or (not names) != (kind == "Policy")
    ):
        raise SchedulerError(
            f"--patch {text}: expected KIND/NAME=YAML, KIND/NAMESPACE/NAME=YAML or "
            "Policy=YAML, where YAML is an object"
        )
    if kind == "Policy":
        return {"policy": given}
    namespace = names[0] if len(names) == 2 else ""
    key_of = {"kind": kind, "namespace": namespace, "name": names[-1]}
    return {"patch": {**key_of, "body": given}}


def seeds_of(text: str) -> list[int]:
    """Return the seeds of "1,2,3". Raises SchedulerError."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(map(is_whole, parts)):
        raise SchedulerError(f"--seeds {text}: expected numbers such as 1,2,3")
    return [int(part) for part in parts]


def told(document: Any) -> str:
    """Return a verdict in lines: the bill of the first seed, and the range over all."""
    from msgspec import convert

    from scheduler.analysis.measures.bill import lines_of, shift_text
    from scheduler.analysis.pairs import PairVerdict

    found = convert(document, PairVerdict)
    span = durations.duration_text(found.to_ms - found.from_ms)
    first, *others = found.seeds
    lines = [f"within {span}, seed {first.seed}:", *lines_of(first.verdict)]
    if others:
        values = [one.verdict.later_ms for one in found.seeds]
        low, high = (shift_text(value) for value in (min(values), max(values)))
        lines.append(f"over {len(found.seeds)} seeds: job time {low} to {high}")
    return "\n".join(map(printable, lines))
