"""`import FILE...`: manifests into a sandbox, a new one unless one is named."""

from __future__ import annotations

import argparse
import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from sandbox import actions
from sandbox.access.people import local_user
from sandbox.base.commands import CommandError
from sandbox.base.errors import Cause, SandboxError
from scheduler.cli.files import add_stack_word, read_paths
from scheduler.cli.run_time_words import add_trace_words, options_of
from scheduler.model.errors import SchedulerError
from scheduler.model.policy import STACK_FIELD


class Command(BaseCommand):
    """Read files and folders; all of them are taken or, on any error, none."""

    help = "Import manifests into a sandbox; a new one unless --into names one."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("paths", nargs="+", help="files or folders; - is stdin")
        parser.add_argument("--into", metavar="ID", help="the sandbox to change")
        parser.add_argument("--title", default="", help="of a new sandbox")
        add_stack_word(parser)
        parser.add_argument("--seed", type=int, help="of a new sandbox")
        parser.add_argument("--dry-run", action="store_true", help="change nothing")
        parser.add_argument("--skip-errors", action="store_true")
        parser.add_argument("--json", action="store_true", help="answer in JSON")
        add_trace_words(parser)

    def handle(self, *args: object, **options: Any) -> None:
        """Import, and print what came of it."""
        try:
            files = read_paths(options["paths"])
            options["traces"] = options_of(argparse.Namespace(**options))
        except SchedulerError as error:
            raise CommandError(str(error)) from error
        if options["into"] and options["stack"]:
            raise CommandError("--stack is for a new sandbox: --into has one")
        if options["dry_run"] and not options["into"]:
            raise CommandError("--dry-run needs --into: a new one has nothing before")
        try:
            answer = _into(files, options) if options["into"] else _new(files, options)
        except SandboxError as error:
            asks = any(cause.field == STACK_FIELD for cause in error.causes)
            hint = "\n--stack says it" if asks else ""
            raise CommandError(_text_of(error) + hint) from error
        if options["json"]:
            self.stdout.write(json.dumps(answer))
            return
        for finding in answer["findings"]:
            self.stderr.write(_line(finding))
        self.stdout.write(answer["id"])


def _new(files: list[tuple[str, str]], options: dict[str, Any]) -> dict[str, Any]:
    made = actions.do_create(
        local_user(),
        title=options["title"],
        files=files,
        seed=options["seed"],
        policy={"stack": options["stack"]} if options["stack"] else {},
        skip_errors=options["skip_errors"],
        traces=options["traces"],
    )
    return {"id": made.sandbox.pk, "findings": [_body(c) for c in made.findings]}


def _into(files: list[tuple[str, str]], options: dict[str, Any]) -> dict[str, Any]:
    done = actions.do_import(
        local_user(),
        options["into"],
        files,
        dry_run=options["dry_run"],
        skip_errors=options["skip_errors"],
        traces=options["traces"],
    )
    return {
        "id": options["into"],
        "created": done.created,
        "changed": done.changed,
        "unchanged": done.unchanged,
        "revision": done.revision,
        "findings": [_body(c) for c in done.findings],
    }


def _body(cause: Cause) -> dict[str, Any]:
    return {
        "level": cause.level,
        "file": cause.file,
        "line": cause.line,
        "field": cause.field,
        "problem": cause.problem.text,
        "count": cause.count,
    }


def _text_of(error: SandboxError) -> str:
    return "\n".join([str(error), *(_line(_body(cause)) for cause in error.causes)])


def _line(finding: dict[str, Any]) -> str:
    place = f"{finding['file']}:{finding['line']}: " if finding["file"] else ""
    field = f"{finding['field']}: " if finding["field"] else ""
    times = f" ({finding['count']} times)" if finding["count"] > 1 else ""
    return f"{finding['level']}: {place}{field}{finding['problem']}{times}"
