"""Who else gets in: tokens of programs, links that are shared, and what was done."""

from __future__ import annotations

import hashlib
import secrets
from typing import Literal

from django.conf import settings
from django.db import models
from django.utils import timezone

from sandbox.models.fields import JsonText
from sandbox.models.sandbox import Sandbox, new_id

Scope = Literal["read", "write", "admin"]
TOKEN_PREFIX = "ql_"


def new_secret() -> str:
    """Return 256 random bits as text; only its hash is kept."""
    return TOKEN_PREFIX + secrets.token_urlsafe(32)


def hash_of(secret: str) -> str:
    """Return what is stored of a secret. It has 256 bits, so no salt is needed."""
    return hashlib.sha256(secret.encode()).hexdigest()


class UnexpiredQuerySet(models.QuerySet["Token"]):
    """What has not expired."""

    def unexpired(self) -> UnexpiredQuerySet:
        """Return the rows that are still valid."""
        now = timezone.now()
        return self.filter(models.Q(expires_at=None) | models.Q(expires_at__gt=now))


class Token(models.Model):
    """A program's key to what its user may do, up to its scope."""

    READ, WRITE, ADMIN = "read", "write", "admin"
    SCOPES: tuple[Scope, ...] = ("read", "write", "admin")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    #: The token that asked for it, which it does not outlive; None = a person at a page.
    made_with = models.ForeignKey("self", on_delete=models.CASCADE, null=True)
    name = models.CharField(max_length=100)
    hash = models.CharField(max_length=64, unique=True)
    scope = models.CharField(max_length=5)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)  # None = until it is revoked
    used_at = models.DateTimeField(null=True)  # to the minute

    objects = UnexpiredQuerySet.as_manager()

    class Meta:
        """Newest first."""

        ordering = ("-created_at", "-pk")

    def __str__(self) -> str:
        return f"{self.name} ({self.scope})"

    def allows(self, scope: Scope) -> bool:
        """Return whether the token reaches this far."""
        return self.SCOPES.index(scope) <= self.SCOPES.index(self.scope)

    @property
    def maker(self) -> str:
        """The name of the token that asked for it; empty for a person at a page."""
        return self.made_with.name if self.made_with else ""

    def descendants(self) -> list[Token]:
        """Return all tokens that descend from this one. Cost: one query per level."""
        found: list[Token] = []
        level = [self]
        while level:
            level = list(Token.objects.filter(made_with__in=level).order_by("pk"))
            found += level
        return found


class ShareLink(models.Model):
    """A link that lets whoever signs in and opens it look, or look and fork.

    One with an `event` opens nothing but the film of that decision, to whoever has it.
    """

    sandbox = models.ForeignKey(Sandbox, on_delete=models.CASCADE)
    hash = models.CharField(max_length=64, unique=True)
    may_fork = models.BooleanField(default=False)
    event = models.CharField(max_length=40, blank=True)  # REVISION.SEQ
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)

    class Meta:
        """Newest first."""

        ordering = ("-created_at", "-pk")

    def __str__(self) -> str:
        return f"link {self.pk} to {self.sandbox_id}"

    def is_over(self) -> bool:
        """Return whether it has expired."""
        return self.expires_at is not None and self.expires_at <= timezone.now()


class Grant(models.Model):
    """Somebody who opened a link. It goes with the link."""

    link = models.ForeignKey(ShareLink, on_delete=models.CASCADE)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)

    class Meta:
        """Once each."""

        constraints = (
            models.UniqueConstraint(fields=["link", "user"], name="grant_once"),
        )

    def __str__(self) -> str:
        return f"{self.user_id} by link {self.link_id}"


class Identity(models.Model):
    """Whom a provider means by a subject. Neither name nor address finds a user:
    both can change hands at the provider, a subject cannot.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    issuer = models.CharField(max_length=255)
    subject = models.CharField(max_length=255)

    class Meta:
        """A subject is one person."""

        constraints = (
            models.UniqueConstraint(fields=["issuer", "subject"], name="identity_once"),
        )

    def __str__(self) -> str:
        return f"{self.subject} at {self.issuer}"


class Audit(models.Model):
    """One line of the audit log: who did what, when. Never changed.

    Names are texts, so that the record outlives what it is about. Edits of a
    sandbox are its events and not repeated here.
    """

    at = models.DateTimeField(auto_now_add=True)
    who = models.CharField(max_length=150, blank=True)
    action = models.CharField(max_length=32)
    sandbox = models.CharField(max_length=12, blank=True)
    subject = models.CharField(max_length=200, blank=True)
    detail = JsonText(default=dict)

    class Meta:
        """Read newest first, of all or of one sandbox."""

        ordering = ("-pk",)
        indexes = (models.Index(fields=["sandbox", "-id"]),)

    def __str__(self) -> str:
        return f"{self.who} {self.action} {self.subject}"


# ------------------------------------------------------------------------
# Lessons that are held: a presenter's view that others follow, and their guesses.

#: No letter or digit that is taken for another one when it is read aloud.
CODE_LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
CODE_LENGTH = 6
#: What a follower may call themselves, in letters.
LONGEST_NAME = 40


def new_code() -> str:
    """Return a code to say aloud: 31^6, about 2^30, guarded by a rate limit."""
    return "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))


class LessonQuerySet(models.QuerySet["Lesson"]):
    """What is being held."""

    def running(self) -> LessonQuerySet:
        """Return the lessons that were not ended and did not expire."""
        return self.filter(expires_at__gt=timezone.now())


class Lesson(models.Model):
    """One sandbox shown to a class. It is deleted when the presenter ends it.

    `shown` is where the presenter looks: {view, query, revealed}; `version`
    grows with every change that followers hear of.
    """

    sandbox = models.OneToOneField(Sandbox, on_delete=models.CASCADE)
    code = models.CharField(max_length=CODE_LENGTH, unique=True, default=new_code)
    shown = JsonText(default=dict)
    version = models.BigIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()

    objects = LessonQuerySet.as_manager()

    def __str__(self) -> str:
        return f"lesson in {self.sandbox_id}"


class Follower(models.Model):
    """A browser that joined. It may look while the lesson runs, and no longer."""

    lesson = models.ForeignKey(Lesson, on_delete=models.CASCADE)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    key = models.CharField(max_length=12, unique=True, default=new_id)
    joined_at = models.DateTimeField(auto_now_add=True)
    #: A screen with the presenter's notes: it follows, and is nobody of the class.
    notes = models.BooleanField(default=False)
    #: What they call themselves, if they do: whoever may see the sandbox sees it.
    name = models.CharField(max_length=LONGEST_NAME, blank=True, default="")

    def __str__(self) -> str:
        return f"{self.user_id} follows {self.lesson_id}"


class Guess(models.Model):
    """What a follower expects at a stop; the last one counts."""

    follower = models.ForeignKey(Follower, on_delete=models.CASCADE)
    stop = models.IntegerField()  # index of the checkpoint
    choice = models.IntegerField()  # index of its choice

    class Meta:
        """One guess per follower and stop."""

        constraints = (
            models.UniqueConstraint(fields=["follower", "stop"], name="guess_once"),
        )

    def __str__(self) -> str:
        return f"{self.follower_id} says {self.choice} at {self.stop}"
