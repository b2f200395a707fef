"""Run times that somebody chooses for what comes in: by rules, from its like, from itself.

An annotation of the object counts first, then the first rule that it matches, then what
its like took elsewhere, then what its manifest says. `quotalab.dev/runtime-source` says
of each job which it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any

import msgspec

from scheduler.input.manifests.learned_run_times import (
    EndedWork,
    images_of,
    queue_of,
    take_learned_run_times,
)
from scheduler.input.manifests.loading.loaded import Finding, Loaded
from scheduler.input.manifests.run_times import (
    WHERE,
    refused_run_times,
    take_written_run_times,
    without_time,
)
from scheduler.model.annotations import RUNTIME, RUNTIME_SOURCE
from scheduler.model.errors import QuantityError, SchedulerError, SourceLocation
from scheduler.model.objects import Object
from scheduler.model.policy import RunTimesFrom
from scheduler.model.spans import read_span
from scheduler.words.findings import RunTimes

_TERMS = ("kind", "namespace", "name", "queue", "image", "label")


class RunTimeRule(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """How long work takes that matches all terms; a term may hold `*`, "" is any.

    `queue` is a LocalQueue, by its name or namespace/name; `labels` are equal.
    """

    takes: str
    kind: str = ""
    namespace: str = ""
    name: str = ""
    queue: str = ""
    image: str = ""
    labels: dict[str, str] = {}

    def matches(self, obj: Object) -> bool:
        """Return whether the rule is about the object."""
        kind, namespace, name = obj.key
        queue = queue_of(obj)
        return (
            all(
                fnmatchcase(value, term)
                for term, value in (
                    (self.kind, kind),
                    (self.namespace, namespace),
                    (self.name, name),
                )
                if term
            )
            and (not self.queue or self._is_queue(namespace, queue))
            and (not self.image or self._has_image(obj))
            and self.labels.items() <= obj.labels.items()
        )

    def _is_queue(self, namespace: str, queue: str) -> bool:
        given = f"{namespace}/{queue}" if "/" in self.queue else queue
        return bool(queue) and fnmatchcase(given, self.queue)

    def _has_image(self, obj: Object) -> bool:
        return any(fnmatchcase(image, self.image) for image in images_of(obj))

    @property
    def has_terms(self) -> bool:
        """Return whether it is not about all work."""
        return self.said() != self.takes

    def said(self) -> str:
        """Return the rule in command line syntax."""
        terms = [
            f"{term}={value}"
            for term in _TERMS[:-1]
            if (value := str(getattr(self, term)))
        ]
        terms += [f"label={name}={value}" for name, value in self.labels.items()]
        return f"{','.join(terms)}:{self.takes}" if terms else self.takes


class RunTimeChoice(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """What an import does about run times that nobody gave."""

    rules: Sequence[RunTimeRule] = ()
    like: Sequence[EndedWork] = ()
    like_name: str = ""  # of the file that `like` is from
    reads: RunTimesFrom | None = None  # of manifests; None is as the policy says
    strict: bool = False  # nothing is assumed


NO_CHOICE = RunTimeChoice()


def read_rule(text: str) -> RunTimeRule:
    """Return the rule of a text: `5m`, `queue=research,name=train-*:exp(10m)`.

    Raises SchedulerError.
    """
    terms, colon, takes = text.rpartition(":")
    found: dict[str, Any] = {"takes": takes.strip() if colon else text}
    labels: dict[str, str] = {}
    for term in terms.split(",") if colon else ():
        name, equals, value = term.strip().partition("=")
        if name not in _TERMS or not (equals and value):
            raise SchedulerError(
                f"--run-time {text}: expected terms such as queue=research or "
                f"name=train-*, of {', '.join(_TERMS)}, got {term!r}"
            )
        if name == "label":
            label, equals, value = value.partition("=")
            if not equals:
                raise SchedulerError(
                    f"--run-time {text}: expected label=NAME=VALUE, got {term!r}"
                )
            labels[label] = value
        else:
            found[name] = value
    rule = RunTimeRule(**found, labels=labels)
    try:
        read_span(rule.takes)
    except QuantityError as error:
        raise SchedulerError(f"--run-time {text}: {error}") from error
    return rule


def take_chosen_run_times(loaded: Loaded, choice: RunTimeChoice) -> None:
    """Annotate work without a run time as was chosen; findings say of how many.

    Cost: O(objects x rules + ended work).
    """
    _take_rules(loaded, choice.rules)
    if choice.like:
        take_learned_run_times(loaded, choice.like, choice.like_name)
    if choice.reads is not None:
        take_written_run_times(loaded.objects, choice.reads)
    if choice.strict:
        loaded.findings += refused_run_times(loaded)


def _take_rules(loaded: Loaded, rules: Sequence[RunTimeRule]) -> None:
    if not rules:
        return
    taken: dict[str, list[Object]] = {}
    for obj in without_time(loaded.objects):
        rule = next((rule for rule in rules if rule.matches(obj)), None)
        if rule is not None:
            ours = {RUNTIME: rule.takes, RUNTIME_SOURCE: f"chosen: {rule.said()}"}
            obj.metadata["annotations"] = {**obj.annotations, **ours}
            taken.setdefault(rule.said(), []).append(obj)
    for text, objects in taken.items():
        said = RunTimes.CHOSEN.said(n=len(objects), rule=text)
        place = loaded.places[objects[0].key].place(WHERE)
        loaded.findings.append(Finding("warning", place, said))
    for number, rule in enumerate(rules):
        if rule.said() not in taken and rule.has_terms:
            said = RunTimes.CHOSEN_NONE.said(rule=rule.said())
            field = f"rules[{number}]"
            loaded.warn(SourceLocation(file="runTimes", line=1, field=field), said)


def untimed(objects: Iterable[Object], most: int) -> list[Object]:
    """Return the first `most` objects whose run time is assumed, in their order."""
    return list(islice(without_time(objects), most))
