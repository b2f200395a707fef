"""Lessons that are held: a presenter's view that others follow, and their guesses."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.db import models
from django.utils import timezone

from sandbox.models.fields import JsonText
from sandbox.models.sandbox import Sandbox, new_id

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
