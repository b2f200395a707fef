"""What actions take and answer."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from msgspec import to_builtins
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from api.errors import coded
from api.serializers.sandboxes import (
    LONGEST_TITLE,
    FileSerializer,
    FindingSerializer,
    Record,
    ReleaseSerializer,
    RunTimesSerializer,
    SandboxSerializer,
    TracesSerializer,
    report_body,
)
from api.serializers.wrong_values import seen
from sandbox.access.limits import of_texts
from sandbox.actions import Imported
from sandbox.base.errors import Cause, InvalidError
from sandbox.whatifs import asking as whatifs
from sandbox.whatifs.changes import KINDS
from scheduler.input.manifests.documents import read_documents
from scheduler.input.manifests.report import Report
from scheduler.model import ranges
from scheduler.model.errors import ManifestError
from scheduler.model.problems import Wanted, expected
from scheduler.model.sentence import Sentence

# ------------------------------------------------------------------------
# What actions take and answer.


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

    untilTick = serializers.IntegerField(
        allow_null=True, help_text="null when only an event ends it"
    )
    done = serializers.BooleanField(help_text="false while ticks are made")


class PlaySerializer(serializers.Serializer[Any]):
    """Speed in ticks per second, 0 = as fast as it goes."""

    speed = serializers.FloatField(
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
        default=1,
        min_value=ranges.TICKS_PER_STEP.least,
        max_value=ranges.TICKS_PER_STEP.most,
    )
    untilTick = serializers.IntegerField(
        default=None, allow_null=True, min_value=1, max_value=ranges.TICK.most
    )
    untilEvent = UntilEventSerializer(default=None, allow_null=True)
    speed = serializers.FloatField(
        default=0.0,
        min_value=ranges.SPEED.least,
        max_value=ranges.SPEED.most,
        help_text="ticks a second; as fast as it goes when it is left out",
    )


class SeenSerializer(serializers.Serializer[Any]):
    """The revision that the edit was made from; a stale one is refused."""

    revision = serializers.IntegerField(
        default=None,
        allow_null=True,
        min_value=ranges.REVISION.least,
        max_value=ranges.REVISION.most,
    )


class ImportSerializer(SeenSerializer):
    """Files, or manifests as JSON objects, or both."""

    files = FileSerializer(many=True, default=list)
    traces = TracesSerializer(default=dict)
    runTimes = RunTimesSerializer(default=dict)
    objects = serializers.ListField(child=serializers.DictField(), default=list)
    skipErrors = serializers.BooleanField(default=False)
    dryRun = serializers.BooleanField(default=False)
    convert = serializers.BooleanField(
        default=False,
        help_text="write what is of Volcano or KAI in the sandbox's terms; "
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
    namespace = serializers.CharField(default="", allow_blank=True, max_length=63)
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
        default="", max_length=320, help_text="namespace/name"
    )
    object = serializers.CharField(
        default="", max_length=400, help_text="Kind/namespace/name"
    )
    to = serializers.CharField(max_length=320)


class PatchSerializer(serializers.Serializer[Any]):
    """A merge patch of one object."""

    kind = serializers.CharField(max_length=63)
    namespace = serializers.CharField(default="", allow_blank=True, max_length=63)
    name = serializers.CharField(max_length=253)
    patch = serializers.DictField()


class NodeChangeSerializer(serializers.Serializer[Any]):
    """A node and what happens to it; a new one has a size, or that of another."""

    name = serializers.CharField(max_length=253)
    change = serializers.ChoiceField(
        ["add", "cordon", "uncordon", "drain", "fail", "recover"]
    )
    like = serializers.CharField(
        default="", allow_blank=True, help_text="add: as this node"
    )
    labels = serializers.DictField(  # of the new node
        child=serializers.CharField(allow_blank=True), default=dict
    )
    allocatable = serializers.DictField(child=serializers.CharField(), default=dict)


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
        default=None, allow_null=True, min_value=0, max_value=ranges.TICK.most
    )
    title = serializers.CharField(
        default="", allow_blank=True, max_length=LONGEST_TITLE, validators=[seen]
    )


class ConvertSerializer(serializers.Serializer[Any]):
    """Which stack the new sandbox runs, and its title if not one made up."""

    stack = serializers.ChoiceField(["kueue", "yunikorn"])
    title = serializers.CharField(
        default="", allow_blank=True, max_length=200, validators=[seen]
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


# ------------------------------------------------------------------------
# What a what-if takes, and what keeping one answers.


class ObjectKeySerializer(serializers.Serializer[Any]):
    """The key of an object that is there."""

    kind = serializers.CharField(max_length=63)
    namespace = serializers.CharField(default="", allow_blank=True, max_length=63)
    name = serializers.CharField(max_length=253)


class ObjectPatchSerializer(ObjectKeySerializer):
    """A merge patch of one object."""

    body = serializers.DictField()


class ObjectMoveSerializer(ObjectKeySerializer):
    """A Workload that goes to another queue, a queue or cohort to another cohort."""

    to = ObjectKeySerializer(help_text="LocalQueue, ClusterQueue or Cohort")


class PodPinSerializer(serializers.Serializer[Any]):
    """A pod and the only node that it may run on."""

    namespace = serializers.CharField(max_length=63)
    name = serializers.CharField(max_length=253)
    node = serializers.CharField(
        allow_blank=True, max_length=253, help_text='"" unpins it'
    )


class WhatIfChangeSerializer(serializers.Serializer[Any]):
    """One change: exactly one of these."""

    patch = ObjectPatchSerializer(required=False)
    apply = serializers.DictField(required=False, help_text="a whole object")
    delete = ObjectKeySerializer(required=False)
    policy = serializers.DictField(
        required=False, help_text="a merge patch of the policy document"
    )
    release = ReleaseSerializer(
        required=False, help_text="the releases that decide instead"
    )
    move = ObjectMoveSerializer(required=False)
    pin = PodPinSerializer(required=False)
    node = NodeChangeSerializer(required=False)
    cluster = ClusterChangeSerializer(required=False)
    yaml = serializers.CharField(
        required=False, help_text="whole objects as a text, each of which is applied"
    )

    def validate(self, attrs: Any) -> Any:
        """Refuse none, and several."""
        if len(attrs) != 1:
            wanted = Wanted.CHOICE.said(first=", ".join(KINDS), last="yaml")
            given = ", ".join(attrs) or "nothing"
            raise serializers.ValidationError([coded(expected(wanted, given))])
        return attrs


class WhatIfBeginSerializer(SeenSerializer):
    """Changes from a tick on, how far both runs go, and which seeds they draw from."""

    at = serializers.IntegerField(
        default=None,
        allow_null=True,
        min_value=0,
        max_value=ranges.TICK.most,
        help_text="the tick that it begins at; now",
    )
    changes = WhatIfChangeSerializer(many=True, allow_empty=False)
    horizonMs = serializers.IntegerField(
        default=whatifs.HORIZON_MS, min_value=1, max_value=whatifs.MOST_HORIZON_MS
    )
    seeds = serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=ranges.SEED.most),
        default=list,
        max_length=whatifs.MOST_SEEDS,
        help_text="of what is drawn from the tick on; the sandbox's own",
    )

    def validate_changes(self, value: list[Any]) -> list[Any]:
        """Take texts apart into the objects that they hold; refuse too many."""
        value = [
            one
            for number, change in enumerate(value)
            for one in _apart(change, f"changes[{number}].yaml")
        ]
        if len(value) > whatifs.MOST_CHANGES:
            wanted = Wanted.AT_MOST.said(most=whatifs.MOST_CHANGES)
            raise serializers.ValidationError([coded(expected(wanted, len(value)))])
        return value


def _apart(change: Any, place: str) -> list[Any]:
    """Return a change as it is, or one per object of its text."""
    if "yaml" not in change:
        return [change]
    try:
        found = read_documents(change["yaml"], file=place, limits=of_texts())
    except ManifestError as error:
        line = error.place.line if error.place else 1
        cause = Cause(problem=error.problem, field=place, file=place, line=line)
        raise InvalidError(error.said, causes=[cause]) from error
    return [{"apply": document.data} for document in found]


class KeptWhatIfSerializer(serializers.Serializer[Any]):
    """The run once it is that of the what-if."""

    revision = serializers.IntegerField()
    tick = serializers.IntegerField()
    fork = serializers.CharField(
        allow_null=True, help_text="that has what came after; null: nothing did"
    )


class WhatIfDiscardSerializer(serializers.Serializer[Any]):
    """What takes the place of a what-if that is put away."""

    replacedBy = serializers.IntegerField(
        default=None, allow_null=True, min_value=1, max_value=ranges.REVISION.most
    )


class WhatIfFilesSerializer(serializers.Serializer[Any]):
    """The files that the changes are to be made in."""

    files = FileSerializer(many=True, allow_empty=False)
