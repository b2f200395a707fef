"""What actions take and answer."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from msgspec import to_builtins
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from api.errors import coded
from api.serializers.records import Record
from api.serializers.sandboxes import (
    LONGEST_TITLE,
    FileSerializer,
    FindingSerializer,
    RunTimesSerializer,
    SandboxSerializer,
    TracesSerializer,
    report_body,
)
from api.serializers.wrong_values import seen
from sandbox.actions import Imported
from sandbox.base.errors import Cause
from scheduler.input.manifests.report import Report
from scheduler.model import ranges
from scheduler.model.problems import Wanted, expected
from scheduler.model.sentence import Sentence

#: Types of events that one run may wait for.
MOST_TYPES = 16


class DoneSerializer(serializers.Serializer[Any]):
    """The revision that an action made; the diff to it is on its way to everyone."""

    revision = serializers.IntegerField()
    tick = serializers.IntegerField()


class SteppingSerializer(DoneSerializer):
    """The revision from which a step runs, and the tick that ends it at the latest.

    When it is done, the revision and tick at which it ended.
    """

    untilTick = serializers.IntegerField(  # noqa: N815 - as it travels
        allow_null=True, help_text="null when only an event ends it"
    )
    done = serializers.BooleanField(help_text="false while ticks are made")


class PlaySerializer(serializers.Serializer[Any]):
    """Speed in ticks per second, 0 = as fast as it goes."""

    speed = serializers.FloatField(
        required=False,
        default=None,
        allow_null=True,
        min_value=ranges.SPEED.least,
        max_value=ranges.SPEED.most,
    )


class SpeedSerializer(serializers.Serializer[Any]):
    """Speed in ticks per second, 0 = as fast as it goes."""

    speed = serializers.FloatField(
        min_value=ranges.SPEED.least, max_value=ranges.SPEED.most
    )


@extend_schema_field(
    {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
)
class OneOrMany(serializers.Field[Any, Any, Any, Any]):
    """A text, or a list of texts."""

    def to_internal_value(self, data: Any) -> list[str]:
        """Return the texts."""
        given = [data] if isinstance(data, str) else data
        if not isinstance(given, list) or not 1 <= len(given) <= MOST_TYPES:
            raise ValidationError(
                coded(expected(Wanted.LONG_LIST.said(most=MOST_TYPES)))
            )
        if not all(isinstance(one, str) and one for one in given):
            raise ValidationError(coded(expected(Wanted.TEXTS)))
        return given

    def to_representation(self, value: Any) -> Any:
        """Return it as it is."""
        return value


class UntilEventSerializer(serializers.Serializer[Any]):
    """The first event that matches ends the run: one of several types, or one."""

    type = OneOrMany(help_text="Admit, or [Preempt, Evict]")
    subject = serializers.CharField(required=False, max_length=400)
    reason = serializers.CharField(required=False, max_length=128)


class StepRequestSerializer(serializers.Serializer[Any]):
    """A number of ticks; or a tick to reach, an event to see, whichever comes first."""

    ticks = serializers.IntegerField(
        required=False,
        default=1,
        min_value=ranges.TICKS_PER_STEP.least,
        max_value=ranges.TICKS_PER_STEP.most,
    )
    untilTick = serializers.IntegerField(  # noqa: N815 - as it travels
        required=False,
        default=None,
        allow_null=True,
        min_value=1,
        max_value=ranges.TICK.most,
    )
    untilEvent = UntilEventSerializer(  # noqa: N815 - as it travels
        required=False, default=None, allow_null=True
    )
    speed = serializers.FloatField(
        required=False,
        default=0.0,
        min_value=ranges.SPEED.least,
        max_value=ranges.SPEED.most,
        help_text="ticks a second; as fast as it goes when it is left out",
    )


class SeenSerializer(serializers.Serializer[Any]):
    """The revision that the edit was made from; a stale one is refused."""

    revision = serializers.IntegerField(
        required=False,
        default=None,
        allow_null=True,
        min_value=ranges.REVISION.least,
        max_value=ranges.REVISION.most,
    )


class ImportSerializer(SeenSerializer):
    """Files, or manifests as JSON objects, or both."""

    files = FileSerializer(many=True, required=False, default=list)
    traces = TracesSerializer(required=False, default=dict)
    runTimes = RunTimesSerializer(  # noqa: N815 - as it travels
        required=False, default=dict
    )
    objects = serializers.ListField(
        child=serializers.DictField(), required=False, default=list
    )
    skipErrors = serializers.BooleanField(  # noqa: N815 - as it travels
        required=False, default=False
    )
    dryRun = serializers.BooleanField(  # noqa: N815 - as it travels
        required=False, default=False
    )
    convert = serializers.BooleanField(
        required=False,
        default=False,
        help_text="write what is of Volcano, KAI or Armada in the sandbox's terms; "
        "the report says what is lost",
    )


class ImportedSerializer(serializers.Serializer[Any]):
    """What an import did, or with dryRun would do."""

    created = serializers.ListField(child=serializers.CharField())
    changed = serializers.ListField(child=serializers.CharField())
    unchanged = serializers.ListField(child=serializers.CharField())
    policy = serializers.BooleanField()
    findings = FindingSerializer(many=True)
    report = Record(Report)
    revision = serializers.IntegerField()


class KeySerializer(serializers.Serializer[Any]):
    """An object by name."""

    kind = serializers.CharField(max_length=63)
    namespace = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=63
    )
    name = serializers.CharField(max_length=253)


class DeleteSerializer(SeenSerializer):
    """Objects to delete."""

    objects = KeySerializer(many=True, allow_empty=False)


class MoveSerializer(SeenSerializer):
    """What moves, and where to.

    A Workload (`workload`) goes to a LocalQueue of its namespace by name, or
    to "ClusterQueue/NAME". Anything that moves (`object`) is named by its key;
    a ClusterQueue or Cohort goes to "Cohort/NAME", or "Cohort/" for none.
    """

    workload = serializers.CharField(
        required=False, default="", max_length=320, help_text="namespace/name"
    )
    object = serializers.CharField(
        required=False, default="", max_length=400, help_text="Kind/namespace/name"
    )
    to = serializers.CharField(max_length=320)


class PatchSerializer(serializers.Serializer[Any]):
    """A merge patch of one object."""

    kind = serializers.CharField(max_length=63)
    namespace = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=63
    )
    name = serializers.CharField(max_length=253)
    patch = serializers.DictField()


class NodeChangeSerializer(serializers.Serializer[Any]):
    """A node and what happens to it; a new one has a size, or that of another."""

    name = serializers.CharField(max_length=253)
    change = serializers.ChoiceField(
        ["add", "cordon", "uncordon", "drain", "fail", "recover"]
    )
    like = serializers.CharField(
        required=False, default="", allow_blank=True, help_text="add: as this node"
    )
    labels = serializers.DictField(  # of the new node
        child=serializers.CharField(allow_blank=True), required=False, default=dict
    )
    allocatable = serializers.DictField(
        child=serializers.CharField(), required=False, default=dict
    )


class ClusterChangeSerializer(serializers.Serializer[Any]):
    """A worker cluster and what happens to the connection to it."""

    name = serializers.CharField(max_length=253)
    change = serializers.ChoiceField(["lose", "recover"])


class NodeActionSerializer(NodeChangeSerializer, SeenSerializer):
    """A change of a node, as it was seen."""


class ClusterActionSerializer(ClusterChangeSerializer, SeenSerializer):
    """A change of the connection to a worker cluster, as it was seen."""


class PinSerializer(SeenSerializer):
    """A pod and the only node that it may run on."""

    pod = serializers.CharField(max_length=320, help_text="namespace/name")
    node = serializers.CharField(
        allow_blank=True, max_length=253, help_text='"" unpins it'
    )


class ForkSerializer(serializers.Serializer[Any]):
    """Where to fork; now when there is no tick."""

    tick = serializers.IntegerField(
        required=False,
        default=None,
        allow_null=True,
        min_value=0,
        max_value=ranges.TICK.most,
    )
    title = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=LONGEST_TITLE,
        validators=[seen],
    )


class ConvertSerializer(serializers.Serializer[Any]):
    """Which stack the new sandbox runs, and its title if not one made up."""

    stack = serializers.ChoiceField(["kueue", "yunikorn"])
    title = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=200, validators=[seen]
    )


class LossSerializer(serializers.Serializer[Any]):
    """Something that the other stack has no word for."""

    subject = serializers.CharField(help_text="kind and name, or a queue's path")
    lost = serializers.CharField(help_text="what, in English")
    said = Record(Sentence, help_text="the same with its code")


class ConvertedSerializer(SandboxSerializer):
    """The new sandbox, what was found in it, and what could not be carried over."""

    findings = FindingSerializer(many=True)
    losses = LossSerializer(many=True)


class RewindSerializer(serializers.Serializer[Any]):
    """Which tick to go on from."""

    tick = serializers.IntegerField(min_value=0, max_value=ranges.TICK.most)


class RewoundSerializer(DoneSerializer):
    """Where the sandbox is now, and the fork that keeps what came after."""

    fork = serializers.CharField()


def imported_body(imported: Imported) -> dict[str, Any]:
    """Return an import's answer as it travels."""
    return {
        "created": imported.created,
        "changed": imported.changed,
        "unchanged": imported.unchanged,
        "policy": imported.policy,
        "findings": [finding_body(cause) for cause in imported.findings],
        "report": report_body(imported.report),
        "revision": imported.revision,
    }


def finding_body(cause: Cause) -> dict[str, Any]:
    """Return a finding as it travels."""
    return {
        "level": cause.level,
        "file": cause.file,
        "line": cause.line,
        "field": cause.field,
        "problem": cause.problem.text,
        "count": cause.count,
        "repairs": to_builtins(list(cause.repairs)),
    }
