"""Twins: how they are made."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from api.serializers.sandboxes import LONGEST_TITLE, FileSerializer


class TwinSerializer(serializers.Serializer[Any]):
    """A new sandbox that shows a real cluster, of the files of a recording."""

    title = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=LONGEST_TITLE
    )
    files = FileSerializer(many=True, required=False, default=list)
