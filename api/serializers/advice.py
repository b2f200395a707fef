"""Searches: what one would take, and its answer."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from api.serializers.records import Record
from scheduler.analysis.advice.answer import AdviceAnswer
from scheduler.analysis.advice.goal import SearchStanding
from scheduler.model.sentence import Sentence


class AdviceEstimateSerializer(serializers.Serializer[Any]):
    """What a search would take, before it is started."""

    settings = serializers.IntegerField(help_text="That there are to choose from.")
    runs = serializers.IntegerField(help_text="At most about this many.")
    secondsPerRun = serializers.FloatField(help_text="Of CPU.")  # noqa: N815 - as it travels
    cpuSeconds = serializers.FloatField(help_text="Of all runs, on one worker.")  # noqa: N815 - as it travels


class SearchStateSerializer(serializers.Serializer[Any]):
    """How far a search is, and its answer when it has ended."""

    searching = serializers.BooleanField(help_text="More runs may follow.")
    taken = serializers.BooleanField(help_text="Ended early: the best is proven.")
    mostRuns = serializers.IntegerField(  # noqa: N815 - as it travels
        help_text="That the search may take; the proof takes some more."
    )
    best = Record(
        SearchStanding,
        many=True,
        help_text="The best settings so far: constraints, then objectives.",
    )
    compared = serializers.IntegerField(help_text="Settings that have all their runs.")
    keeping = serializers.IntegerField(
        help_text="Of these, with every constraint kept."
    )
    failures = serializers.ListField(
        child=serializers.CharField(), help_text="Why runs failed; the first reasons."
    )
    failuresSaid = Record(  # noqa: N815 - as it travels
        Sentence,
        many=True,
        help_text="The same with codes; an empty one where there is none.",
    )
    error = serializers.CharField(help_text="Why there is no answer; mostly empty.")
    said = Record(Sentence, help_text="The error with its code; empty without one.")
    answer = Record(AdviceAnswer, allow_null=True)
    answerRun = serializers.IntegerField(  # noqa: N815 - as it travels
        allow_null=True, help_text="The run to open to see the answer at work."
    )
