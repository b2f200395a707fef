"""Searches: what one would take, and its answer."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from api.serializers.said import SaidSerializer


class AdviceEstimateSerializer(serializers.Serializer[Any]):
    """What a search would take, before it is started."""

    settings = serializers.IntegerField(help_text="That there are to choose from.")
    runs = serializers.IntegerField(help_text="At most about this many.")
    secondsPerRun = serializers.FloatField(help_text="Of CPU.")  # noqa: N815 - as it travels
    cpuSeconds = serializers.FloatField(help_text="Of all runs, on one worker.")  # noqa: N815 - as it travels


class AdviceMeanSerializer(serializers.Serializer[Any]):
    """A mean over seeds and its 95% interval; null with one seed."""

    count = serializers.IntegerField()
    mean = serializers.FloatField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class AdviceEditSerializer(serializers.Serializer[Any]):
    """One edit, and what leaving it out alone does."""

    object = serializers.CharField()
    field = serializers.CharField()
    before = serializers.CharField()
    after = serializers.CharField()
    leftOut = serializers.CharField(help_text="What is set then, in words.")  # noqa: N815 - as it travels
    effect = serializers.DictField(
        child=AdviceMeanSerializer(), help_text="Left out less answer, by measure."
    )
    needed = serializers.BooleanField(help_text="A constraint is missed without it.")


class AdviceRowSerializer(serializers.Serializer[Any]):
    """One measure before and after; held = on seeds that the search did not use."""

    measure = serializers.CharField()
    better = serializers.ChoiceField(["low", "high", ""])
    before = AdviceMeanSerializer(allow_null=True)
    after = AdviceMeanSerializer(allow_null=True)
    heldBefore = AdviceMeanSerializer(allow_null=True)  # noqa: N815 - as it travels
    heldAfter = AdviceMeanSerializer(allow_null=True)  # noqa: N815 - as it travels
    heldDifference = AdviceMeanSerializer(allow_null=True)  # noqa: N815 - as it travels


class AdviceBoundSerializer(serializers.Serializer[Any]):
    """A constraint in numbers: bounds of a measure, or how much worse it may become."""

    measure = serializers.CharField()
    min = serializers.FloatField(required=False)
    max = serializers.FloatField(required=False)
    over = serializers.ChoiceField(
        ["mean", "every"], required=False, help_text="Seeds; the mean when absent."
    )
    loses = serializers.FloatField(required=False, help_text="A share: 0.1 = 10%.")


class AdviceConstraintSerializer(serializers.Serializer[Any]):
    """One constraint on seeds that the search did not use."""

    text = serializers.CharField()
    constraint = AdviceBoundSerializer(
        required=False, help_text="Not in answers of older versions."
    )
    before = serializers.FloatField(allow_null=True)
    after = serializers.FloatField(allow_null=True)
    heldBefore = serializers.BooleanField()  # noqa: N815 - as it travels
    heldAfter = serializers.BooleanField()  # noqa: N815 - as it travels


class AdviceNearSerializer(serializers.Serializer[Any]):
    """A setting next to the answer."""

    text = serializers.CharField()
    change = serializers.FloatField(help_text="Of the objectives; above 0 = worse.")
    holds = serializers.BooleanField(help_text="Every constraint.")


class AdviceFrontPointSerializer(serializers.Serializer[Any]):
    """A setting that no other one beats in every objective."""

    name = serializers.CharField()
    edits = serializers.ListField(child=serializers.CharField())
    values = serializers.DictField(child=serializers.FloatField())


class AdviceAnswerSerializer(serializers.Serializer[Any]):
    """What to set, and why to believe it."""

    verdict = serializers.ChoiceField(["improved", "no improvement found", "unmet"])
    summary = serializers.CharField()
    edits = AdviceEditSerializer(many=True)
    rows = AdviceRowSerializer(many=True)
    constraints = AdviceConstraintSerializer(many=True)
    sensitivity = AdviceNearSerializer(many=True)
    front = AdviceFrontPointSerializer(many=True)
    gain = AdviceMeanSerializer(allow_null=True)
    trail = serializers.ListField(
        child=serializers.ListField(child=serializers.FloatField()),
        help_text="[runs, missed constraints, objectives as a share of the base's].",
    )
    settings = serializers.IntegerField()
    tried = serializers.IntegerField()
    dropped = serializers.IntegerField()
    unrunnable = serializers.IntegerField(
        required=False,
        help_text="Of those tried; not in answers of older versions.",
    )
    runs = serializers.IntegerField()
    proofRuns = serializers.IntegerField()  # noqa: N815 - as it travels
    point = serializers.ListField(child=serializers.IntegerField())
    seeds = serializers.ListField(child=serializers.IntegerField())
    heldOut = serializers.ListField(child=serializers.IntegerField())  # noqa: N815 - as it travels
    patches = serializers.CharField(help_text="What `kubectl apply -f` takes.")
    undo = serializers.CharField(help_text="The same objects as they are.")


class SearchStandingSerializer(serializers.Serializer[Any]):
    """A setting that has all its runs, before anything is proven."""

    variant = serializers.IntegerField(help_text="Place in `variants`.")
    missed = serializers.ListField(
        child=serializers.CharField(), help_text="Constraints that its runs miss."
    )
    missedConstraints = AdviceBoundSerializer(  # noqa: N815 - as it travels
        many=True, help_text="The same in numbers."
    )
    values = serializers.DictField(
        child=serializers.FloatField(),
        help_text="Means of the objectives; without any, of what is bounded first.",
    )


class SearchStateSerializer(serializers.Serializer[Any]):
    """How far a search is, and its answer when it has ended."""

    searching = serializers.BooleanField(help_text="More runs may follow.")
    taken = serializers.BooleanField(help_text="Ended early: the best is proven.")
    mostRuns = serializers.IntegerField(  # noqa: N815 - as it travels
        help_text="That the search may take; the proof takes some more."
    )
    best = SearchStandingSerializer(
        many=True, help_text="The best settings so far: constraints, then objectives."
    )
    compared = serializers.IntegerField(help_text="Settings that have all their runs.")
    keeping = serializers.IntegerField(
        help_text="Of these, with every constraint kept."
    )
    failures = serializers.ListField(
        child=serializers.CharField(), help_text="Why runs failed; the first reasons."
    )
    failuresSaid = SaidSerializer(  # noqa: N815 - as it travels
        many=True, help_text="The same with codes; an empty one where there is none."
    )
    error = serializers.CharField(help_text="Why there is no answer; mostly empty.")
    said = SaidSerializer(help_text="The error with its code; empty without one.")
    answer = AdviceAnswerSerializer(allow_null=True)
    answerRun = serializers.IntegerField(  # noqa: N815 - as it travels
        allow_null=True, help_text="The run to open to see the answer at work."
    )
