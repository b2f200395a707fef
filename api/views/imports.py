"""What came of imports, and what would come of traces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import msgspec
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.renderers import StorableJSONParser, YAMLTextParser
from api.serializers.actions import finding_body
from api.serializers.imports import (
    ConversionSerializer,
    ConversionsSerializer,
    DryImportQuestionSerializer,
    DryImportSerializer,
    ImportReportListSerializer,
    TraceQuestionSerializer,
)
from api.serializers.sandboxes import report_body
from api.uploads import FilesParser, converted_texts, run_times, texts, traces
from api.views.base import View
from api.views.explaining import COSTLY
from sandbox import actions
from sandbox.access import limits
from sandbox.actions.dry_imports import Repairable
from sandbox.actions.tries import counted
from sandbox.base.errors import NotFoundError
from sandbox.base.refusals import Absent
from sandbox.models import ImportReport, Sandbox
from sandbox.world import worlds
from sandbox.world.findings import causes_of
from scheduler.analysis.conversion.files import ConvertedFiles
from scheduler.input.files.unpacking import UnreadText
from scheduler.input.manifests.chosen_run_times import queue_of, size_of
from scheduler.input.manifests.repairs import Repair
from scheduler.input.manifests.report import Report
from scheduler.input.traces.preview import preview
from scheduler.model.objects import Object
from scheduler.model.sentence import plain


class Imports(View):
    """The reports of a sandbox's imports."""

    @extend_schema(
        operation_id="sandboxes_imports_list", responses=ImportReportListSerializer
    )
    def get(self, request: Request, sandbox_id: str) -> Response:
        """Return the report of each import, newest first."""
        sandbox = self.sandbox(sandbox_id)
        found = ImportReport.objects.filter(sandbox=sandbox)
        return Response({"items": [_body(one) for one in found]})


class TracePreviews(View):
    """Traces looked at before they are taken."""

    parser_classes = (StorableJSONParser, FilesParser)
    throttle_classes = COSTLY
    scope = "read"

    @extend_schema(
        operation_id="traces_preview",
        request={
            "application/json": TraceQuestionSerializer,
            "multipart/form-data": TraceQuestionSerializer,
        },
        responses=OpenApiTypes.OBJECT,
    )
    def post(self, request: Request) -> Response:
        """Return a preview of the traces among the files; changes nothing."""
        given = self.read(TraceQuestionSerializer)
        files = texts(given["files"])
        limits.check_bytes(files)
        present, stack = {}, "kueue"
        if given["into"]:
            self._check(given["into"])
            world, _ = worlds.copy_of(given["into"])
            present, stack = dict(world.objects), world.policy.spec.stack
        with counted(files):
            found = preview(
                files, traces(given["traces"]), present=present, stack=stack
            )
        return Response(msgspec.to_builtins(found))

    def _check(self, sandbox_id: str) -> None:
        if not Sandbox.objects.visible_to(self.user()).filter(pk=sandbox_id).exists():
            raise NotFoundError(Absent.SANDBOX.said(sandbox=sandbox_id))


class Conversions(View):
    """Files of other systems in the terms of Kueue or YuniKorn."""

    parser_classes = (StorableJSONParser, YAMLTextParser, FilesParser)
    throttle_classes = COSTLY
    scope = "read"

    @extend_schema(
        operation_id="conversions",
        request={
            "application/json": ConversionSerializer,
            "application/yaml": str,
            "multipart/form-data": ConversionSerializer,
        },
        responses=ConversionsSerializer,
    )
    def post(self, request: Request) -> Response:
        """Return Volcano's and KAI's objects converted; changes nothing."""
        given = self.read(ConversionSerializer)
        files = texts(given["files"])
        found = actions.convert_files_for(
            self.user(), files, into=given["into"], stack=given["stack"]
        )
        return Response(_converted(found))


class DryImports(View):
    """Files looked at before they are taken."""

    parser_classes = (StorableJSONParser, FilesParser)
    throttle_classes = COSTLY
    scope = "read"

    @extend_schema(
        operation_id="imports_dry",
        request={
            "application/json": DryImportQuestionSerializer,
            "multipart/form-data": DryImportQuestionSerializer,
        },
        responses=DryImportSerializer,
    )
    def post(self, request: Request) -> Response:
        """Return every finding in the files, with its repair; changes nothing."""
        given = self.read(DryImportQuestionSerializer)
        files, said = converted_texts(self.user(), given, into=given["into"])
        found = actions.look_at_files(
            self.user(),
            files,
            into=given["into"],
            policy=given["policy"],
            traces=traces(given["traces"]),
            run_times=run_times(given["runTimes"]),
            said=said,
            repairs=[_repair(one) for one in given["repairs"]],
            repair_all=given["repairAll"],
        )
        return Response(
            {
                "files": [
                    {"name": name, "text": text}
                    for name, text in found.files
                    if not isinstance(text, UnreadText)
                ],
                "findings": [_repairable(one) for one in found.findings],
                "errors": found.errors,
                "left": found.left,
                "report": report_body(found.report),
                "refused": msgspec.to_builtins(found.refused),
                "stacks": list(found.stacks),
                "untimed": [_untimed(one) for one in found.untimed],
                "unfilled": [asdict(one) for one in found.unfilled],
                "work": found.work,
            }
        )


def _untimed(obj: Object) -> dict[str, object]:
    kind, namespace, name = obj.key
    return {
        "kind": kind,
        "namespace": namespace,
        "name": name,
        "queue": queue_of(obj),
        "size": size_of(obj),
    }


def _repair(given: Mapping[str, Any]) -> Repair:
    names = ("file", "line", "old", "new", "document")
    return Repair(said=plain(""), **{name: given[name] for name in names})


def _repairable(one: Repairable) -> dict[str, object]:
    finding = one.finding
    return {
        "level": finding.level,
        "place": msgspec.to_builtins(finding.place),
        "problem": finding.problem,
        "said": msgspec.to_builtins(finding.said),
        "effect": finding.effect.english,
        "code": finding.effect.value,
        "repairs": msgspec.to_builtins(list(one.repairs)),
    }


def _converted(found: ConvertedFiles) -> dict[str, object]:
    return {
        "systems": found.systems,
        "changed": found.changed,
        "kinds": found.kinds,
        "losses": [
            {
                "subject": loss.subject,
                "lost": loss.lost,
                "said": msgspec.to_builtins(loss.said),
                "file": loss.place.file,
                "line": loss.place.line,
            }
            for loss in found.losses
        ],
        "files": [
            {"name": name, "text": text}
            for name, text in found.files
            if not isinstance(text, UnreadText)
        ],
        "unread": [finding_body(cause) for cause in causes_of(found.unread)],
    }


def _body(one: ImportReport) -> dict[str, object]:
    return {
        "revision": one.revision,
        "tick": one.tick,
        "at": one.at.isoformat(),
        "who": one.who,
        "report": report_body(msgspec.convert(one.report, Report)),
    }
