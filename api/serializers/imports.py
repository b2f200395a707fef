"""Reports of imports, and traces as they are shown before they are taken."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from api.serializers.said import SaidSerializer
from api.serializers.sandboxes import (
    FileSerializer,
    FindingGroupSerializer,
    FindingSerializer,
    ReportSerializer,
    TracesSerializer,
)


class ImportReportSerializer(serializers.Serializer[Any]):
    """What came of one import."""

    revision = serializers.IntegerField()
    tick = serializers.IntegerField()
    at = serializers.DateTimeField()
    who = serializers.CharField()
    report = ReportSerializer()


class ImportReportListSerializer(serializers.Serializer[Any]):
    """The reports of a sandbox, newest first."""

    items = ImportReportSerializer(many=True)


class TraceQuestionSerializer(serializers.Serializer[Any]):
    """Files with traces among them, and the sandbox that they would come to."""

    files = FileSerializer(many=True)
    traces = TracesSerializer(required=False, default=dict)
    into = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=12
    )


class CountedSerializer(serializers.Serializer[Any]):
    """A value, and how many jobs have it."""

    value = serializers.CharField(allow_blank=True)
    jobs = serializers.IntegerField()


class ColumnPreviewSerializer(serializers.Serializer[Any]):
    """A column that a queue may be chosen by."""

    name = serializers.CharField()
    distinct = serializers.IntegerField()
    values = CountedSerializer(many=True)


class JobPreviewSerializer(serializers.Serializer[Any]):
    """One job as it would come; times in seconds."""

    name = serializers.CharField()
    queue = serializers.CharField(allow_blank=True)
    submitS = serializers.FloatField(  # noqa: N815 - as it travels
    )
    runS = serializers.FloatField(  # noqa: N815 - as it travels
        allow_null=True
    )
    limitS = serializers.FloatField(  # noqa: N815 - as it travels
        allow_null=True
    )
    pods = serializers.IntegerField(allow_null=True)
    requests = serializers.DictField(child=serializers.CharField())
    user = serializers.CharField(allow_blank=True)


class TracePreviewSerializer(serializers.Serializer[Any]):
    """One trace: what it holds, and what of it would come."""

    file = serializers.CharField()
    format = serializers.CharField()
    label = serializers.CharField(help_text="the format, for people")  # type: ignore[assignment]  # a field of the answer
    jobs = serializers.IntegerField()
    leftOut = serializers.IntegerField(  # noqa: N815 - as it travels
    )
    nodes = serializers.IntegerField()
    lastS = serializers.FloatField(  # noqa: N815 - as it travels
    )
    columns = ColumnPreviewSerializer(many=True)
    header = serializers.ListField(child=serializers.CharField())
    mapping = serializers.DictField(child=serializers.CharField())
    lacks = serializers.ListField(child=serializers.CharField())
    queues = CountedSerializer(many=True)
    first = JobPreviewSerializer(many=True)
    findings = FindingGroupSerializer(many=True)


class TracePreviewsSerializer(serializers.Serializer[Any]):
    """Every trace among the files."""

    traces = TracePreviewSerializer(many=True)
    queues = serializers.ListField(
        child=serializers.CharField(), help_text="LocalQueues that are there"
    )
    tableFields = serializers.ListField(  # noqa: N815 - as it travels
        child=serializers.CharField(), help_text="what a column may be chosen for"
    )


class ConversionSerializer(serializers.Serializer[Any]):
    """Files to be converted, for a stack or for the sandbox that they would come to."""

    files = FileSerializer(many=True)
    into = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=12
    )
    stack = serializers.ChoiceField(
        ["kueue", "yunikorn"],
        required=False,
        allow_blank=True,
        default="",
        help_text="that of the sandbox, else kueue",
    )


class ConvertedFileSerializer(serializers.Serializer[Any]):
    """A file to take instead of those that were given."""

    name = serializers.CharField()
    text = serializers.CharField()


class PlacedLossSerializer(serializers.Serializer[Any]):
    """Something that is not carried over, and where it was said."""

    subject = serializers.CharField(help_text="kind and name, or a system")
    lost = serializers.CharField(help_text="what, in English")
    said = SaidSerializer(help_text="the same with its code")
    file = serializers.CharField()
    line = serializers.IntegerField()


class ConversionsSerializer(serializers.Serializer[Any]):
    """What comes of files when they are converted."""

    systems = serializers.ListField(
        child=serializers.CharField(), help_text="whose objects were found"
    )
    changed = serializers.ListField(
        child=serializers.CharField(), help_text="files that were written anew"
    )
    kinds = serializers.DictField(
        child=serializers.IntegerField(), help_text="how many of each were written"
    )
    losses = PlacedLossSerializer(many=True)
    files = ConvertedFileSerializer(many=True)
    unread = FindingSerializer(many=True, help_text="files that cannot be read")
