"""Lessons as they travel."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from api.serializers.sandboxes import Record
from sandbox.models.access import LONGEST_NAME
from sandbox.page.wire import FollowerNews, Tally

#: Stops and choices are places in short lists.
MOST = 999


class LookSerializer(serializers.Serializer[Any]):
    """Where the presenter's page is, and which answers were shown."""

    view = serializers.RegexField(r"^[a-z]{1,20}$")
    query = serializers.CharField(max_length=2000, allow_blank=True, default="")
    revealed = serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=MOST),
        max_length=MOST,
        default=list,
    )


class GuessSerializer(serializers.Serializer[Any]):
    """What a follower expects: the index of a choice at the index of a stop."""

    stop = serializers.IntegerField(min_value=0, max_value=MOST)
    choice = serializers.IntegerField(min_value=0, max_value=MOST)


class LessonSerializer(serializers.Serializer[Any]):
    """A lesson; `code` is shown to the owner of the sandbox alone."""

    running = serializers.BooleanField()
    version = serializers.IntegerField()
    code = serializers.CharField(allow_null=True)
    view = serializers.CharField()
    query = serializers.CharField()
    revealed = serializers.ListField(child=serializers.IntegerField())
    followers = serializers.IntegerField()
    tallies = Record(Tally, many=True)
    people = Record(FollowerNews, many=True, help_text="the first 200")


class JoinSerializer(serializers.Serializer[Any]):
    """A code that was said, and who this browser was when it joined before."""

    code = serializers.CharField(max_length=20)
    follower = serializers.CharField(max_length=12, allow_blank=True, default="")
    name = serializers.CharField(
        max_length=LONGEST_NAME,
        allow_blank=True,
        default=None,
        allow_null=True,
        help_text="what one calls oneself, seen by whoever may see the sandbox; empty "
        "for none, as before where it is left out",
    )
    notes = serializers.BooleanField(
        default=False,
        help_text="a screen with the presenter's notes, which is not counted",
    )


class JoinedSerializer(serializers.Serializer[Any]):
    """What was joined, and the name under which to guess."""

    sandbox = serializers.CharField()
    follower = serializers.CharField()
    number = serializers.IntegerField(help_text="in the order of joining, from 1")
