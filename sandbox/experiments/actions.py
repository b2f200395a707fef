"""What people do with experiments: start, cancel, delete, open a run."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from sandbox.access import limits
from sandbox.actions.sandboxes import begin
from sandbox.base.errors import (
    Cause,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
)
from sandbox.base.refusals import Absent, Denied, NotNow, NotTaken
from sandbox.experiments import searching
from sandbox.experiments.bases import base_of, open_base, packed_base
from sandbox.experiments.work import plan_of
from sandbox.models import Experiment, Run, Sandbox
from sandbox.models.sandbox import carried_out
from sandbox.process import idle_flag
from sandbox.world.findings import causes_of
from scheduler.analysis.advice.advisor import Advisor
from scheduler.analysis.experiments.assertions import judge
from scheduler.analysis.experiments.bases import RunBase
from scheduler.analysis.experiments.document import (
    ExperimentDocument,
    ExperimentError,
    read_experiment,
)
from scheduler.analysis.experiments.runs import Plan, plan, world_at
from scheduler.assembly import InputError
from scheduler.input.manifests.documents import read_documents
from scheduler.model.errors import ManifestError, SchedulerError
from scheduler.model.problems import Wanted, expected
from scheduler.model.problems.library import plain_word

#: Variants are tried out before anything is started, for no longer than this.
TRIAL_S = 2.0


def do_start(
    user: User,
    document: dict[str, Any],
    *,
    files: Mapping[str, str] | None = None,
    title: str = "",
    visibility: str = Sandbox.PRIVATE,
) -> Experiment:
    """Store an experiment with its runs; workers take them up at once.

    `files` are the texts that the document names. Raises InvalidError naming
    the field, NotFoundError for a base that `user` cannot see, and TooManyError
    when as many jobs of theirs run as may; then nothing is stored.
    """
    texts = dict(files or {})
    limits.check_jobs(user)
    limits.check_bytes(list(texts.items()))
    with _as_invalid():
        read = read_experiment(document)
        kind, body = packed_base(user, read.spec.base, texts)
        base = open_base(kind, body, read.spec.base.stack)
        todo, points, most = _begin(read, base)
        limits.check_experiment(most, todo.horizon_ms)
        _try_out(read, base, todo, texts)
    experiment = Experiment(
        owner=user,
        title=(title or _title(read))[:200],
        visibility=visibility,
        document=document,
        plan=msgspec.to_builtins(todo),
        base_kind=kind,
        base=body,
        files=texts,
        total=len(todo.variants) * len(todo.seeds),
        searching=bool(points),
        points=points,
    )
    _insert(experiment, todo)
    return experiment


def do_estimate(
    user: User, document: dict[str, Any], *, files: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return what a search would take, before it is started; nothing is stored.

    Raises as do_start does, and InvalidError for an experiment that is no search.
    """
    texts = dict(files or {})
    limits.check_bytes(list(texts.items()))
    with _as_invalid():
        read = read_experiment(document)
        base = open_base(
            *packed_base(user, read.spec.base, texts), read.spec.base.stack
        )
        return searching.estimate(Advisor.of(read.spec, base), base)


def do_take(user: User, experiment_id: str) -> Experiment:
    """End a search with the best that it has found, which is then proven."""
    searching.take(_editable(user, experiment_id))
    return visible(user, experiment_id)


def _begin(
    read: ExperimentDocument, base: RunBase
) -> tuple[Plan, list[list[int]], int]:
    """Return (first plan, its points, how many runs there may be)."""
    if not searching.is_search(read):
        todo = plan(read.spec, base)
        return todo, [], len(todo.variants) * len(todo.seeds)
    advisor = Advisor.of(read.spec, base)
    return (
        searching.first_plan(advisor),
        [list(advisor.space.base)],
        advisor.most_runs(),
    )


@contextmanager
def _as_invalid() -> Iterator[None]:
    """Say what of a document cannot be, as the API does."""
    try:
        yield
    except InputError as error:
        causes = causes_of(error.loaded.findings)
        raise InvalidError(NotTaken.BASE.said(), causes=causes) from error
    except ExperimentError as error:
        cause = Cause(problem=error.problem, field=error.field)
        raise InvalidError(error.said, causes=[cause]) from error
    except SchedulerError as error:
        raise InvalidError(error.said, causes=[Cause(problem=error.said)]) from error


def document_among(files: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the experiment among some files, and the other files.

    Raises InvalidError unless exactly one document is an Experiment.
    """
    limits.check_bytes(list(files.items()))
    found: list[tuple[str, dict[str, Any]]] = []
    for name, text in files.items():
        if "Experiment" not in text:
            continue
        try:
            documents = read_documents(text, file=name, limits=limits.of_texts())
        except ManifestError as error:
            place = error.place
            cause = Cause(
                problem=error.problem, file=name, line=place.line if place else 1
            )
            raise InvalidError(error.said, causes=[cause]) from error
        found += [(name, d.data) for d in documents if d.kind == "Experiment"]
    if len(found) != 1:
        problem = expected(
            Wanted.ONE_DOCUMENT_OF.said(kind="Experiment"), given=len(found)
        )
        raise InvalidError(problem, causes=[Cause(problem=problem, field="files")])
    [(name, document)] = found
    return document, {other: text for other, text in files.items() if other != name}


def _title(read: ExperimentDocument) -> str:
    return read.spec.title or str(read.metadata.get("name") or "Experiment")


def _try_out(
    read: ExperimentDocument, base: RunBase, todo: Plan, files: Mapping[str, str]
) -> None:
    """Make the first worlds of the variants, and look at the assertions."""
    names = [variant.name for variant in todo.variants]
    judge(read.spec.assertions, names, [], [], files)
    end = time.monotonic() + TRIAL_S
    for variant in todo.variants:
        base.world(variant, todo.seeds[0])
        if time.monotonic() > end:
            break


@transaction.atomic
def _insert(experiment: Experiment, todo: Plan) -> None:
    limits.check_jobs(experiment.owner, alone=True)
    experiment.save(force_insert=True)
    Run.objects.bulk_create(
        [
            Run(experiment=experiment, number=n, variant=variant, seed=seed)
            for n, (variant, seed) in enumerate(todo.runs())
        ],
        batch_size=500,
    )
    carried_out()
    idle_flag.clear_after_commit()


def visible(user: User, experiment_id: str) -> Experiment:
    """Return the experiment. Raises NotFoundError when `user` may not see it."""
    found = (
        Experiment.objects.visible_to(user)
        .select_related("owner")
        .defer("base")
        .filter(pk=experiment_id)
        .first()
    )
    if found is None:
        raise NotFoundError(Absent.EXPERIMENT.said(experiment=experiment_id))
    return found


def _editable(user: User, experiment_id: str) -> Experiment:
    experiment = visible(user, experiment_id)
    if not Experiment.objects.editable_by(user).filter(pk=experiment_id).exists():
        raise ForbiddenError(Denied.EXPERIMENT.said())
    return experiment


def do_cancel(user: User, experiment_id: str) -> Experiment:
    """Stop an experiment; what has ended is kept, what runs hears it in seconds."""
    experiment = _editable(user, experiment_id)
    running = Experiment.objects.filter(pk=experiment_id, state=Experiment.RUNNING)
    with transaction.atomic():
        stopped = running.update(state=Experiment.CANCELLED, finished_at=timezone.now())
        if not stopped:
            raise ConflictError(
                NotNow.EXPERIMENT.said(state=plain_word(experiment.state))
            )
        open_ones = Run.objects.filter(
            experiment_id=experiment_id, state__in=(Run.WAITING, Run.RUNNING)
        )
        open_ones.update(state=Run.CANCELLED, fence=F("fence") + 1)
    return visible(user, experiment_id)


def do_delete(user: User, experiment_id: str) -> None:
    """Delete an experiment with its runs; sandboxes opened from it stay."""
    _editable(user, experiment_id)
    Experiment.objects.filter(pk=experiment_id).delete()


def do_open(
    user: User, experiment_id: str, number: int, *, tick: int | None = None
) -> Sandbox:
    """Make a paused sandbox of a run, at a tick or where the run ended.

    The run is made again up to there: at its end the hash is the run's.
    Raises ConflictError for an end that does not exist yet.
    """
    experiment = visible(user, experiment_id)
    limits.check_sandboxes(user)
    run = Run.objects.filter(experiment_id=experiment_id, number=number).first()
    if run is None:
        raise NotFoundError(Absent.RUN.said(run=number, total=experiment.total))
    if tick is None and run.state != Run.DONE:
        raise ConflictError(NotNow.RUN.said(run=number, state=plain_word(run.state)))
    todo, base = plan_of(experiment_id), base_of(experiment_id)
    at = run.result["tick"] if tick is None else tick
    try:
        world = world_at(base, todo, run.variant, run.seed, at)
    except SchedulerError as error:
        raise InvalidError(error.said, causes=[Cause(problem=error.said)]) from error
    name = todo.variants[run.variant].name
    return begin(
        user,
        world,
        title=f"{experiment.title}: {name}, seed {run.seed}"[:200],
        scenario=experiment.document["spec"]["base"].get("scenario", ""),
    )
