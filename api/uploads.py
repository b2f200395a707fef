"""Files of a request: their texts, unpacked; and how the traces among them are taken."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from django.conf import settings
from django.contrib.auth.models import User
from django.http import QueryDict
from rest_framework.exceptions import ParseError
from rest_framework.parsers import MultiPartParser

from api.errors import invalid
from sandbox.actions import convert_files_for
from sandbox.base.errors import Cause, InvalidError
from sandbox.process import watchdog
from scheduler.analysis.conversion.files import findings_of
from scheduler.input.files.unpacking import Unpacking
from scheduler.input.manifests.chosen_run_times import (
    NO_CHOICE,
    EndedWork,
    RunTimeChoice,
    RunTimeRule,
)
from scheduler.input.manifests.loading.loaded import Finding
from scheduler.input.traces.options import TraceOptions, read_options
from scheduler.model.durations import read_span
from scheduler.model.errors import ManifestError, QuantityError, SchedulerError
from scheduler.model.problems import RequestProblem, in_field
from scheduler.model.sentence import Sentence
from scheduler.recorded.ended_work import ended_in_files


def texts(files: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return (name, text) of what the files hold. A worker reads them.

    What cannot be unpacked or read is an `UnreadText`, refused with its place by
    whoever takes the others. Raises InvalidError for `data` that is no base64.
    """
    watchdog.leave_to_worker(len(files))
    found: list[tuple[str, str]] = []
    most = settings.LIMITS["bytes_per_import"]
    unpacking = Unpacking(most) if most else Unpacking()
    for file in files:
        if file["data"]:
            found += unpacking.texts(file["name"], _bytes(file))
        else:
            found.append((file["name"], file["text"]))
    return found


def converted_texts(
    user: User, given: dict[str, Any], *, into: str = ""
) -> tuple[list[tuple[str, str]], Sequence[Finding]]:
    """Return the files of a body that asks for their conversion or not, and losses."""
    files = texts(given["files"])
    if not given["convert"]:
        return files, []
    found = convert_files_for(user, files, into=into)
    return found.files, findings_of(found)


def traces(given: Mapping[str, Any]) -> TraceOptions:
    """Return how traces are taken; ValidationError names what is wrong."""
    try:
        return read_options(given)
    except ManifestError as error:
        field = error.place.field if error.place else ""
        place = f"traces.{field}" if field else "traces"
        raise invalid({place: error.problem}) from error


def run_times(given: Mapping[str, Any]) -> RunTimeChoice:
    """Return what is chosen about run times.

    Raises ValidationError naming what is wrong, InvalidError for files of which nothing
    can be learned.
    """
    if not given:
        return NO_CHOICE
    rules = [msgspec.convert(one, RunTimeRule) for one in given["rules"]]
    for number, rule in enumerate(rules):
        try:
            read_span(rule.takes)
        except QuantityError as error:
            raise invalid({f"runTimes.rules[{number}].takes": error.said}) from error
    like = _ended(given["like"]) if given["like"] else []
    return RunTimeChoice(
        rules=rules,
        like=like,
        like_name=", ".join(file["name"] for file in given["like"]),
        reads=given["reads"],
        strict=given["strict"],
    )


def _ended(files: list[dict[str, Any]]) -> list[EndedWork]:
    watchdog.leave_to_worker(len(files))
    given = [(file["name"], _bytes(file)) for file in files]
    most = settings.LIMITS["bytes_per_import"]
    if most and sum(len(data) for _, data in given) > most:
        raise _refused(given[0][0], RequestProblem.LARGE.said(most=most))
    try:
        found = ended_in_files(given)
    except SchedulerError as error:
        raise _refused(given[0][0], error.said) from error
    if not found:
        raise _refused(given[0][0], RequestProblem.NONE_ENDED.said())
    return found


def _bytes(file: dict[str, Any]) -> bytes:
    if not file["data"]:
        return str(file["text"]).encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(file["data"], validate=True)
    except ValueError as error:  # letters that base64 has not, or bad padding
        raise _refused(
            file["name"], in_field("data", RequestProblem.BASE64.said(problem=error))
        ) from error


def _refused(file: str, problem: Sentence) -> InvalidError:
    cause = Cause(problem=problem, file=file, line=1)
    return InvalidError(in_field(file, problem), causes=[cause])


class FilesParser(MultiPartParser):
    """A form with files, as `curl -F files=@trace.swf.gz` sends it.

    Every file of the form is one of the import; `traces` and `runTimes` are JSON objects,
    the other fields are as in a JSON body.
    """

    def parse(
        self,
        stream: Any,
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return the form as the body that JSON would carry."""
        form: Any = super().parse(stream, media_type, parser_context)
        body: dict[str, Any] = _fields(form.data)
        body["files"] = [
            {"name": file.name, "data": base64.b64encode(file.read()).decode()}
            for _, files in form.files.lists()
            for file in files
        ]
        return body


def _fields(data: QueryDict) -> dict[str, Any]:
    body: dict[str, Any] = dict(data.items())
    for name in {"traces", "runTimes"} & body.keys():
        try:
            body[name] = json.loads(body[name])
        except ValueError as error:
            raise ParseError(f"{name}: expected a JSON object: {error}") from error
    return body
