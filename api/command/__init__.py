"""`quotalab VERB`: what the page does, from a shell, here or on a server.

Without `--server` the sandboxes are those of this machine, while `quotalab up`
runs or not; with it they are a server's. Both go through the API.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import signal
import sys
from collections.abc import Sequence

from api.client import ApiError, StoppedError
from api.command.completion import script
from api.command.local import InProcess, begin, manage
from api.command.output import show
from api.command.parser import ALONE, LOCAL, parser
from api.command.verbs import VERBS, Asked, WrongError


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the first word says; return the exit status.

    0 done, 1 refused or an assertion failed, 2 what was given makes no sense.
    """
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sandbox.settings")
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words and words[0] in LOCAL:
        return manage(words)
    if words and words[0] in ALONE:
        code: int = importlib.import_module(ALONE[words[0]][1]).main(words[1:])
        return code
    given = parser().parse_args(words)
    try:
        if given.verb == "completion":
            print(script(given.shell, parser()), end="", flush=True)
            return 0
        return _do(given)
    except ApiError as error:
        _refused(error, as_json=given.json)
        return 1
    except StoppedError as error:
        print(f"quotalab: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        return _nobody_reads()
    except (WrongError, OSError, TimeoutError) as error:
        print(f"quotalab: {_reason(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _do(given: argparse.Namespace) -> int:
    if given.server:
        asked = Asked.of(given)
    else:
        begin()
        asked = Asked.of(given, InProcess())
    found = VERBS[given.verb].do(asked)
    show(found, as_json=given.json)
    sys.stdout.flush()  # a reader that went away is noticed here
    return found.status


def _nobody_reads() -> int:
    """Return the status of a command whose reader went away, as `head` does."""
    # The interpreter flushes at its end, and would complain.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 128 + signal.SIGPIPE


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
        print(f"  {place}{field}{message}", file=sys.stderr)
    if error.code == 401:
        print("  name a token with --token or QUOTALAB_TOKEN", file=sys.stderr)
