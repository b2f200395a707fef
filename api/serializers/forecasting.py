"""What a forecast takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from rest_framework import serializers

from api.serializers.sandboxes import FileSerializer, RunTimesSerializer
from api.uploads import texts
from sandbox.explain import forecasting
from sandbox.explain.forecasting import ForecastOptions
from scheduler.analysis.explain.would import HORIZON_MS
from scheduler.analysis.forecast.submission import MOST_QUEUES
from scheduler.model import ranges

ARRIVALS = ("known", "continued")


class ForecastOptionsSerializer(serializers.Serializer[Any]):
    """How a forecast is asked for."""

    futures = serializers.IntegerField(
        default=forecasting.FUTURES, min_value=1, max_value=forecasting.MOST_FUTURES
    )
    horizonMs = serializers.IntegerField(
        default=forecasting.HORIZON_MS,
        min_value=1,
        max_value=forecasting.MOST_HORIZON_MS,
    )
    seed = serializers.IntegerField(default=1, min_value=0, max_value=ranges.SEED.most)
    seconds = serializers.IntegerField(default=20, min_value=0, max_value=60)
    arrivals = serializers.ChoiceField(choices=ARRIVALS, default=None)
    withinMs = serializers.IntegerField(
        default=None,
        allow_null=True,
        min_value=1,
        max_value=forecasting.MOST_HORIZON_MS,
        help_text="a further time to give the chance of",
    )
    tick = serializers.IntegerField(
        default=None,
        allow_null=True,
        min_value=0,
        max_value=ranges.TICK.most,
        help_text="as it was then; now",
    )


class ManifestSerializer(serializers.Serializer[Any]):
    """A manifest that is not submitted yet, as files or as objects."""

    files = FileSerializer(many=True, default=list)
    objects = serializers.ListField(child=serializers.DictField(), default=list)


def files_of(given: Mapping[str, Any]) -> list[list[str]]:
    """Return the name and text of each file and object of a body that was checked."""
    found = texts(given["files"])
    found += [
        (f"objects[{n}]", msgspec.json.encode(manifest).decode())
        for n, manifest in enumerate(given["objects"])
    ]
    return [list(file) for file in found]


class WouldAskedSerializer(ManifestSerializer):
    """What is asked of work before it is submitted."""

    runTimes = RunTimesSerializer(default=dict)
    horizonMs = serializers.IntegerField(
        default=HORIZON_MS,
        min_value=1,
        max_value=forecasting.MOST_HORIZON_MS,
        help_text="how far is looked",
    )
    tick = serializers.IntegerField(
        default=None,
        allow_null=True,
        min_value=0,
        max_value=ranges.TICK.most,
        help_text="as it was then; now",
    )


class SubmissionSerializer(ManifestSerializer, ForecastOptionsSerializer):
    """A manifest that is not submitted yet, and where it might be sent."""

    queues = serializers.ListField(
        child=serializers.CharField(max_length=317),
        default=list,
        max_length=MOST_QUEUES,
        help_text="LocalQueues, name or namespace/name; all is every one; its own",
    )


def continued_of(arrivals: str | None) -> bool | None:
    """Return whether arrivals go on; None leaves it to the kind of the sandbox."""
    return None if arrivals is None else arrivals == "continued"


def options_of(given: Mapping[str, Any]) -> ForecastOptions:
    """Return how a forecast is asked for in a body that was checked."""
    return ForecastOptions(
        futures=given["futures"],
        seed=given["seed"],
        horizon_ms=given["horizonMs"],
        seconds=given["seconds"],
        continued=continued_of(given["arrivals"]),
        within_ms=(given["withinMs"],) if given["withinMs"] else (),
    )
