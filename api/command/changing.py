"""Verbs that change a sandbox: import, run, play, step, fork, rewind, undo, patch."""

from __future__ import annotations

import argparse
import base64
import os
import time
from typing import Any

from msgspec import to_builtins

from api.command.output import Bar, Found
from api.command.reports import lines_of
from api.command.verbs import Asked, Part, WrongError, one, took, verb
from scheduler.cli.files import add_stack_word, read_bytes, read_one
from scheduler.cli.run_time_words import (
    add_run_time_words,
    add_trace_words,
    run_times_from,
    traces_of,
)
from scheduler.input.files.unpacking import PACKED
from scheduler.input.manifests.chosen_run_times import read_rule
from scheduler.model.errors import SchedulerError
from scheduler.model.texts.plain_text import write
from scheduler.model.texts.values import read_value

LOOK_EVERY_S = 0.1


def _import(part: Part) -> None:
    part.add_argument("paths", nargs="+", help="files or folders; - is stdin")
    part.add_argument("--into", metavar="ID", help="the sandbox to change")
    part.add_argument("--title", default="", help="of a new sandbox")
    part.add_argument("--seed", type=int, help="of a new sandbox")
    part.add_argument("--dry-run", action="store_true", help="change nothing")
    add_stack_word(part)
    part.add_argument(
        "--skip-errors", action="store_true", help="leave out what cannot be taken"
    )
    part.add_argument(
        "--convert",
        action="store_true",
        help="what is of Volcano or KAI in Kueue's terms",
    )
    add_trace_words(part)
    add_run_time_words(part)


@verb(
    "import",
    "take manifests into a sandbox, a new one unless --into names one",
    "import queues.yaml jobs.yaml --title 'team quota'",
    "import manifests/ --into ID --dry-run",
    "import volcano/ --convert",
    "import trace.swf.gz --queue-by user --pace 10 --begin 2h --end 8h",
    "import jobs.csv --columns submit=created:ms,run=seconds,gpu=ngpus",
    "kubectl get cq,lq,cohorts,resourceflavors -A -o yaml | quotalab import -",
    arguments=_import,
)
def import_(asked: Asked) -> Found:
    """Import files: all of them or, on any error, none."""
    words, operations = asked.words, asked.client.operations
    files = [_sent(name, data) for name, data in _files(words.paths)]
    if words.into:
        if words.stack:
            raise WrongError("--stack is for a new sandbox: --into has one")
        body: Any = {
            "files": files,
            "dryRun": words.dry_run,
            "skipErrors": words.skip_errors,
            "convert": words.convert,
            "traces": _traces(words),
            "runTimes": run_times_asked(words),
        }
        found: Any = operations.import_files(words.into, body)
        found = {"id": words.into, **found}
    else:
        if words.dry_run:
            raise WrongError("--dry-run needs --into: a new sandbox has nothing before")
        made: Any = {
            "files": files,
            "title": words.title,
            "seed": words.seed,
            "stack": words.stack or "",
            "skipErrors": words.skip_errors,
            "convert": words.convert,
            "traces": _traces(words),
            "runTimes": run_times_asked(words),
        }
        found = operations.sandboxes_create(made)
    return Found(document=found, line=found["id"], notes=lines_of(found["report"]))


def _patch(part: Part) -> None:
    one(part)
    part.add_argument("what_if", metavar="WHATIF", type=int, help="its number")
    part.add_argument("paths", nargs="+", help="your files or folders")


_LEFT = {
    "noFile": "it is in none of the files",
    "unwritable": "its value stands there by an alias or a merge key",
    "action": "no file says what it does",
}


@verb(
    "patch",
    "print the changes of a what-if as a diff of your files",
    "patch ID 3 queues.yaml jobs/ > change.diff",
    "patch ID 3 queues.yaml | git apply",
    arguments=_patch,
)
def patch(asked: Asked) -> Found:
    """Print the diff; on stderr what is left out of it."""
    words = asked.words
    files: Any = []
    for path, data in _files(words.paths):
        try:
            # With all its bytes: a mark of byte order is part of a line of the diff.
            files.append({"name": os.path.relpath(path), "text": data.decode()})
        except UnicodeDecodeError as error:
            raise WrongError(f"{path}: expected UTF-8 ({error.reason})") from error
    found: Any = asked.client.operations.what_ifs_patch(
        words.sandbox, words.what_if, {"files": files}
    )
    notes = [
        f"left out: {one['kind']} {'/'.join(filter(None, (one['namespace'], one['name'])))}: "
        f"{_LEFT[one['why']]}"
        for one in found["left"]
    ]
    return Found(document=found, text=found["diff"], notes=notes)


def _files(paths: list[str]) -> list[tuple[str, bytes]]:
    """Return (name, bytes) of each file; folders are looked through.

    What a folder holds under other names is reported on stderr.
    """
    try:
        return list(read_bytes(paths))
    except SchedulerError as error:
        raise WrongError(str(error)) from error


def _sent(name: str, data: bytes) -> dict[str, str]:
    """Return a file as it is sent: its text, or bytes for whoever takes it to read."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text or name.lower().endswith(PACKED):
        return {"name": name, "data": base64.b64encode(data).decode()}
    return {"name": name, "text": text}


def _traces(words: argparse.Namespace) -> Any:
    try:
        return traces_of(words)
    except SchedulerError as error:
        raise WrongError(str(error)) from error


def run_times_asked(words: argparse.Namespace) -> Any:
    """Return what the words say as an import takes it; a file goes with it."""
    try:
        rules = [to_builtins(read_rule(text)) for text in words.run_time]
        reads, path = run_times_from(words)
    except SchedulerError as error:
        raise WrongError(str(error)) from error
    like = [] if path is None else _files([str(path)])
    return {
        "rules": rules,
        "like": [_sent(name, data) for name, data in like],
        "reads": reads,
        "strict": words.strict,
    }


def _run(part: Part) -> None:
    one(part)
    part.add_argument("--ticks", type=int, default=1, help="how many (1)")


@verb(
    "run",
    "make ticks and wait until they are made; here needs no `up`. Files are run in place "
    "of a sandbox",
    "run ID --ticks 600",
    "kubectl kustomize prod | quotalab run -",
    "run ID --ticks 600 --server https://quotalab.example --json",
    arguments=_run,
)
def run(asked: Asked) -> Found:
    """Make ticks: on a server by its workers, else in this process."""
    words = asked.words
    if words.ticks < 1:
        raise WrongError(f"--ticks: expected 1 or more, got {words.ticks}")
    play_ticks(asked, words.sandbox, words.ticks)
    found = asked.client.read(words.sandbox)
    if found["problem"]:
        return Found(document=found, line=found["problem"], status=1)
    return Found(document=found, line=f"tick {found['tick']}  {found['hash']}")


def play_ticks(asked: Asked, sandbox: str, ticks: int) -> None:
    """Make ticks and wait until they are made, on a server or in this process."""
    if asked.remote:
        step = asked.client.operations.step(sandbox, {"ticks": ticks})
        _watch(asked, sandbox, ticks, step["untilTick"] or step["tick"])
    else:
        _here(asked, sandbox, ticks)


def _watch(asked: Asked, sandbox: str, ticks: int, goal: int) -> None:
    bar = Bar(quiet=asked.words.quiet)
    while True:
        found = asked.client.read(sandbox)
        bar.at(max(0, ticks - goal + found["tick"]), ticks, f"tick {found['tick']}")
        if found["tick"] >= goal or not found["playing"]:
            break
        time.sleep(LOOK_EVERY_S)
    bar.end()


def _here(asked: Asked, sandbox: str, ticks: int) -> None:
    from api.command.local import make_ticks
    from sandbox.base.errors import SandboxError

    bar = Bar(quiet=asked.words.quiet)
    try:
        for done in make_ticks(sandbox, ticks):
            bar.at(done, ticks, "ticks")
    except SandboxError as error:
        raise WrongError(str(error)) from error
    finally:
        bar.end()


def _speed(part: Part) -> None:
    one(part)
    part.add_argument("--speed", type=float, help="ticks per second; 0 = full speed")


@verb("play", "let time run", "play ID --speed 0", arguments=_speed)
def play(asked: Asked) -> Found:
    """Play."""
    return took(asked.client.play(asked.words.sandbox, speed=asked.words.speed))


@verb("pause", "hold time", "pause ID", arguments=one)
def pause(asked: Asked) -> Found:
    """Pause."""
    return took(asked.client.pause(asked.words.sandbox))


@verb("speed", "set how fast time runs", "speed ID --speed 20", arguments=_speed)
def speed(asked: Asked) -> Found:
    """Set the speed."""
    if asked.words.speed is None:
        raise WrongError("expected --speed with ticks per second, 0 = full speed")
    body: Any = {"speed": asked.words.speed}
    return took(asked.client.operations.speed(asked.words.sandbox, body))


def _step(part: Part) -> None:
    one(part)
    part.add_argument("--ticks", type=int, default=1, help="how many (1)")
    part.add_argument("--until-tick", type=int, help="run to this tick instead")
    part.add_argument(
        "--until-event", metavar="TYPE[,TYPE]", help="or to such a decision"
    )
    part.add_argument("--subject", help="of whom, e.g. Workload/default/job-a")
    part.add_argument(
        "--speed", type=float, default=0.0, help="ticks per second; 0 = full speed (0)"
    )
    part.add_argument("--wait", action="store_true", help="until the step has ended")
    _patience(part)


def _patience(part: Part) -> None:
    part.add_argument(
        "--timeout", type=float, default=600.0, help="wait for so many seconds (600)"
    )


@verb(
    "step",
    "ask for ticks; the worker of `up` or of a server makes them",
    "step ID --ticks 10 --wait",
    "step ID --until-event Preempt,Evict --until-tick 500",
    "step ID --until-event Admit --subject Workload/default/job-a",
    arguments=_step,
)
def step(asked: Asked) -> Found:
    """Step; the ticks are added to those that a running step has left."""
    words = asked.words
    body: Any = {"ticks": words.ticks, "speed": words.speed}
    if words.until_tick is not None:
        body["untilTick"] = words.until_tick
    if words.until_event:
        body["untilEvent"] = {"type": words.until_event.split(",")}
        if words.subject:
            body["untilEvent"]["subject"] = words.subject
    asked_for = asked.client.operations.step(words.sandbox, body)
    if not words.wait:
        return took(asked_for)
    return took(asked.client.wait(words.sandbox, timeout_s=words.timeout))


def _wait(part: Part) -> None:
    one(part)
    part.add_argument("--tick", type=int, help="come to; without it, stand still")
    _patience(part)


@verb(
    "wait",
    "wait until a sandbox comes to a tick, or stands still",
    "wait ID",
    "wait ID --tick 600 --timeout 60",
    arguments=_wait,
)
def wait(asked: Asked) -> Found:
    """Wait; it is an error when the sandbox stands still before the tick."""
    words = asked.words
    found = asked.client.wait(words.sandbox, tick=words.tick, timeout_s=words.timeout)
    return took(found)


def _tick(part: Part) -> None:
    one(part)
    part.add_argument("--tick", type=int, help="from here on; now when left out")


@verb(
    "fork",
    "make another sandbox that goes on from a tick",
    "fork ID --tick 120",
    arguments=_tick,
)
def fork(asked: Asked) -> Found:
    """Fork."""
    made = asked.client.fork(asked.words.sandbox, tick=asked.words.tick)
    return Found(document=made, line=made["id"])


@verb(
    "rewind",
    "go back to an earlier tick; what came after is kept as a fork",
    "rewind ID --tick 60",
    arguments=_tick,
)
def rewind(asked: Asked) -> Found:
    """Rewind."""
    if asked.words.tick is None:
        raise WrongError("expected --tick with an earlier tick")
    return took(asked.client.rewind(asked.words.sandbox, asked.words.tick))


@verb("undo", "run again without the last edit", "undo ID", arguments=one)
def undo(asked: Asked) -> Found:
    """Undo."""
    return took(asked.client.undo(asked.words.sandbox))


@verb("redo", "do the edit that was undone again", "redo ID", arguments=one)
def redo(asked: Asked) -> Found:
    """Redo."""
    return took(asked.client.operations.redo(asked.words.sandbox))


def _policy(part: Part) -> None:
    one(part)
    part.add_argument("--patch", metavar="FILE", help="a merge patch; - is stdin")


@verb(
    "policy",
    "print the policy, or lay a patch over it",
    "policy ID",
    "policy ID --patch fair-sharing.yaml",
    arguments=_policy,
)
def policy(asked: Asked) -> Found:
    """Print or patch the policy."""
    words = asked.words
    if not words.patch:
        found = asked.client.policy(words.sandbox)
        text = write(found)
        return Found(document=found, text=text)
    try:
        patch = read_value(read_one(words.patch)[1], file=words.patch)
    except SchedulerError as error:
        raise WrongError(str(error)) from error
    if not isinstance(patch, dict):
        raise WrongError(f"{words.patch}: expected a YAML object, e.g. spec: {{...}}")
    done = asked.client.patch_policy(words.sandbox, patch)
    return Found(document=done, line=f"revision {done['revision']}")


@verb("delete", "delete a sandbox with its history", "delete ID", arguments=one)
def delete(asked: Asked) -> Found:
    """Delete."""
    asked.client.delete(asked.words.sandbox)
    return Found(document={"deleted": asked.words.sandbox}, line="deleted")
