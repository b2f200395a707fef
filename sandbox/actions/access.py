"""Letting people and programs in, and out again; each is in the audit log."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from sandbox.base.errors import Cause, ForbiddenError, InvalidError, NotFoundError
from sandbox.base.refusals import Absent, Denied
from sandbox.models import Audit, Grant, Member, Sandbox, ShareLink, Token
from sandbox.models.access import hash_of, new_secret
from sandbox.models.sandbox import carried_out, is_guest
from sandbox.world import commits
from scheduler.model.problems import Wanted, expected
from scheduler.model.sentence import Sentence


def note(
    user: User, action: str, *, sandbox: str = "", subject: str = "", **detail: object
) -> None:
    """Add a line to the audit log."""
    Audit.objects.create(
        who=user.get_username(),
        action=action,
        sandbox=sandbox,
        subject=subject[:200],
        detail=detail,
    )
    carried_out()


def owned(user: User, sandbox_id: str) -> Sandbox:
    """Return the sandbox to its owner. Raises NotFoundError or ForbiddenError."""
    found = Sandbox.objects.filter(pk=sandbox_id, owner_id=user.pk).first()
    if found is not None:
        return found
    if Sandbox.objects.visible_to(user).filter(pk=sandbox_id).exists():
        raise ForbiddenError(Denied.LET_IN.said())
    raise NotFoundError(Absent.SANDBOX.said(sandbox=sandbox_id))


@transaction.atomic
def do_member(user: User, sandbox_id: str, name: str, role: str) -> Member:
    """Add a member as editor or viewer, or change the role."""
    sandbox = owned(user, sandbox_id)
    person = User.objects.filter(username=name, is_active=True).first()
    if person is None or person.pk == sandbox.owner_id or is_guest(person):
        problem = expected(Wanted.SOMEBODY, name)
        raise _wrong("user", problem)
    if role not in (Member.EDITOR, Member.VIEWER):
        raise _wrong(
            "role", expected(Wanted.CHOICE.said(first="editor", last="viewer"), role)
        )
    member, _ = Member.objects.update_or_create(
        sandbox=sandbox, user=person, defaults={"role": role}
    )
    note(user, "member", sandbox=sandbox_id, subject=name, role=role)
    return member


@transaction.atomic
def do_unmember(user: User, sandbox_id: str, name: str) -> None:
    """Remove a member; every member may leave."""
    if name == user.get_username():
        if not Sandbox.objects.visible_to(user).filter(pk=sandbox_id).exists():
            raise NotFoundError(Absent.SANDBOX.said(sandbox=sandbox_id))
    else:
        owned(user, sandbox_id)
    gone, _ = Member.objects.filter(sandbox_id=sandbox_id, user__username=name).delete()
    if not gone:
        raise NotFoundError(Absent.MEMBER.said(name=name))
    note(user, "unmember", sandbox=sandbox_id, subject=name)
    commits.rights_changed(sandbox_id)


@transaction.atomic
def do_share(
    user: User,
    sandbox_id: str,
    *,
    may_fork: bool,
    expires_at: datetime | None,
    event: str = "",
) -> tuple[ShareLink, str]:
    """Make a link to the sandbox, or to the film of one `event` of it ("17.2") alone.

    Returns it and its secret, which is shown this once.
    """
    sandbox = owned(user, sandbox_id)
    secret = new_secret()
    link = ShareLink.objects.create(
        sandbox=sandbox,
        hash=hash_of(secret),
        may_fork=may_fork and not event,
        event=event,
        expires_at=_future(expires_at),
    )
    said = {"event": event} if event else {"may_fork": may_fork}
    note(user, "share", sandbox=sandbox_id, subject=f"link {link.pk}", **said)
    return link, secret


@transaction.atomic
def do_unshare(user: User, sandbox_id: str, link_id: int) -> None:
    """Delete a link; people who came by it lose access."""
    owned(user, sandbox_id)
    gone, _ = ShareLink.objects.filter(sandbox_id=sandbox_id, pk=link_id).delete()
    if not gone:
        raise NotFoundError(Absent.LINK.said(link=link_id))
    note(user, "unshare", sandbox=sandbox_id, subject=f"link {link_id}")
    commits.rights_changed(sandbox_id)


def open_link(secret: str, *, embeds: bool = False) -> ShareLink:
    """Return the link of a secret that still holds: to a sandbox, or to an embedded film.

    Raises NotFoundError, for one of the other kind too.
    """
    links = ShareLink.objects.select_related("sandbox__owner")
    link = links.filter(hash=hash_of(secret)).first()
    if link is None or bool(link.event) != embeds or link.is_over():
        raise NotFoundError(Absent.DEAD_LINK.said())
    return link


@transaction.atomic
def do_open(user: User, secret: str) -> Sandbox:
    """Open a link: from now on the sandbox is there for this person."""
    link = open_link(secret)
    _, made = Grant.objects.get_or_create(link=link, user=user)
    if made:
        note(user, "open", sandbox=link.sandbox_id, subject=f"link {link.pk}")
    return link.sandbox


@transaction.atomic
def do_token(
    user: User,
    *,
    name: str,
    scope: str,
    expires_at: datetime | None,
    asked_with: Token | None = None,
) -> tuple[Token, str]:
    """Make a token; return it and its secret, which is shown this once.

    One that was asked for with a token expires no later than that one, and is revoked
    with it.
    """
    if asked_with is not None and not _held(user, asked_with.pk):
        raise ForbiddenError(Denied.REVOKED.said())
    if scope not in Token.SCOPES:
        raise _wrong(
            "scope",
            expected(Wanted.CHOICE.said(first="read, write", last="admin"), scope),
        )
    secret = new_secret()
    token = Token.objects.create(
        user=user,
        made_with=asked_with,
        name=name,
        hash=hash_of(secret),
        scope=scope,
        expires_at=_no_later(_future(expires_at), asked_with),
    )
    note(user, "token", subject=name, scope=scope)
    return token, secret


@transaction.atomic
def do_revoke(user: User, token_id: int) -> None:
    """Revoke one of the user's tokens, and the tokens that were made with it.

    Links that it made and members that it let in stay: they are the sandbox's.
    """
    token = _held(user, token_id)
    if token is None:
        raise NotFoundError(Absent.TOKEN.said(token=token_id))
    note(user, "revoke", subject=token.name, scope=token.scope)
    for made in token.descendants():
        note(user, "revoke", subject=made.name, scope=made.scope, why=token.name)
    token.delete()
    commits.person_changed(user.pk)


def _held(user: User, token_id: int) -> Token | None:
    """Return the token, which nobody revokes or makes another with meanwhile."""
    return Token.objects.select_for_update().filter(user=user, pk=token_id).first()


@transaction.atomic
def do_end_tokens(user: User) -> int:
    """Revoke all tokens of a user, whose password was changed; return how many."""
    tokens = list(Token.objects.filter(user=user))
    for token in tokens:
        note(user, "revoke", subject=token.name, scope=token.scope, why="password")
        token.delete()
    commits.person_changed(user.pk)
    return len(tokens)


def _future(moment: datetime | None) -> datetime | None:
    if moment is not None and moment <= timezone.now():
        raise _wrong(
            "expiresAt", expected(Wanted.TIME_TO_COME, given=moment.isoformat())
        )
    return moment


def _no_later(moment: datetime | None, than: Token | None) -> datetime | None:
    """Return the moment; the end of the token that asks, where none is given."""
    end = than.expires_at if than is not None else None
    if end is None or moment is None:
        return moment or end
    if moment > end:
        wanted = Wanted.NOT_LATER.said(moment=end.isoformat())
        raise _wrong("expiresAt", expected(wanted, given=moment.isoformat()))
    return moment


def _wrong(field: str, problem: Sentence) -> InvalidError:
    return InvalidError(problem, causes=[Cause(problem=problem, field=field)])
