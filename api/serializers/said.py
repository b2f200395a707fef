"""Sentences with their codes, for those who translate them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class SaidSerializer(serializers.Serializer[Any]):
    """A sentence: its code, the same in English, and what fills the holes of its words.

    A hole is a text, a number, another such sentence, `{resource, amount}`, `{key}` of
    an object, `{place}` in a line from 1, or `{items, all}`.
    """

    code = serializers.CharField()
    text = serializers.CharField()
    holes = serializers.DictField(child=serializers.JSONField())
