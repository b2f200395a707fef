"""`manage.py token NAME`: a token for a script, for whoever runs the server."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta

from django.core.management.base import BaseCommand
from django.utils import timezone

from sandbox.actions.access import do_token
from sandbox.base.commands import CommandError
from sandbox.management.commands.person import person_named
from sandbox.models import Token

#: Days after which a token ends unless it is told.
DAYS = 90
MOST_DAYS = 3650


class Command(BaseCommand):
    """Make a token of a person, and write its secret on standard output."""

    help = "Make a token for a person; its secret is written once, and not kept."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the user, the scope and the lifetime."""
        parser.add_argument("person", metavar="NAME", help="as `person list` has it")
        parser.add_argument(
            "--scope", choices=Token.SCOPES, default="write", help="write if not given"
        )
        parser.add_argument("--days", type=int, default=DAYS, help=f"{DAYS}")
        parser.add_argument(
            "--title", default="manage.py token", help="what it is called in Account"
        )

    def handle(
        self, *_: object, person: str, scope: str, days: int, title: str, **__: object
    ) -> None:
        """Make it; the secret alone stands on standard output."""
        if not 1 <= days <= MOST_DAYS:
            raise CommandError(f"--days {days}: expected 1 to {MOST_DAYS}")
        user = person_named(person)
        if not user.is_active:
            raise CommandError(f"{person} may not sign in; `person start {person}`")
        token, secret = do_token(
            user,
            name=title,
            scope=scope,
            expires_at=timezone.now() + timedelta(days=days),
        )
        ends = token.expires_at.date().isoformat() if token.expires_at else "never"
        self.stderr.write(f"token {token.pk} of {person}, scope {scope}, ends {ends}")
        self.stdout.write(secret)
