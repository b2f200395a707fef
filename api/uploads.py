"""Files of a request: their texts, unpacked; and how the traces among them are taken."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.http import QueryDict
from rest_framework.exceptions import ParseError
from rest_framework.parsers import MultiPartParser

from api.errors import invalid
from sandbox.actions import convert_files_for
from sandbox.base.errors import Cause, InvalidError
from scheduler.analysis.conversion.files import findings_of
from scheduler.input.files.unpacking import Unpacking
from scheduler.input.manifests.loading.loaded import Finding
from scheduler.input.traces.options import TraceOptions, read_options
from scheduler.model.errors import ManifestError
from scheduler.model.problems import RequestProblem, in_field
from scheduler.model.sentence import Sentence


def texts(files: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return (name, text) of what the files hold.

    What cannot be unpacked or read is an `UnreadText`, refused with its place by
    whoever takes the others. Raises InvalidError for `data` that is no base64.
    """
    found: list[tuple[str, str]] = []
    most = settings.LIMITS["bytes_per_import"]
    unpacking = Unpacking(most) if most else Unpacking()
    for file in files:
        name = file["name"]
        if not file["data"]:
            found.append((name, file["text"]))
            continue
        try:
            raw = base64.b64decode(file["data"], validate=True)
        except ValueError as error:  # letters that base64 has not, or bad padding
            raise _refused(
                name, in_field("data", RequestProblem.BASE64.said(problem=error))
            ) from error
        found += unpacking.texts(name, raw)
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


def _refused(file: str, problem: Sentence) -> InvalidError:
    cause = Cause(problem=problem, file=file, line=1)
    return InvalidError(in_field(file, problem), causes=[cause])


class FilesParser(MultiPartParser):
    """A form with files, as `curl -F files=@trace.swf.gz` sends it.

    Every file of the form is one of the import; `traces` is a JSON object, the other
    fields are as in a JSON body.
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
    if "traces" in body:
        try:
            body["traces"] = json.loads(body["traces"])
        except ValueError as error:
            raise ParseError(f"traces: expected a JSON object: {error}") from error
    return body
