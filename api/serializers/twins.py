"""Twins: how they are made."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from api.serializers.actions import PatchSerializer
from api.serializers.sandboxes import LONGEST_TITLE, FileSerializer
from api.serializers.wrong_values import seen
from scheduler.model import ranges


class TwinSerializer(serializers.Serializer[Any]):
    """A new sandbox that shows a real cluster: of a recording's files, or one to follow."""

    title = serializers.CharField(
        default="", allow_blank=True, max_length=LONGEST_TITLE, validators=[seen]
    )
    files = FileSerializer(many=True, default=list)
    cluster = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=100,
        help_text="instead of files: a cluster that the operator allows to be followed",
    )


class ClusterSerializer(serializers.Serializer[Any]):
    """A cluster that may be followed."""

    name = serializers.CharField()
    sandbox = serializers.CharField(
        allow_null=True, help_text="which shows it already, where you may see that"
    )
    followed = serializers.BooleanField()


class ClusterListSerializer(serializers.Serializer[Any]):
    """The clusters that you may follow; none where the operator names none."""

    items = ClusterSerializer(many=True)


class IncidentSerializer(serializers.Serializer[Any]):
    """A window of a twin, and what would have been otherwise in it."""

    fromTick = serializers.IntegerField(min_value=0, max_value=ranges.TICK.most)
    toTick = serializers.IntegerField(min_value=1, max_value=ranges.TICK.most)
    edits = PatchSerializer(many=True, allow_empty=False)
    seconds = serializers.IntegerField(default=30, min_value=1, max_value=60)
