"""`manage.py experiment`: an experiment of a file, on workers of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser

from sandbox.access.people import local_user
from sandbox.base.commands import CommandError
from sandbox.base.errors import SandboxError
from sandbox.experiments import reading
from sandbox.experiments.actions import do_start
from sandbox.experiments.work import WORK
from sandbox.models import Experiment
from sandbox.process.processes import ourselves
from scheduler.cli.experiment import (
    add_junit_word,
    junit_text,
    read_file,
    sources_of,
    status_of,
    write_json,
    write_table,
)
from scheduler.cli.files import add_stack_word
from scheduler.cli.statuses import try_to_write
from scheduler.model.errors import SchedulerError
from scheduler.model.policy import Stack

LOOK_EVERY_S = 0.2
BAD_INPUT = 2


class Command(BaseCommand):
    """Run an experiment to its end and print what came out.

    Exit status: 0 when every assertion held, 1 when one did not or a run
    failed, 2 for bad input.
    """

    help = "Run the experiment of a file; the exit status says whether its assertions hold."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the file, how many processes to start, and how to print."""
        parser.add_argument("file", type=Path, nargs="?")
        parser.add_argument(
            "--workers",
            type=int,
            default=os.cpu_count() or 1,
            help="processes to start; 0 leaves it to the workers that run already",
        )
        parser.add_argument("--user", default="", help="whose it is, in a server run")
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.add_argument("--work", default="", help="work on this one and end")
        add_junit_word(parser)
        add_stack_word(parser)

    def handle(self, *_: object, **options: Any) -> None:
        """Start, wait, print."""
        if options["work"]:
            WORK.work(float("inf"), options["work"])
            return
        if options["file"] is None:
            raise CommandError("expected the file of an experiment")
        if not settings.SERVER:
            call_command("migrate", verbosity=0, interactive=False)
        try:
            try_to_write([options["junit"]])
            experiment = start(
                _user(options["user"]), options["file"], stack=options["stack"]
            )
        except (SandboxError, SchedulerError, OSError) as error:
            self.stderr.write(_text_of(error))
            sys.exit(BAD_INPUT)
        experiment = finish(experiment, options["workers"])
        found = reading.outcome(experiment)
        report = write_json if options["json"] else write_table
        names = reading.variants_of(experiment)
        report(sys.stdout, names, found.lines, found.verdicts)
        if options["junit"]:
            options["junit"].write_text(junit_text(names, found.verdicts), "utf-8")
        for line in reading.failures(experiment):
            self.stderr.write(line)
        sys.exit(status_of(found.verdicts) or int(experiment.failed > 0))


def _text_of(error: Exception) -> str:
    causes = getattr(error, "causes", ())
    lines = [
        f"{c.file}:{c.line}: {c.problem}" if c.file else str(c.problem) for c in causes
    ]
    return "\n".join(lines) or str(error)


def _user(name: str) -> User:
    if not name and not settings.SERVER:
        return local_user()
    user = User.objects.filter(username=name).first()
    if user is None:
        raise CommandError(f"there is no user {name!r}; name one with --user")
    return user


def start(user: User, path: Path, *, stack: Stack | None = None) -> Experiment:
    """Store the experiment of a file, with the files that lie beside it.

    `stack` replaces the document's.
    """
    read, files = read_file(path)
    document: dict[str, Any] = msgspec.to_builtins(read)
    if read.spec.base.files:
        sources = sources_of(read, path, files)
        document["spec"]["base"]["files"] = [name for name, _ in sources]
        files = {**files, **dict(sources)}
    if stack is not None:
        document["spec"]["base"]["stack"] = stack
    return do_start(user, document, files=files)


def finish(experiment: Experiment, workers: int) -> Experiment:
    """Wait for the end; processes of our own work on it, started again if they die."""
    command = ourselves("experiment", "--work", experiment.pk)
    children: list[subprocess.Popen[bytes]] = []
    try:
        while experiment.state == Experiment.RUNNING:
            children = [child for child in children if child.poll() is None]
            while len(children) < workers:
                children.append(subprocess.Popen(command, stdin=subprocess.DEVNULL))
            time.sleep(LOOK_EVERY_S)
            experiment = Experiment.objects.defer("base").get(pk=experiment.pk)
    finally:
        for child in children:
            child.terminate()
        for child in children:
            child.wait()
    return experiment
