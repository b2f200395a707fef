"""`export ID`: a sandbox as manifests, policy or queues.yaml."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from sandbox.base.commands import CommandError
from sandbox.models import Sandbox
from sandbox.retention import exports
from scheduler.model.texts.plain_text import write_all


class Command(BaseCommand):
    """Write what loads again."""

    help = "Export a sandbox as YAML (or --json) that loads again."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("sandbox", metavar="ID")
        parser.add_argument(
            "--what", choices=["all", "objects", "policy", "queues"], default="all"
        )
        parser.add_argument("--status", action="store_true", help="with statuses")
        parser.add_argument("--json", action="store_true", help="as a JSON list")
        parser.add_argument("-o", "--output", help="a file; stdout when not given")

    def handle(self, *args: object, **options: Any) -> None:
        """Export it."""
        sandbox = Sandbox.objects.filter(pk=options["sandbox"]).first()
        if sandbox is None:
            raise CommandError(f"sandbox {options['sandbox']} does not exist")
        if options["what"] == "queues":
            documents = [exports.queues(sandbox)]
        else:
            documents = exports.documents(
                sandbox, options["what"], status=options["status"]
            )
        text = json.dumps(documents) if options["json"] else write_all(documents)
        if options["output"]:
            Path(options["output"]).write_text(text)
        else:
            self.stdout.write(text, ending="")
