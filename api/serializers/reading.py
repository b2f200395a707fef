"""What is read of a sandbox: tables, events, samples, states."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from api.serializers.sandboxes import Record
from scheduler.model.sentence import Sentence


class GroupSerializer(serializers.Serializer[Any]):
    """One value of the field that parts the rows."""

    value = serializers.CharField(allow_blank=True)
    count = serializers.IntegerField()


class TableSerializer(serializers.Serializer[Any]):
    """A page of rows, as on the live page."""

    items = serializers.ListField(child=serializers.DictField())
    total = serializers.IntegerField(help_text="rows that match")
    groups = GroupSerializer(many=True, help_text="Of all that match, not of the page.")
    offset = serializers.IntegerField()
    revision = serializers.IntegerField()


class EventSerializer(serializers.Serializer[Any]):
    """One decision or edit; `data` holds what only its type has."""

    revision = serializers.IntegerField()
    seq = serializers.IntegerField()
    tick = serializers.IntegerField()
    tMs = serializers.IntegerField()
    type = serializers.CharField()
    subject = serializers.CharField()
    by = serializers.CharField()
    reason = serializers.CharField()
    message = serializers.CharField()
    said = Record(
        Sentence,
        required=False,
        help_text="the message with its code, where it is in words of this program",
    )
    data = serializers.DictField()  # type: ignore[assignment]  # a field of the answer


class EventListSerializer(serializers.Serializer[Any]):
    """Events in order; `next` is the revision and seq to go on after."""

    items = EventSerializer(many=True)
    next = serializers.CharField(help_text='"revision.seq", "" at the end')


class SampleListSerializer(serializers.Serializer[Any]):
    """Samples in order of revision, as on the live page (`api.schema` fills in which)."""

    items = serializers.ListField(child=serializers.DictField())


class HashSerializer(serializers.Serializer[Any]):
    """SHA-256 of the world's canonical msgpack."""

    hash = serializers.CharField()
    revision = serializers.IntegerField()
    tick = serializers.IntegerField()


class EntrySerializer(serializers.Serializer[Any]):
    """A strategy or plug-in that is enrolled."""

    family = serializers.CharField()
    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field of the answer
    help = serializers.CharField()
    parameters = serializers.DictField(
        allow_null=True, help_text="JSON Schema of its arguments."
    )


class KindSerializer(serializers.Serializer[Any]):
    """A kind of object: which stacks simulate it, or why none does."""

    kind = serializers.CharField()
    group = serializers.CharField()
    versions = serializers.ListField(child=serializers.CharField())
    plural = serializers.CharField()
    level = serializers.CharField()
    stacks = serializers.ListField(child=serializers.CharField())
    namespaced = serializers.BooleanField()
    note = serializers.CharField()


class RegistrySerializer(serializers.Serializer[Any]):
    """Everything that can be chosen, for forms and documentation."""

    entries = EntrySerializer(many=True)
    kinds = KindSerializer(many=True)
    policy = serializers.DictField(help_text="JSON Schema of the policy document.")
    snippets = serializers.DictField(
        child=serializers.CharField(),
        help_text="lines for a shell that bring a cluster, by what they read",
    )


class BesideSerializer(serializers.Serializer[Any]):
    """Another policy that a stop is run on with, beside the run itself."""

    title = serializers.DictField(child=serializers.CharField())
    policy = serializers.DictField(help_text="merge patch of the policy's spec")
    expect = serializers.ListField(
        child=serializers.DictField(),
        required=False,
        help_text="decisions that must be taken from there on",
    )
    reports = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="parts of what it alone reports",
    )


class CheckpointSerializer(serializers.Serializer[Any]):
    """A stop of a lesson; texts by language tag."""

    at = serializers.CharField()
    atMs = serializers.IntegerField()
    say = serializers.DictField(child=serializers.CharField())
    ask = serializers.DictField(child=serializers.CharField())
    answer = serializers.DictField(child=serializers.CharField())
    choices = serializers.ListField(
        child=serializers.DictField(child=serializers.CharField())
    )
    right = serializers.IntegerField(allow_null=True)
    beside = BesideSerializer(many=True)
    untilMs = serializers.IntegerField(help_text="how far these run")
    switch = serializers.CharField(
        help_text="path of a setting of the policy that the stop is about, or empty"
    )
    spot = serializers.ListField(
        child=serializers.CharField(), help_text="keys of what the stage lights"
    )
    notes = serializers.DictField(
        child=serializers.CharField(), help_text="for the presenter"
    )
    shownMs = serializers.IntegerField(
        allow_null=True, help_text="when the answer is seen; the next stop"
    )


class PictureSerializer(serializers.Serializer[Any]):
    """What a run of the scenario looked like, for its card."""

    queues = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField()),
        help_text="[depth, own, borrowed, nominal], in percent of the widest",
    )
    nodes = serializers.ListField(
        child=serializers.IntegerField(), help_text="how full, 0 to 9; -1 = closed"
    )
    waiting = serializers.ListField(child=serializers.IntegerField())
    loop = serializers.IntegerField(help_text="how often a pair preempted one another")
    workloads = serializers.IntegerField()
    nodeCount = serializers.IntegerField()
    topics = serializers.ListField(child=serializers.CharField())


class CoursePlaceSerializer(serializers.Serializer[Any]):
    """The place of a lesson in a course: the lessons of one text, in the text's order."""

    text = serializers.CharField()
    place = serializers.IntegerField(help_text="from 1")
    of = serializers.IntegerField()


class ScenarioSerializer(serializers.Serializer[Any]):
    """A scenario of the library; texts by language tag."""

    name = serializers.CharField()
    title = serializers.DictField(child=serializers.CharField())
    summary = serializers.DictField(child=serializers.CharField())
    lesson = serializers.BooleanField()
    stack = serializers.CharField()
    seed = serializers.CharField()
    picture = PictureSerializer(allow_null=True)
    courses = CoursePlaceSerializer(many=True)
    checkpoints = CheckpointSerializer(many=True)


class ScenarioListSerializer(serializers.Serializer[Any]):
    """The library, in its order."""

    items = ScenarioSerializer(many=True)
