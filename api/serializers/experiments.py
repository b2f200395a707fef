"""Experiments: how they are started, listed and read."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from api.serializers.sandboxes import FileSerializer, Record
from api.serializers.wrong_values import seen
from sandbox.experiments import reading
from sandbox.models import Experiment
from scheduler.analysis.advice.answer import AdviceAnswer
from scheduler.analysis.advice.goal import SearchStanding
from scheduler.analysis.experiments.results import AssertionVerdict, VariantResult
from scheduler.model.sentence import Sentence

# ------------------------------------------------------------------------
# Searches: what one would take, and its answer.


class AdviceEstimateSerializer(serializers.Serializer[Any]):
    """What a search would take, before it is started."""

    settings = serializers.IntegerField(help_text="That there are to choose from.")
    runs = serializers.IntegerField(help_text="At most about this many.")
    secondsPerRun = serializers.FloatField(help_text="Of CPU.")
    cpuSeconds = serializers.FloatField(help_text="Of all runs, on one worker.")


class SearchStateSerializer(serializers.Serializer[Any]):
    """How far a search is, and its answer when it has ended."""

    searching = serializers.BooleanField(help_text="More runs may follow.")
    taken = serializers.BooleanField(help_text="Ended early: the best is proven.")
    mostRuns = serializers.IntegerField(
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
    failuresSaid = Record(
        Sentence,
        many=True,
        help_text="The same with codes; an empty one where there is none.",
    )
    error = serializers.CharField(help_text="Why there is no answer; mostly empty.")
    said = Record(Sentence, help_text="The error with its code; empty without one.")
    answer = Record(AdviceAnswer, allow_null=True)
    answerRun = serializers.IntegerField(
        allow_null=True, help_text="The run to open to see the answer at work."
    )


# ------------------------------------------------------------------------
# Experiments: how they are started, listed and read.


_STATES = ["running", "done", "failed", "cancelled"]


class StartSerializer(serializers.Serializer[Any]):
    """A new experiment: its document, or a file that holds it, and texts it names."""

    document = serializers.DictField(default=dict)
    files = FileSerializer(many=True, default=list)
    title = serializers.CharField(
        default="", allow_blank=True, max_length=200, validators=[seen]
    )
    visibility = serializers.ChoiceField(["private", "public"], default="private")


class ExperimentSerializer(serializers.Serializer[Any]):
    """An experiment as lists show it."""

    id = serializers.CharField()
    title = serializers.CharField()
    owner = serializers.CharField()
    role = serializers.ChoiceField(["owner", "viewer"])
    visibility = serializers.ChoiceField(["private", "public"])
    state = serializers.ChoiceField(_STATES)
    isSearch = serializers.BooleanField(
        help_text="Asks for its runs as it goes, towards a goal."
    )
    total = serializers.IntegerField(help_text="Runs.")
    done = serializers.IntegerField(help_text="Runs that ended, well or not.")
    failed = serializers.IntegerField()
    variants = serializers.ListField(child=serializers.CharField())
    seeds = serializers.ListField(child=serializers.CharField())
    horizonMs = serializers.IntegerField()
    limitMs = serializers.IntegerField()
    createdAt = serializers.DateTimeField()
    finishedAt = serializers.DateTimeField(allow_null=True)

    def to_representation(self, instance: Experiment) -> dict[str, Any]:
        """Return the experiment as plain values."""
        finished = instance.finished_at
        return {
            "id": instance.pk,
            "title": instance.title,
            "owner": instance.owner.get_username(),
            "role": instance.role_of(self.context["request"].user),
            "visibility": instance.visibility,
            "state": instance.state,
            "isSearch": bool(instance.points),
            "total": instance.total,
            "done": instance.done,
            "failed": instance.failed,
            "variants": reading.variants_of(instance),
            "seeds": [str(seed) for seed in instance.plan["seeds"]],
            "horizonMs": instance.plan["horizon_ms"],
            "limitMs": instance.plan["limit_ms"],
            "createdAt": instance.created_at.isoformat(),
            "finishedAt": finished.isoformat() if finished else None,
        }


class ExperimentListSerializer(serializers.Serializer[Any]):
    """A page of experiments, newest first."""

    items = ExperimentSerializer(many=True)
    remaining = serializers.IntegerField()


class ObjectiveSerializer(serializers.Serializer[Any]):
    """What the front is of."""

    measure = serializers.CharField()
    better = serializers.ChoiceField(["low", "high"])


class OneExperimentSerializer(ExperimentSerializer):
    """An experiment with what came out so far."""

    document = serializers.DictField()
    objectives = ObjectiveSerializer(many=True)
    better = serializers.DictField(
        child=serializers.ChoiceField(["low", "high"]),
        help_text="Which way each measure is better; absent where neither is.",
    )
    lines = Record(VariantResult, many=True)
    verdicts = Record(AssertionVerdict, many=True)
    search = SearchStateSerializer(
        allow_null=True, help_text="Null for an experiment that is no search."
    )


class RunSerializer(serializers.Serializer[Any]):
    """One run; `measures` by flat name, empty while there are none."""

    number = serializers.IntegerField()
    variant = serializers.IntegerField()
    seed = serializers.CharField()
    state = serializers.ChoiceField(
        ["waiting", "running", "done", "failed", "cancelled"]
    )
    ended = serializers.IntegerField(help_text="As the how many-th it ended.")
    hash = serializers.CharField()
    tick = serializers.IntegerField(allow_null=True)
    endMs = serializers.IntegerField(allow_null=True)
    settled = serializers.BooleanField(allow_null=True)
    problems = serializers.ListField(child=serializers.CharField())
    problemsSaid = Record(
        Sentence,
        many=True,
        help_text="The same with codes; an empty one where there is none.",
    )
    error = serializers.CharField()
    said = Record(Sentence, help_text="The error with its code; empty without one.")
    measures = serializers.DictField(child=serializers.FloatField())


class ResultsSerializer(serializers.Serializer[Any]):
    """Runs in the order in which they ended; ask again after `next`."""

    items = RunSerializer(many=True)
    next = serializers.IntegerField()
    state = serializers.ChoiceField(_STATES)


class OpenSerializer(serializers.Serializer[Any]):
    """At which tick; null = where the run ended."""

    tick = serializers.IntegerField(
        allow_null=True, default=None, min_value=0, max_value=10**9
    )
