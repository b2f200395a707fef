"""A lesson as it is written."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from api.serializers.reading import BesideSerializer

MOST_STOPS = 100
MOST_CHOICES = 8
MOST_BESIDE = 8


def _texts(*, required: bool = True) -> serializers.DictField:
    child = serializers.CharField(max_length=2000)
    return serializers.DictField(child=child, required=required)


class StopSerializer(serializers.Serializer[Any]):
    """A stop; lengths of time from the start as "29s", texts by language tag."""

    at = serializers.CharField(max_length=40)
    shown = serializers.CharField(
        max_length=40,
        required=False,
        allow_blank=True,
        help_text="when the answer is seen",
    )
    say = _texts()
    ask = _texts(required=False)
    answer = _texts(required=False)
    choices = serializers.ListField(
        child=_texts(), max_length=MOST_CHOICES, required=False
    )
    right = serializers.IntegerField(
        min_value=0, max_value=MOST_CHOICES, allow_null=True, required=False
    )
    spot = serializers.ListField(
        child=serializers.CharField(max_length=300),
        max_length=100,
        required=False,
        help_text="keys of what the stage lights",
    )
    notes = _texts(required=False)
    beside: serializers.ListSerializer[Any] = serializers.ListSerializer(
        child=BesideSerializer(), max_length=MOST_BESIDE, required=False
    )
    until = serializers.CharField(
        max_length=40,
        required=False,
        allow_blank=True,
        help_text="how far what is run beside it goes",
    )
    switch = serializers.CharField(
        max_length=300,
        required=False,
        allow_blank=True,
        help_text="path of a setting of the policy that the stop is about",
    )


class ScriptSerializer(serializers.Serializer[Any]):
    """A lesson: its title, and its stops in their order."""

    title = _texts()
    summary = _texts(required=False)
    checkpoints: serializers.ListSerializer[Any] = serializers.ListSerializer(
        child=StopSerializer(), max_length=MOST_STOPS, allow_empty=False
    )
