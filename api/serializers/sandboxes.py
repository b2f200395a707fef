"""Sandboxes: how they are made, listed and read."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
from rest_framework import serializers

from api.serializers.wrong_values import seen
from sandbox.models import Sandbox
from sandbox.page.rows.transport import until_text
from sandbox.retention.disk import PARTS, Use
from scheduler.input.manifests.repairs import Repair
from scheduler.input.manifests.report import Report
from scheduler.model import ranges
from scheduler.model.patches import merge
from scheduler.model.policy import RunTimesFrom, Stack

# ------------------------------------------------------------------------
# Records of the packages below as fields of an answer, described as they are sent.


class Record(serializers.JSONField):
    """A field that is a record, or a list of them (`many`).

    Each record is one of `FIELDS` in `api/schema.py`, which describes it.
    """

    def __init__(self, kind: type, *, many: bool = False, **options: Any) -> None:
        """Take the record's class, and what every field takes."""
        super().__init__(**options)
        schema: dict[str, Any] = {"$ref": f"#/components/schemas/{kind.__name__}"}
        if many:
            schema = {"type": "array", "items": schema}
        self._spectacular_annotation = {"field": schema}


# ------------------------------------------------------------------------
# Sandboxes: how they are made, listed and read.


#: As the column holds.
LONGEST_TITLE = 200


class FileSerializer(serializers.Serializer[Any]):
    """One file: its name, for messages, and its text, or its bytes in base64.

    Bytes may be packed (`.gz`, `.zip`, `.tar`, `.tgz`); they are unpacked here.
    """

    name = serializers.CharField(
        default="input.yaml", max_length=500, validators=[seen]
    )
    text = serializers.CharField(allow_blank=True, trim_whitespace=False, default="")
    data = serializers.CharField(  # type: ignore[assignment]  # a field of the body
        allow_blank=True,
        default="",
        help_text="base64, instead of `text`",
    )


class TracesSerializer(serializers.Serializer[Any]):
    """How the traces among the files are taken; everything has a default."""

    format = serializers.CharField(required=False)
    queueBy = serializers.CharField(
        required=False, allow_blank=True, help_text="a column: it names the LocalQueue"
    )
    queue = serializers.CharField(
        required=False, allow_blank=True, help_text="LocalQueue of the other jobs"
    )
    queues = serializers.DictField(
        child=serializers.CharField(),
        required=False,
        help_text="a value of the column -> a LocalQueue",
    )
    pace = serializers.FloatField(
        required=False, help_text="2 = the jobs come twice as fast"
    )
    begin = serializers.CharField(
        required=False, allow_blank=True, help_text="a duration since the trace's begin"
    )
    end = serializers.CharField(required=False, allow_blank=True)
    most = serializers.IntegerField(required=False, help_text="jobs; 0 = all")
    columns = serializers.DictField(
        child=serializers.CharField(allow_blank=True),
        required=False,
        help_text="field -> column, or column:unit",
    )
    totals = serializers.BooleanField(
        required=False, help_text="amounts are of a whole job, not of a pod"
    )
    cpuPerProcessor = serializers.CharField(required=False)


class RunTimeRuleSerializer(serializers.Serializer[Any]):
    """How long work takes that matches all terms; a term may hold `*`, "" is any."""

    takes = serializers.CharField(
        max_length=200, help_text="such as 5m or lognormal(median 5m, p90 20m)"
    )
    kind = serializers.CharField(default="", allow_blank=True)
    namespace = serializers.CharField(default="", allow_blank=True)
    name = serializers.CharField(default="", allow_blank=True)
    queue = serializers.CharField(
        default="",
        allow_blank=True,
        help_text="a LocalQueue, by its name or namespace/name",
    )
    image = serializers.CharField(default="", allow_blank=True)
    labels = serializers.DictField(
        child=serializers.CharField(allow_blank=True), default=dict
    )


class RunTimesSerializer(serializers.Serializer[Any]):
    """How long work takes that comes without a run time; annotations count first."""

    rules = RunTimeRuleSerializer(
        many=True, default=list, help_text="the first that matches"
    )
    like = FileSerializer(
        many=True,
        default=list,
        help_text="a recording, dump or trace in which the like of it ended",
    )
    reads = serializers.ChoiceField(
        list(get_args(RunTimesFrom)),
        allow_null=True,
        default=None,
        help_text="what is read of the manifests; null is as the policy says",
    )
    strict = serializers.BooleanField(
        default=False, help_text="refuse what would be assumed"
    )


class FindingSerializer(serializers.Serializer[Any]):
    """Something that the importer found: its first place, and how often."""

    level = serializers.ChoiceField(["error", "unsupported", "warning"])
    file = serializers.CharField()
    line = serializers.IntegerField()
    field = serializers.CharField()
    problem = serializers.CharField()
    count = serializers.IntegerField()
    repairs = Record(Repair, many=True, default=list, help_text="choices")


def report_body(report: Report | None) -> dict[str, Any]:
    """Return a report as it travels."""
    body: dict[str, Any] = msgspec.to_builtins(
        report or Report(files=[], kinds=[], findings=[])
    )
    return body


class ReleaseSerializer(serializers.Serializer[Any]):
    """A release of each scheduler, such as 0.19.2; docs/releases.md lists them."""

    kueue = serializers.CharField(required=False, max_length=40)
    kubernetes = serializers.CharField(required=False, max_length=40)
    yunikorn = serializers.CharField(required=False, max_length=40)


class CreateSerializer(serializers.Serializer[Any]):
    """A new sandbox: of a scenario of the library, of files, or empty."""

    title = serializers.CharField(
        default="", allow_blank=True, max_length=LONGEST_TITLE, validators=[seen]
    )
    scenario = serializers.CharField(default="", allow_blank=True, max_length=100)
    files = FileSerializer(many=True, default=list)
    traces = TracesSerializer(default=dict)
    runTimes = RunTimesSerializer(default=dict)
    seed = serializers.IntegerField(
        allow_null=True, default=None, min_value=0, max_value=ranges.SEED.most
    )
    policy = serializers.DictField(
        default=dict, help_text="Merge patch of the policy's spec."
    )
    stack = serializers.ChoiceField(
        list(get_args(Stack)),
        default="",
        allow_blank=True,
        help_text="Which schedulers run; else those that the files are for.",
    )
    release = ReleaseSerializer(
        default=dict, help_text="Whose decisions are taken; part of the policy's spec."
    )
    skipErrors = serializers.BooleanField(
        default=False, help_text="leave out what cannot be taken"
    )
    convert = serializers.BooleanField(
        default=False,
        help_text="write what is of Volcano or KAI in the sandbox's terms; "
        "the report says what is lost",
    )


def with_release(
    policy: dict[str, Any], release: dict[str, str], stack: str = ""
) -> dict[str, Any]:
    """Return a patch of the policy's spec with the releases and stack of a body."""
    named = {"release": release, "stack": stack}
    return merge(policy, {name: value for name, value in named.items() if value})


class ChangeSerializer(serializers.Serializer[Any]):
    """What may be changed of a sandbox itself."""

    title = serializers.CharField(
        required=False, max_length=LONGEST_TITLE, validators=[seen]
    )
    visibility = serializers.ChoiceField(["private", "public"], required=False)
    keepTicks = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=ranges.KEEP_TICKS.most,
        help_text="history kept; 0 = as the operator keeps",
    )
    keepDays = serializers.IntegerField(
        required=False, min_value=0, max_value=ranges.KEEP_DAYS.most
    )


class SandboxSerializer(serializers.Serializer[Any]):
    """A sandbox as lists show it."""

    id = serializers.CharField()
    title = serializers.CharField()
    branch = serializers.CharField()
    parent = serializers.CharField(allow_null=True)  # type: ignore[assignment]  # a field of the answer
    parentRevision = serializers.IntegerField()
    scenario = serializers.CharField()
    owner = serializers.CharField()
    role = serializers.ChoiceField(["owner", "editor", "viewer"])
    visibility = serializers.ChoiceField(["private", "public"])
    stack = serializers.ChoiceField(["kueue", "yunikorn", "kube"])
    seed = serializers.CharField()
    revision = serializers.IntegerField()
    tick = serializers.IntegerField()
    tMs = serializers.IntegerField()
    tickMs = serializers.IntegerField()
    playing = serializers.BooleanField()
    speed = serializers.FloatField()
    until = serializers.CharField()
    problem = serializers.CharField()
    hash = serializers.CharField()
    firstTick = serializers.IntegerField(help_text="the earliest that can be looked at")
    keepTicks = serializers.IntegerField(
        help_text="history kept; 0 = as the operator keeps"
    )
    keepDays = serializers.IntegerField()
    archived = serializers.BooleanField(help_text="in a file; to be opened again")
    source = serializers.ChoiceField(  # type: ignore[assignment]  # a field of the answer
        ["simulated", "recording", "cluster"],
        help_text="other than simulated: a real cluster, which cannot be edited",
    )
    sourceName = serializers.CharField()
    lastTick = serializers.IntegerField(allow_null=True, help_text="of a recording")
    createdAt = serializers.DateTimeField()
    changedAt = serializers.DateTimeField()

    def to_representation(self, instance: Sandbox) -> dict[str, Any]:
        """Return the sandbox as plain values."""
        user = self.context["request"].user
        return {
            "id": instance.pk,
            "title": instance.title,
            "branch": instance.branch,
            "parent": instance.parent_id,
            "parentRevision": instance.parent_revision,
            "scenario": instance.scenario,
            "owner": instance.owner.get_username(),
            "role": instance.role_of(user),
            "visibility": instance.visibility,
            "stack": instance.stack,
            "seed": str(instance.seed),
            "revision": instance.revision,
            "tick": instance.tick,
            "tMs": instance.now_ms,
            "tickMs": instance.tick_ms,
            "playing": instance.playing,
            "speed": instance.speed,
            "until": until_text(instance.until),
            "problem": str(instance.problem),
            "hash": instance.hash,
            "firstTick": instance.kept_tick,
            "keepTicks": instance.keep_ticks,
            "keepDays": instance.keep_days,
            "archived": instance.archived_at is not None,
            "source": instance.source.get("kind", "simulated"),
            "sourceName": instance.source.get("name", ""),
            "lastTick": instance.source.get("lastTick"),
            "createdAt": instance.created_at.isoformat(),
            "changedAt": instance.changed_at.isoformat(),
        }


class SandboxListSerializer(serializers.Serializer[Any]):
    """A page of sandboxes, newest change first."""

    items = SandboxSerializer(many=True)
    remaining = serializers.IntegerField()


class CreatedSerializer(SandboxSerializer):
    """A sandbox just made, and what was found in its files."""

    findings = FindingSerializer(many=True)
    report = Record(Report)


class UseSerializer(serializers.Serializer[Any]):
    """What a sandbox takes on disk, in bytes."""

    id = serializers.CharField()
    title = serializers.CharField()
    archived = serializers.BooleanField()
    bytes = serializers.IntegerField()
    parts = serializers.DictField(
        child=serializers.IntegerField(), help_text=", ".join(PARTS)
    )


class DatabaseSerializer(serializers.Serializer[Any]):
    """What the whole database takes; free = space in it for new rows (SQLite)."""

    bytes = serializers.IntegerField()
    free = serializers.IntegerField()


class DiskSerializer(serializers.Serializer[Any]):
    """What your sandboxes take on disk; what a fork shares is its parent's."""

    items = UseSerializer(many=True)
    bytes = serializers.IntegerField()
    database = DatabaseSerializer()


def use_body(sandbox: Sandbox, use: Use) -> dict[str, Any]:
    """Return the use of one sandbox as it travels."""
    return {
        "id": sandbox.pk,
        "title": sandbox.title,
        "archived": sandbox.archived_at is not None,
        "bytes": use.total,
        "parts": use.parts,
    }
