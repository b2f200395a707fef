"""What a what-if takes, and what keeping one answers."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from api.errors import coded
from api.serializers.actions import (
    ClusterChangeSerializer,
    NodeChangeSerializer,
    SeenSerializer,
)
from api.serializers.sandboxes import FileSerializer, ReleaseSerializer
from sandbox.answers import whatifs
from sandbox.base.errors import Cause, InvalidError
from sandbox.live.limits import of_texts
from sandbox.whatifs.changes import KINDS
from scheduler.input.manifests.documents import read_documents
from scheduler.model import ranges
from scheduler.model.errors import ManifestError
from scheduler.model.problems import Wanted, expected


class ObjectKeySerializer(serializers.Serializer[Any]):
    """The key of an object that is there."""

    kind = serializers.CharField(max_length=63)
    namespace = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=63
    )
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
        required=False,
        default=None,
        allow_null=True,
        min_value=0,
        max_value=ranges.TICK.most,
        help_text="the tick that it begins at; now",
    )
    changes = WhatIfChangeSerializer(many=True, allow_empty=False)
    horizonMs = serializers.IntegerField(  # noqa: N815 - as it travels
        required=False,
        default=whatifs.HORIZON_MS,
        min_value=1,
        max_value=whatifs.MOST_HORIZON_MS,
    )
    seeds = serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=ranges.SEED.most),
        required=False,
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


class WhatIfFilesSerializer(serializers.Serializer[Any]):
    """The files that the changes are to be made in."""

    files = FileSerializer(many=True, allow_empty=False)
