"""What a comparison answers; the shapes are those of sandbox.explain.comparing."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class BranchSerializer(serializers.Serializer[Any]):
    """One branch."""

    id = serializers.CharField()
    title = serializers.CharField()
    branch = serializers.CharField()
    stack = serializers.CharField()
    tick = serializers.IntegerField()


class DecidedSerializer(serializers.Serializer[Any]):
    """One decision."""

    tMs = serializers.IntegerField()  # noqa: N815 - as it travels
    type = serializers.CharField()
    subject = serializers.CharField()
    by = serializers.CharField()
    reason = serializers.CharField()
    message = serializers.CharField()


class DifferenceSerializer(serializers.Serializer[Any]):
    """The first decision that is not the same; null = nothing is decided there."""

    tick = serializers.IntegerField()
    tMs = serializers.IntegerField()  # noqa: N815 - as it travels
    ours = DecidedSerializer(allow_null=True)
    theirs = DecidedSerializer(allow_null=True)


class OutcomeCountsSerializer(serializers.Serializer[Any]):
    """How many workloads ended how in another branch."""

    same = serializers.IntegerField()
    earlier = serializers.IntegerField()
    later = serializers.IntegerField()
    never = serializers.IntegerField()
    only = serializers.IntegerField()


class SpanSerializer(serializers.Serializer[Any]):
    """A span of a timeline."""

    state = serializers.ChoiceField(["waiting", "running", "finished"])
    fromMs = serializers.IntegerField()  # noqa: N815 - as it travels
    untilMs = serializers.IntegerField(allow_null=True)  # noqa: N815 - as it travels


class TimelineSerializer(serializers.Serializer[Any]):
    """What happened to a workload in one branch."""

    arrivedMs = serializers.IntegerField(allow_null=True)  # noqa: N815 - as it travels
    firstMs = serializers.IntegerField(allow_null=True)  # noqa: N815 - as it travels
    startedMs = serializers.IntegerField(allow_null=True)  # noqa: N815 - as it travels
    finishedMs = serializers.IntegerField(allow_null=True)  # noqa: N815 - as it travels
    evictions = serializers.IntegerField()
    spans = SpanSerializer(many=True)


class OutcomeDiffSerializer(serializers.Serializer[Any]):
    """A workload whose outcome differs; one verdict per other branch."""

    subject = serializers.CharField()
    verdicts = serializers.ListField(
        child=serializers.ChoiceField(["same", "earlier", "later", "never", "only"])
    )
    timelines = serializers.ListField(
        child=TimelineSerializer(allow_null=True),
        help_text="One per branch; null = not there.",
    )


class PreemptedSerializer(serializers.Serializer[Any]):
    """A preemption."""

    tick = serializers.IntegerField()
    tMs = serializers.IntegerField()  # noqa: N815 - as it travels
    subject = serializers.CharField()
    by = serializers.CharField()
    reason = serializers.CharField()


class PreemptionsSerializer(serializers.Serializer[Any]):
    """Preemptions that another branch has and the first has not, and the reverse."""

    same = serializers.IntegerField()
    added = PreemptedSerializer(many=True)
    removed = PreemptedSerializer(many=True)


def _numbers() -> serializers.ListField:
    return serializers.ListField(child=serializers.FloatField(allow_null=True))


class CurvesSerializer(serializers.Serializer[Any]):
    """One branch over the ticks; null where nothing is known."""

    pending = _numbers()
    running = _numbers()
    waitP50Ms = _numbers()  # noqa: N815 - as it travels
    utilisation = serializers.DictField(child=_numbers(), help_text="By resource.")
    shares = serializers.DictField(child=_numbers(), help_text="By queue.")
    used = serializers.DictField(
        child=serializers.DictField(child=_numbers()),
        help_text="By queue and resource.",
    )


class SeriesSerializer(serializers.Serializer[Any]):
    """Curves over the same ticks."""

    ticks = serializers.ListField(child=serializers.IntegerField())
    branches = CurvesSerializer(many=True)


class TotalSerializer(serializers.Serializer[Any]):
    """One measure: a value per branch, a delta per other branch."""

    measure = serializers.CharField()
    better = serializers.ChoiceField(
        ["low", "high"], allow_null=True, help_text="null = neither way."
    )
    values = _numbers()
    deltas = _numbers()


class ComparisonSerializer(serializers.Serializer[Any]):
    """Two or more branches; the first is what the others are held against."""

    branches = BranchSerializer(many=True)
    fromTick = serializers.IntegerField(  # noqa: N815 - as it travels
        help_text="The last tick that all have in common."
    )
    toTick = serializers.IntegerField()  # noqa: N815 - as it travels
    historyFrom = serializers.IntegerField(  # noqa: N815 - as it travels
        help_text="Waits that began before this tick are not known."
    )
    sameSubjects = serializers.BooleanField(  # noqa: N815 - as it travels
        help_text="false: the stacks are too different to compare single workloads."
    )
    differences = serializers.ListField(
        child=DifferenceSerializer(allow_null=True),
        help_text="One per other branch; null = they decide the same.",
    )
    counts = OutcomeCountsSerializer(many=True)
    workloads = OutcomeDiffSerializer(many=True)
    moreWorkloads = serializers.IntegerField()  # noqa: N815 - as it travels
    preemptions = PreemptionsSerializer(many=True)
    series = SeriesSerializer()
    totals = TotalSerializer(many=True)
