"""`manage.py person`: who may sign in, for whoever runs the server."""

from __future__ import annotations

import getpass
import sys
from argparse import ArgumentParser

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand

from sandbox.actions.access import do_end_tokens, note
from sandbox.base.commands import CommandError
from sandbox.world import commits

VERBS = {
    "add": "let somebody sign in by name and password",
    "password": "give somebody another password; their sessions end",
    "stop": "let somebody in no more; sessions, sockets and tokens end",
    "start": "let somebody in again",
    "list": "say who may sign in",
}


class Command(BaseCommand):
    """Add people, change their passwords, stop and start them, list them."""

    help = "Add, stop and list the people who may sign in."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take a verb and a name; passwords come from the terminal or from stdin."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        for name, words in VERBS.items():
            verb = verbs.add_parser(name, help=words)
            if name != "list":
                verb.add_argument("name")
            if name == "password":
                verb.add_argument(
                    "--keep-tokens",
                    action="store_true",
                    help="leave the person's tokens valid; they end otherwise",
                )
            if name == "add":
                verb.add_argument("--staff", action="store_true")

    def handle(self, *_: object, verb: str, **given: object) -> None:
        """Run the verb and print what was done."""
        if verb == "list":
            self._list()
            return
        name = str(given["name"])
        said = self._add(name, bool(given["staff"])) if verb == "add" else ""
        self.stdout.write(
            said
            or self._change(person_named(name), verb, bool(given.get("keep_tokens")))
        )

    def _list(self) -> None:
        for user in User.objects.order_by("username"):
            seen = user.last_login.date().isoformat() if user.last_login else "never"
            words = ["staff"] * user.is_staff + ["stopped"] * (not user.is_active)
            self.stdout.write("\t".join([user.username, f"seen {seen}", *words]))

    def _add(self, name: str, staff: bool) -> str:
        user = User(username=name, is_staff=staff)
        try:
            user.full_clean(exclude=["password"])
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from error
        _give_password(user)
        note(user, "added", subject="manage.py person")
        return f"{name} may sign in"

    def _change(self, user: User, verb: str, keep_tokens: bool) -> str:
        if verb == "password":
            _give_password(user)
            said = f"{user.username} has another password"
            if not keep_tokens and (ended := do_end_tokens(user)):
                said += f"; {ended} tokens were revoked"
        else:
            user.is_active = verb == "start"
            user.save(update_fields=["is_active"])
            said = f"{user.username} may {'' if user.is_active else 'not '}sign in"
        note(user, verb, subject="manage.py person")
        commits.person_changed(user.pk)
        return said


def person_named(name: str) -> User:
    """Return the user of a name. Raises CommandError when there is none."""
    found = User.objects.filter(username=name).first()
    if found is None:
        raise CommandError(f"nobody is called {name}; `person list` says who there is")
    return found


def _give_password(user: User) -> None:
    """Ask twice at a terminal, or take one line of what is piped in."""
    if sys.stdin.isatty():
        password = getpass.getpass(f"Password for {user.username}: ")
        if getpass.getpass("The same again: ") != password:
            raise CommandError("the two differ; nothing was changed")
    else:
        password = sys.stdin.readline().rstrip("\n")
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise CommandError(" ".join(error.messages)) from error
    user.set_password(password)
    user.save()
