"""The sandbox: one simulated cluster that lives and ticks, and who may see it."""

from __future__ import annotations

import secrets
from contextvars import ContextVar
from typing import Literal

from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import connection, models
from django.utils import timezone

from sandbox.models.fields import JsonText, SaidText

_BASE32 = "abcdefghijklmnopqrstuvwxyz234567"
Role = Literal["owner", "editor", "viewer"]
Person = AbstractBaseUser | AnonymousUser


#: Followers of a lesson who have no account. No name that people get holds a slash.
GUEST = "guest/"


def is_guest(user: Person) -> bool:
    """Return whether the user came by the code of a lesson and only follows."""
    return user.get_username().startswith(GUEST)


def new_id() -> str:
    """Return 12 random base32 characters: 60 bits, not to be guessed."""
    return "".join(secrets.choice(_BASE32) for _ in range(12))


class SandboxQuerySet(models.QuerySet["Sandbox"]):
    """Every way to a sandbox begins with who is asking."""

    def visible_to(self, user: Person) -> SandboxQuerySet:
        """Return what `user` may read: own, shared, followed as a lesson, or public."""
        public = models.Q(visibility=Sandbox.PUBLIC)
        if not user.is_authenticated:
            return self.filter(public)
        if is_guest(user):
            return self.filter(self._followed(user))
        mine = models.Q(owner_id=user.pk)
        shared = models.Q(
            pk__in=Member.objects.filter(user_id=user.pk).values("sandbox_id")
        )
        opened = self._opened(user) | self._followed(user)
        return self.filter(public | mine | shared | opened)

    def seen_by(self, user: Person, sandbox_id: str) -> Sandbox | None:
        """Return one that `visible_to` has. One query for the owner, or of a public one.

        Every request asks this; to put the whole condition together costs more than most
        answers. One that is hidden takes as many queries as one that is not there.
        """
        found = self.row(sandbox_id)
        signed_in = user.is_authenticated and not is_guest(user)
        if found is not None and signed_in:
            public = found.visibility == Sandbox.PUBLIC
            if public or user.pk == found.owner_id:
                return found
        seen = self.visible_to(user).filter(pk=sandbox_id).exists()
        return found if seen else None

    def row(self, sandbox_id: str) -> Sandbox | None:
        """Return one, whoever asks. Written out: to put the query together costs more than it."""
        found = self.raw(
            f"SELECT * FROM {self.model._meta.db_table} WHERE id = %s", [sandbox_id]
        )
        return next(iter(found), None)

    def forkable_by(self, user: Person) -> SandboxQuerySet:
        """Return what `user` may fork: what they see, but by a lesson or to look only."""
        if not user.is_authenticated or is_guest(user):
            return self.none()
        public = models.Q(visibility=Sandbox.PUBLIC)
        mine = models.Q(owner_id=user.pk)
        shared = models.Q(
            pk__in=Member.objects.filter(user_id=user.pk).values("sandbox_id")
        )
        opened = self._opened(user, link__may_fork=True)
        return self.filter(public | mine | shared | opened)

    def _opened(self, user: Person, **conditions: bool) -> models.Q:
        """Return the condition: behind an unexpired link that `user` opened."""
        grants = apps.get_model("sandbox", "Grant")._default_manager
        unexpired = models.Q(link__expires_at=None) | models.Q(
            link__expires_at__gt=timezone.now()
        )
        found = grants.filter(unexpired, user_id=user.pk or 0, **conditions)
        return models.Q(pk__in=found.values("link__sandbox_id"))

    def _followed(self, user: Person) -> models.Q:
        """Return the condition: held as a lesson that `user` joined."""
        followers = apps.get_model("sandbox", "Follower")._default_manager
        found = followers.filter(
            user_id=user.pk or 0, lesson__expires_at__gt=timezone.now()
        )
        return models.Q(pk__in=found.values("lesson__sandbox_id"))

    def editable_by(self, user: Person) -> SandboxQuerySet:
        """Return what `user` may change: own, or shared with them as editor."""
        if not user.is_authenticated or is_guest(user):
            return self.none()
        editor = Member.objects.filter(user_id=user.pk, role=Member.EDITOR)
        return self.filter(
            models.Q(owner_id=user.pk) | models.Q(pk__in=editor.values("sandbox_id"))
        )

    def may_edit(self, user: Person, sandbox_id: str) -> bool:
        """Return whether `editable_by` has it. For the owner one query, which is written out."""
        if user.is_authenticated and not is_guest(user):
            with connection.cursor() as cursor:
                table = self.model._meta.db_table
                cursor.execute(
                    f"SELECT owner_id FROM {table} WHERE id = %s", [sandbox_id]
                )
                if cursor.fetchone() == (user.pk,):
                    return True
        return self.editable_by(user).filter(pk=sandbox_id).exists()


class Sandbox(models.Model):
    """One simulated cluster: its clock, its transport and its place in a tree of forks.

    `revision` counts commits and never goes back; `tick` may (rewind).
    """

    PRIVATE, PUBLIC = "private", "public"

    id = models.CharField(primary_key=True, max_length=12, default=new_id)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    visibility = models.CharField(
        max_length=8,
        choices=[(PRIVATE, "private"), (PUBLIC, "public")],
        default=PRIVATE,
    )
    title = models.CharField(max_length=200)
    scenario = models.CharField(max_length=100, blank=True)  # name in the library
    script = JsonText(
        default=dict
    )  # the lesson that came with it, or was written in it
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    # Forks: history up to `parent_revision` is the parent's.
    parent = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, related_name="forks"
    )
    parent_revision = models.BigIntegerField(default=0)
    branch = models.CharField(max_length=40, default="A")

    # What it shows of the real: {} = nothing, it is simulated. See sandbox/twins.
    source = JsonText(default=dict)
    cluster = models.CharField(max_length=100, blank=True)  # that is followed, by name
    follower = models.CharField(max_length=64, blank=True)  # who follows it now

    # How much history is kept: see retention.py. 0 = as much as the operator keeps.
    keep_ticks = models.BigIntegerField(default=0)
    keep_days = models.IntegerField(default=0)
    kept_revision = models.BigIntegerField(default=0)  # the first that can be shown
    kept_tick = models.BigIntegerField(default=0)  # its tick
    archived_at = models.DateTimeField(null=True)  # then its rows are in `Stored`

    # The world beside its objects.
    stack = models.CharField(max_length=8)
    seed = models.BigIntegerField()
    revision = models.BigIntegerField(default=0)
    tick = models.BigIntegerField(default=0)
    now_ms = models.BigIntegerField(default=0)
    tick_ms = models.IntegerField(default=1000)
    header = models.BinaryField()  # scheduler.engine.worlds.encoding.Header as msgpack
    start_policy = JsonText(default=dict)  # what `changed` is compared with
    hash = models.CharField(max_length=64, blank=True)  # of the world at `revision`

    # Transport. Times are Unix seconds of the wall clock.
    playing = models.BooleanField(default=False)
    speed = models.FloatField(default=1.0)  # ticks per second; 0 = as fast as it goes
    until = JsonText(default=dict)  # what a running step waits for; {} when nothing
    problem = SaidText(blank=True)  # why ticking stopped by itself
    due_at = models.FloatField(default=0)  # when the next tick is due

    # Who may write: one holder at a time; an older fence never commits.
    fence = models.BigIntegerField(default=0)
    lease_until = models.FloatField(default=0)
    waiting_until = models.FloatField(default=0)  # an edit waits: ticks step aside
    queued_until = models.FloatField(default=0)  # a tick is on its way to a worker
    tries = models.IntegerField(
        default=0
    )  # visits since the last that ended by itself,
    tried_at = models.BigIntegerField(default=0)  # and the revision that they began at
    warm = models.CharField(
        max_length=64, blank=True
    )  # worker with the world in memory

    objects = SandboxQuerySet.as_manager()

    class Meta:
        """Indexes: the list of a person, and what the clock asks every 50 ms."""

        ordering = ("-changed_at",)
        constraints = (
            models.UniqueConstraint(
                fields=["cluster"],
                condition=~models.Q(cluster=""),
                name="cluster_followed_once",
            ),
        )
        indexes = (
            models.Index(fields=["owner", "-changed_at"]),
            models.Index(
                fields=["due_at"], condition=models.Q(playing=True), name="sandbox_due"
            ),
        )

    def __str__(self) -> str:
        return f"{self.title} ({self.id})"

    @property
    def is_real(self) -> bool:
        """Return whether it shows a real cluster, and so cannot be edited."""
        return bool(self.source)

    @property
    def follows_cluster(self) -> bool:
        """Return whether it follows a cluster that runs now."""
        return bool(self.cluster)

    def role_of(self, user: Person) -> Role | None:
        """Return what `user` is here; None when they may not even look."""
        if user.is_authenticated and user.pk == self.owner_id:
            return "owner"
        member = (
            Member.objects.filter(sandbox=self, user_id=user.pk).first()
            if user.is_authenticated
            else None
        )
        if member is not None:
            return "editor" if member.role == Member.EDITOR else "viewer"
        return "viewer" if Sandbox.objects.seen_by(user, self.pk) else None


class Member(models.Model):
    """Somebody the owner let in."""

    EDITOR, VIEWER = "editor", "viewer"

    sandbox = models.ForeignKey(Sandbox, on_delete=models.CASCADE)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    role = models.CharField(
        max_length=6, choices=[(EDITOR, "editor"), (VIEWER, "viewer")]
    )

    class Meta:
        """One role per person and sandbox."""

        constraints = (
            models.UniqueConstraint(fields=["sandbox", "user"], name="member_once"),
        )

    def __str__(self) -> str:
        return f"{self.user_id} is {self.role} of {self.sandbox_id}"


class Stored(models.Model):
    """An archived sandbox: the file that its rows went into."""

    sandbox = models.OneToOneField(
        Sandbox, on_delete=models.CASCADE, primary_key=True, related_name="stored"
    )
    body = models.BinaryField()  # as archives.py writes it

    def __str__(self) -> str:
        return f"archive of {self.sandbox_id}"


class Answer(models.Model):
    """What a request with an Idempotency-Key was answered, to answer it again."""

    #: What stands for the status of an answer while there is none.
    BEGUN, CARRIED_OUT = 0, 1

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    key = models.CharField(max_length=200)
    request = models.CharField(max_length=64)  # SHA-256 of method, path and body
    status = models.IntegerField()
    body = JsonText()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """A key is one person's and used once."""

        constraints = (
            models.UniqueConstraint(fields=["user", "key"], name="answer_once"),
        )

    def __str__(self) -> str:
        return self.key

    def fits(self, request: str) -> bool:
        """Return whether the key was used for this same request: a key belongs to one request."""
        return self.request == request


#: The number of the Answer of the request that this thread works on.
answering: ContextVar[int | None] = ContextVar("answering", default=None)


def carried_out() -> None:
    """Write, within the transaction that carries it out, that the request under way was.

    Its key is not free again from then on, whatever becomes of the answer.
    """
    if (number := answering.get()) is not None:
        begun = Answer.objects.filter(pk=number, status=Answer.BEGUN)
        begun.update(status=Answer.CARRIED_OUT)
