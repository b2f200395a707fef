"""Reports of imports, and traces as they are shown before they are taken."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from api.serializers.said import SaidSerializer
from api.serializers.sandboxes import (
    FileSerializer,
    FindingGroupSerializer,
    FindingSerializer,
    PlaceSerializer,
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


class DryImportQuestionSerializer(serializers.Serializer[Any]):
    """Files as a new sandbox or an import would get them."""

    files = FileSerializer(many=True)
    into = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=12
    )
    policy = serializers.DictField(
        required=False,
        default=dict,
        help_text="Merge patch of the policy's spec of a new sandbox.",
    )
    traces = TracesSerializer(required=False, default=dict)
    convert = serializers.BooleanField(required=False, default=False)


class RepairSerializer(serializers.Serializer[Any]):
    """One way to repair a finding.

    With a `line` (from 1) `new` takes the place of `old`, which stands there once as a
    whole word; without one `document` is added at the end of the file, which may be
    new.
    """

    said = SaidSerializer()
    file = serializers.CharField()
    line = serializers.IntegerField()
    old = serializers.CharField(allow_blank=True)
    new = serializers.CharField(allow_blank=True)
    document = serializers.CharField(allow_blank=True)


class RepairableSerializer(serializers.Serializer[Any]):
    """A finding at its place, and the choices that repair it: one is the one repair."""

    level = serializers.ChoiceField(["error", "unsupported", "warning"])
    place = PlaceSerializer()
    problem = serializers.CharField()
    said = SaidSerializer()
    effect = serializers.CharField(allow_blank=True)
    code = serializers.CharField(allow_blank=True, help_text="names the effect")
    repairs = RepairSerializer(many=True)


class DryImportSerializer(serializers.Serializer[Any]):
    """What an import would say, errors first; nothing was changed."""

    files = ConvertedFileSerializer(many=True, help_text="unpacked and converted")
    findings = RepairableSerializer(many=True)
    errors = serializers.IntegerField()  # type: ignore[assignment]  # a field of the answer
    left = serializers.IntegerField(help_text="findings beyond those answered")
    report = ReportSerializer()
    refused = SaidSerializer(
        allow_null=True, help_text="why nothing at all would be taken"
    )
    stacks = serializers.ListField(
        child=serializers.CharField(),
        help_text="to choose from, where the files are for several",
    )
