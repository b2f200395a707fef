"""Guests: who follows a lesson without an account, and nothing else, until it ends."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction

from sandbox.models import Lesson
from sandbox.models.sandbox import GUEST, new_id
from sandbox.world import broadcast


def new_guest() -> User:
    """Return a guest, who follows nothing yet and cannot sign in with a password."""
    guest = User(username=f"{GUEST}{new_id()}")
    guest.set_unusable_password()
    guest.save()
    return guest


@transaction.atomic
def do_end_guests() -> int:
    """Delete the guests who follow no lesson that runs; return how many.

    Their sessions and streams end with them.
    """
    following = Lesson.objects.running().exclude(follower=None)
    guests = User.objects.filter(username__startswith=GUEST)
    gone = guests.exclude(pk__in=following.values("follower__user_id"))
    ids = list(gone.values_list("pk", flat=True))
    if ids:
        User.objects.filter(pk__in=ids).delete()
    for user_id in ids:
        broadcast.person_changed(user_id)
    return len(ids)
