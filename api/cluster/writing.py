"""Create, replace, patch, delete: everything through the sandbox's actions."""

from __future__ import annotations

import secrets
from typing import Any

import msgspec
from django.contrib.auth.models import User
from rest_framework.serializers import ValidationError

from api.cluster import reading, validation
from api.cluster.resources import Resource
from api.cluster.versions import in_version
from api.errors import AlreadyExistsError
from sandbox import actions
from sandbox.actions.sessions import allowed, refuse_real
from sandbox.base.errors import Cause, StaleError
from sandbox.models import Sandbox, StoredObject
from scheduler.input.manifests.kinds import KUEUE
from scheduler.input.manifests.known_fields.finding import UNKNOWN_FIELD
from scheduler.input.manifests.load import load
from scheduler.model.objects import Key

Document = dict[str, Any]
_SUFFIX = "bcdfghjklmnpqrstvwxz2456789"
#: What of the metadata a write does not change.
_OF_SERVER = frozenset({"creationTimestamp", "generation", "uid"})
#: Kinds whose status is given with the object; others earn theirs.
_STATUS_GIVEN = frozenset({"Node", "Namespace"})


class Change:
    """One person's write of one object: where it goes and how it is answered."""

    def __init__(
        self,
        user: User,
        sandbox: Sandbox,
        resource: Resource,
        namespace: str,
        *,
        dry_run: bool,
        of_status: bool = False,
        validation: str = "Warn",
    ) -> None:
        self.user = user
        self.sandbox = sandbox
        self.resource = resource
        self.namespace = namespace if resource.kind.namespaced else ""
        self.dry_run = dry_run
        self.of_status = of_status  # the subresource: the status and nothing else
        self.validation = validation  # of fields that the kind does not have
        self.warnings: list[str] = []

    def create(self, given: Any) -> Document:
        """Make a new object. Raises AlreadyExistsError."""
        document = self._placed(given, "")
        name = document["metadata"]["name"]
        if reading.find(self.sandbox.pk, self.resource, self.namespace, name):
            raise AlreadyExistsError(
                f'{self.resource.full_name} "{name}" already exists'
            )
        return self._put(*self._pruned(document))

    def replace(self, name: str, given: Any) -> Document:
        """Replace an object; a resourceVersion in it must be the present one."""
        document = self._placed(given, name)
        row = reading.find(self.sandbox.pk, self.resource, self.namespace, name)
        if row is not None:
            self._check_version(document, row.revision)
        before = row.manifest if row is not None else None
        return self._put(*self._pruned(document, before), known=row is not None)

    def patched(self, name: str, document: Any) -> Document:
        """Put what a patch made of an object."""
        row = reading.get(self.sandbox.pk, self.resource, self.namespace, name)
        document = self._placed(document, name)
        self._check_version(document, row.revision)
        return self._put(*self._pruned(document, row.manifest), known=True)

    def _pruned(
        self, document: Document, before: Document | None = None
    ) -> tuple[Document, list[str]]:
        """Return what is kept of a document, and warnings of fields it has too much."""
        if self.resource.kind.group == KUEUE:
            return validation.pruned(document, self.validation)
        return document, validation.warnings_of(document, self.validation, known=before)

    def delete(self, names: list[tuple[str, str]]) -> None:
        """Delete objects by (namespace, name); what runs for them stops."""
        allowed(self.user, self.sandbox.pk)  # whether it is done or only tried
        refuse_real(self.sandbox)
        kind = self.resource.kind.kind
        keys = [Key(kind, namespace, name) for namespace, name in names]
        if keys and not self.dry_run:
            actions.do_delete(self.user, self.sandbox.pk, keys)

    def _placed(self, given: Any, name: str) -> Document:
        """Return the body under the path's own kind, namespace and name."""
        if not isinstance(given, dict):
            raise ValidationError({"": "expected an object with apiVersion and kind"})
        metadata = given.get("metadata") or {}
        if not isinstance(metadata, dict):
            raise ValidationError({"metadata": "expected an object"})
        metadata = dict(metadata)
        self._agree("kind", given.get("kind"), self.resource.kind.kind)
        self._agree("apiVersion", given.get("apiVersion"), self.resource.group_version)
        if self.namespace:
            self._agree("metadata.namespace", metadata.get("namespace"), self.namespace)
            metadata["namespace"] = self.namespace
        if name:
            self._agree("metadata.name", metadata.get("name"), name)
            metadata["name"] = name
        elif not metadata.get("name") and metadata.get("generateName"):
            suffix = "".join(secrets.choice(_SUFFIX) for _ in range(5))
            metadata["name"] = f"{metadata['generateName']}{suffix}"
        if not isinstance(metadata.get("name"), str):
            raise ValidationError({"metadata.name": "expected a name"})
        return {
            **given,
            "apiVersion": self.resource.group_version,
            "kind": self.resource.kind.kind,
            "metadata": metadata,
        }

    def _agree(self, field: str, given: Any, expected: str) -> None:
        if given not in (None, "", expected):
            problem = f"the path says {expected!r}, the body {given!r}"
            raise ValidationError({field: problem})

    def _check_version(self, document: Document, revision: int) -> None:
        given = document["metadata"].pop("resourceVersion", None)
        if given not in (None, "", str(revision)):
            name = document["metadata"]["name"]
            problem = "the object has been modified; read it again and repeat"
            raise StaleError(
                f'Operation cannot be fulfilled on {self.resource.full_name} "{name}": '
                f"{problem}",
                causes=[Cause(problem=problem, field="metadata.resourceVersion")],
            )

    def _put(
        self, document: Document, unknown: list[str], *, known: bool = False
    ) -> Document:
        if self.of_status:
            document = self._with_status(document)
        elif known or self.resource.kind.kind not in _STATUS_GIVEN:
            document.pop("status", None)
        metadata = document["metadata"]
        kind, name = self.resource.kind.kind, metadata["name"]
        text = msgspec.json.encode(document).decode()
        imported = actions.do_import(
            self.user,
            self.sandbox.pk,
            [("body", text)],
            dry_run=self.dry_run,
            only=Key(kind, self.namespace, name),
        )
        self.warnings = [
            f"{cause.field}: {cause.problem}" if cause.field else cause.problem
            for cause in imported.findings
            if not cause.problem.startswith(UNKNOWN_FIELD)  # as `unknown` has them
        ] + unknown
        row = reading.find(self.sandbox.pk, self.resource, self.namespace, name)
        if row is None:
            return _as_read(text)
        if self.dry_run:
            return self._dry(_as_read(text), row)
        return reading.document_of(row, self.resource)

    def _dry(self, document: Document, row: StoredObject) -> Document:
        """Return what the object would be: its version and its status stay."""
        own = {n: v for n, v in row.manifest["metadata"].items() if n in _OF_SERVER}
        own["resourceVersion"] = str(row.revision)
        document = {**document, "metadata": {**document["metadata"], **own}}
        if row.status and not self.of_status:
            document["status"] = row.status
        return in_version(document, self.resource)

    def _with_status(self, given: Document) -> Document:
        """Return the object as it is, under the status that was given."""
        name = given["metadata"]["name"]
        row = reading.get(self.sandbox.pk, self.resource, self.namespace, name)
        present = reading.document_of(row, self.resource)
        present["metadata"].pop("resourceVersion", None)
        return {**present, "status": given.get("status") or {}}


def _as_read(text: str) -> Document:
    """Return the object as it would be kept."""
    manifest: Document = load([("body", text)]).objects[0].manifest
    return manifest
