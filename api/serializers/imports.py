"""Reports of imports, and traces as they are shown before they are taken."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from api.serializers.sandboxes import (
    FileSerializer,
    FindingSerializer,
    Record,
    RunTimesSerializer,
    TracesSerializer,
)
from scheduler.input.manifests.repairs import Repair
from scheduler.input.manifests.report import Report
from scheduler.model.errors import SourceLocation
from scheduler.model.sentence import Sentence


class ImportReportSerializer(serializers.Serializer[Any]):
    """What came of one import."""

    revision = serializers.IntegerField()
    tick = serializers.IntegerField()
    at = serializers.DateTimeField()
    who = serializers.CharField()
    report = Record(Report)


class ImportReportListSerializer(serializers.Serializer[Any]):
    """The reports of a sandbox, newest first."""

    items = ImportReportSerializer(many=True)


class TraceQuestionSerializer(serializers.Serializer[Any]):
    """Files with traces among them, and the sandbox that they would come to."""

    files = FileSerializer(many=True)
    traces = TracesSerializer(default=dict)
    into = serializers.CharField(default="", allow_blank=True, max_length=12)


class ConversionSerializer(serializers.Serializer[Any]):
    """Files to be converted, for a stack or for the sandbox that they would come to."""

    files = FileSerializer(many=True)
    into = serializers.CharField(default="", allow_blank=True, max_length=12)
    stack = serializers.ChoiceField(
        ["kueue", "yunikorn"],
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
    said = Record(Sentence, help_text="the same with its code")
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


class AppliedRepairSerializer(serializers.Serializer[Any]):
    """A repair to apply, as an answer offered it."""

    said = Record(Sentence, required=False, help_text="not read")
    file = serializers.CharField(max_length=1000)
    line = serializers.IntegerField(default=0, min_value=0)
    old = serializers.CharField(default="", allow_blank=True)
    new = serializers.CharField(default="", allow_blank=True)
    document = serializers.CharField(
        default="", allow_blank=True, trim_whitespace=False
    )


class DryImportQuestionSerializer(serializers.Serializer[Any]):
    """Files as a new sandbox or an import would get them."""

    files = FileSerializer(many=True)
    into = serializers.CharField(default="", allow_blank=True, max_length=12)
    policy = serializers.DictField(
        default=dict, help_text="Merge patch of the policy's spec of a new sandbox."
    )
    traces = TracesSerializer(default=dict)
    runTimes = RunTimesSerializer(default=dict)
    convert = serializers.BooleanField(default=False)
    repairs = AppliedRepairSerializer(
        many=True, default=list, help_text="applied first"
    )
    repairAll = serializers.BooleanField(
        default=False,
        help_text="Apply the one repair of each finding that has one, too.",
    )


class RepairableSerializer(serializers.Serializer[Any]):
    """A finding at its place, and the choices that repair it: one is the one repair."""

    level = serializers.ChoiceField(["error", "unsupported", "warning"])
    place = Record(SourceLocation)
    problem = serializers.CharField()
    said = Record(Sentence)
    effect = serializers.CharField(allow_blank=True)
    code = serializers.CharField(allow_blank=True, help_text="names the effect")
    repairs = Record(Repair, many=True)


class UntimedSerializer(serializers.Serializer[Any]):
    """Work whose run time would be assumed."""

    kind = serializers.CharField()
    namespace = serializers.CharField(allow_blank=True)
    name = serializers.CharField()
    queue = serializers.CharField(allow_blank=True, help_text="its LocalQueue")
    size = serializers.CharField(help_text="its pods, and what one asks for")


class UnfilledSerializer(serializers.Serializer[Any]):
    """A placeholder, as it is written, at its line."""

    file = serializers.CharField()
    line = serializers.IntegerField()
    name = serializers.CharField()


class DryImportSerializer(serializers.Serializer[Any]):
    """What an import would say, errors first; nothing was changed."""

    files = ConvertedFileSerializer(many=True, help_text="unpacked and converted")
    findings = RepairableSerializer(many=True)
    errors = serializers.IntegerField()  # type: ignore[assignment]  # a field of the answer
    left = serializers.IntegerField(help_text="findings beyond those answered")
    report = Record(Report)
    refused = Record(
        Sentence, allow_null=True, help_text="why nothing at all would be taken"
    )
    stacks = serializers.ListField(
        child=serializers.CharField(),
        help_text="to choose from, where the files are for several",
    )
    untimed = UntimedSerializer(
        many=True, help_text="work without a run time, the first 200"
    )
    unfilled = UnfilledSerializer(
        many=True, help_text="for which these files are not taken, the first 500"
    )
    work = serializers.BooleanField(
        help_text="whether they are new work alone, which `would` can be asked about"
    )
