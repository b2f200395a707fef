"""`quotalab VERB`: what the page does, from a shell, here or on a server.

Without `--server` the sandboxes are those of this machine, while `quotalab up`
runs or not; with it they are a server's. Both go through the API.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from api.client import ApiError, StoppedError
from api.command.completion import script
from api.command.local import InProcess, begin, manage
from api.command.output import Found, show
from api.command.parser import parser
from api.command.verbs import Asked, WrongError
from scheduler.cli.statuses import FAILED, GOOD, OURS, REFUSED, ended
from scheduler.cli.verbs import VERBS, Verb
from scheduler.model.policy import STACK_FIELD

_SERVER_FAILED = 500


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the first word says; return the exit status.

    0 good, 1 an assertion failed, 2 the input is refused, 3 a fault of the program.
    """
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sandbox.settings")
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words:  # `uvx quotalab`
        print("quotalab up; `quotalab --help` lists all verbs", file=sys.stderr)
        words = ["up"]
    return ended(lambda: _run(words))


def _run(words: list[str]) -> int:
    verb = VERBS.get(words[0])
    if verb is not None and verb.process:
        return manage(words)
    if verb is not None and verb.module and _takes_files(verb, words):
        return verb.run(words[1:])
    given = parser().parse_args(words)
    try:
        if given.verb == "completion":
            print(script(given.shell, parser()), end="", flush=True)
            return GOOD
        return _do(given)
    except ApiError as error:
        _refused(error, as_json=given.json)
        return OURS if error.code >= _SERVER_FAILED else REFUSED
    except StoppedError as error:
        print(f"quotalab: {error}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        raise
    except (WrongError, OSError, TimeoutError) as error:
        print(f"quotalab: {_reason(error)}", file=sys.stderr)
        return REFUSED


def _takes_files(verb: Verb, words: list[str]) -> bool:
    """Return whether a verb is given files, `-` for stdin, and not a sandbox."""
    if not verb.takes_either:
        return verb.do is None
    return any(word == "-" or Path(word).exists() for word in words[1:2])


def _do(given: argparse.Namespace) -> int:
    if given.server:
        asked = Asked.of(given)
    else:
        begin()
        asked = Asked.of(given, InProcess())
    do = VERBS[given.verb].do
    assert do is not None, given.verb  # the parser has no words of others
    found: Found = do(asked)
    show(found, as_json=given.json)
    sys.stdout.flush()  # a reader that went away is noticed here
    return found.status


def _reason(error: Exception) -> str:
    reason = getattr(error, "reason", None) or error
    server = os.environ.get("QUOTALAB_SERVER", "")
    return f"{reason} (QUOTALAB_SERVER={server})" if server else str(reason)


def _refused(error: ApiError, *, as_json: bool) -> None:
    if as_json:
        body = {"code": error.code, "reason": error.reason, "message": str(error)}
        print(json.dumps({**body, "causes": error.causes}))
    print(f"quotalab: {error}", file=sys.stderr)
    for cause in error.causes:
        place = f"{cause['file']}:{cause['line']}: " if cause.get("file") else ""
        field = f"{cause['field']}: " if cause.get("field") else ""
        message = str(cause.get("message", ""))
        message = message.removeprefix(field)
        times = f" ({cause['count']} times)" if cause.get("count", 1) > 1 else ""
        print(f"  {place}{field}{message}{times}", file=sys.stderr)
        if cause.get("field") == STACK_FIELD:
            print("  --stack says it", file=sys.stderr)
    if error.code == 401:
        print("  name a token with --token or QUOTALAB_TOKEN", file=sys.stderr)
