"""`python -m sandbox VERB`: import, run, export, list, play, pause, step, fork, hash.

Installed as `quotalab`. Works on the sandboxes of this machine, while `up` runs
or not; `quotalab up` starts it. `--json` answers in JSON everywhere.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from typing import Any

#: Verbs that are management commands of their own, with their own --help.
COMMANDS = ("up", "import", "run", "export", "experiment")
_BASH = 'complete -W "{words}" quotalab'
_FISH = 'complete -c quotalab -f -n __fish_use_subcommand -a "{words}"'


def main() -> int:
    """Do what the first word says; return the exit status."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sandbox.settings")
    words = sys.argv[1:]
    if words and words[0] in COMMANDS:
        from django.core.management import execute_from_command_line

        execute_from_command_line(["quotalab", *words])
        return 0
    given = parser().parse_args(words)
    if given.verb == "completion":
        print(
            (_FISH if given.shell == "fish" else _BASH).format(words=" ".join(verbs()))
        )
        return 0
    return _act(given)


def verbs() -> list[str]:
    """Return every verb, for completion and the help text."""
    return [*COMMANDS, *_VERBS, "completion"]


def parser() -> argparse.ArgumentParser:
    """Return the parser of the verbs that are done here."""
    root = argparse.ArgumentParser(
        "quotalab",
        description="Sandboxes of this machine.",
        epilog=f"Also, each with its own --help: {', '.join(COMMANDS)}.",
    )
    sub = root.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name, (_, help_) in _VERBS.items():
        part = sub.add_parser(name, help=help_)
        part.add_argument("--json", action="store_true", help="answer in JSON")
        if name != "list":
            part.add_argument("sandbox", metavar="ID")
        if name in ("play", "speed"):
            part.add_argument("--speed", type=float, help="ticks per second; 0 = full")
        if name == "step":
            part.add_argument("--ticks", type=int, default=1)
        if name in ("fork", "rewind"):
            part.add_argument("--tick", type=int, required=name == "rewind")
    part = sub.add_parser("completion", help="print shell completion")
    part.add_argument("shell", choices=["bash", "zsh", "fish"])
    return root


def _act(given: argparse.Namespace) -> int:
    import django

    django.setup()
    from sandbox.errors import SandboxError

    try:
        found = _VERBS[given.verb][0](given)
    except SandboxError as error:
        print(f"quotalab: {error}", file=sys.stderr)
        return 1
    if given.json:
        print(json.dumps(found))
    else:
        for line in found if isinstance(found, list) else [found]:
            print("  ".join(str(value) for value in line.values()))
    return 0


def _list(given: argparse.Namespace) -> list[dict[str, Any]]:
    from sandbox.models import Sandbox
    from sandbox.people import local_user

    return [
        {"id": s.pk, "tick": s.tick, "stack": s.stack, "title": s.title}
        for s in Sandbox.objects.visible_to(local_user())
    ]


def _step(name: str) -> Callable[[argparse.Namespace], dict[str, Any]]:
    """Return the verb that does the action of this name."""

    def do(given: argparse.Namespace) -> dict[str, Any]:
        from sandbox import actions
        from sandbox.people import local_user

        user, key = local_user(), given.sandbox
        match name:
            case "play":
                step = actions.do_play(user, key, speed=given.speed)
            case "pause":
                step = actions.do_pause(user, key)
            case "speed":
                step = actions.do_speed(user, key, given.speed)
            case "step":
                step = actions.do_step(user, key, ticks=given.ticks)
            case "rewind":
                step, _ = actions.do_rewind(user, key, tick=given.tick)
            case "undo":
                step = actions.do_undo(user, key)
            case _:
                step = actions.do_redo(user, key)
        return {"revision": step.revision, "tick": step.tick}

    return do


def _fork(given: argparse.Namespace) -> dict[str, Any]:
    from sandbox import actions
    from sandbox.people import local_user

    fork = actions.do_fork(local_user(), given.sandbox, tick=given.tick)
    return {"id": fork.pk, "tick": fork.tick}


def _hash(given: argparse.Namespace) -> dict[str, Any]:
    from sandbox.errors import NotFoundError
    from sandbox.models import Sandbox
    from sandbox.people import local_user

    found = Sandbox.objects.visible_to(local_user()).filter(pk=given.sandbox).first()
    if found is None:
        raise NotFoundError(f"sandbox {given.sandbox} is not there")
    return {"hash": found.hash, "tick": found.tick}


_VERBS: dict[str, tuple[Callable[[argparse.Namespace], Any], str]] = {
    "list": (_list, "the sandboxes of this machine"),
    "play": (_step("play"), "let time run"),
    "pause": (_step("pause"), "hold time"),
    "speed": (_step("speed"), "how fast time runs"),
    "step": (_step("step"), "some ticks, made by the worker of `up`"),
    "fork": (_fork, "another sandbox that goes on from a tick"),
    "rewind": (_step("rewind"), "back to an earlier tick"),
    "undo": (_step("undo"), "take the last edit back"),
    "redo": (_step("redo"), "do it again"),
    "hash": (_hash, "the hash of the world"),
}

if __name__ == "__main__":
    sys.exit(main())
