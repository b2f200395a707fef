"""Create, replace, patch, apply: everything through the sandbox's actions.

A change is made while nobody else writes: what it is judged by is read then.
"""

from __future__ import annotations

import copy
import re
import secrets
import uuid
from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User

from api.cluster import (
    admission,
    checks,
    deleting,
    managing,
    reading,
    refusals,
    resources,
    rollouts,
    validation,
)
from api.cluster.checks import decoding, webhooks
from api.cluster.controlled import Owners
from api.cluster.presenting import complete, whole_seconds
from api.cluster.resources import Resource, in_version
from sandbox import actions
from sandbox.access.limits import of_texts
from sandbox.actions import EditSession
from sandbox.base.errors import Cause, DeniedError, InvalidError
from sandbox.models import StoredObject
from scheduler.input.manifests.known_fields.finding import UNKNOWN_FIELD
from scheduler.input.manifests.load import load
from scheduler.model import durations
from scheduler.model.amounts import is_whole
from scheduler.model.annotations import ARRIVAL
from scheduler.model.jobs import workload_of
from scheduler.model.objects import Key
from scheduler.words.effects import Effect

Document = dict[str, Any]
NAMESPACES = resources.find("", "v1", "namespaces")
MODIFIED = (
    "the object has been modified; please apply your changes to the latest version "
    "and try again"
)
#: Codes of findings that a cluster says by the status of the object.
_ELSEWHERE = ("missing.", "problem.loop")
#: Effects of kinds that are kept and change nothing that is decided in a cluster.
_NOTHING_LOST = frozenset({Effect.NO_DECISION, Effect.NOT_OTHERWISE, Effect.NO_POLICY})
_SUFFIX = "bcdfghjklmnpqrstvwxz2456789"
#: What of the metadata a write does not change.
_OF_SERVER = frozenset({"creationTimestamp", "generation", "uid"})
#: What of the metadata a new object gets, whatever was given.
_BY_SERVER = (*_OF_SERVER, "deletionGracePeriodSeconds", "deletionTimestamp")
#: What of the metadata is not written where it is empty.
_LEFT_OUT = frozenset({"annotations", "finalizers", "labels", "ownerReferences"})
#: Kinds whose status a controller writes over, whatever is given.
_CONTROLLED = frozenset(
    {"CronJob", "DaemonSet", "Deployment", "Job", "ReplicaSet", "StatefulSet"}
)
#: Kinds whose status is given with the object; others earn theirs.
_STATUS_GIVEN = frozenset({"Node", "Namespace"})


class Change:
    """One person's write of one object: where it goes and how it is answered."""

    def __init__(
        self,
        user: User,
        session: EditSession,
        resource: Resource,
        namespace: str,
        *,
        dry_run: bool,
        of_status: bool = False,
        validation: str = "Warn",
        manager: str = "",
        twice: Sequence[str] = (),
    ) -> None:
        self.user = user
        self.session = session
        self.sandbox = session.sandbox
        self.resource = resource
        self.namespace = namespace if resource.kind.namespaced else ""
        self.dry_run = dry_run
        self.of_status = of_status  # the subresource: the status and nothing else
        self.validation = validation  # of fields that the kind does not have
        self.manager = manager
        self.twice = twice  # the paths of fields that the body has more than once
        self.warnings: list[str] = []
        self.patches = False  # whether it is a patch, which no webhook reads first

    def row(self, name: str) -> StoredObject:
        """Return the row of an object of the resource. Raises RefusalError."""
        return reading.get(self.sandbox.pk, self.resource, self.namespace, name)

    def create(self, given: Any) -> Document:
        """Make a new object. Raises RefusalError."""
        document = self._placed({} if given is None else given, "")
        name = document["metadata"]["name"]
        if document["metadata"].get("resourceVersion"):
            why = "resourceVersion should not be set on objects to be created"
            raise refusals.RefusalError(500, "", why)
        for one in _BY_SERVER:
            document["metadata"].pop(one, None)
        self._check_namespace()
        document, warnings = self._admitted(document)
        known = reading.find(self.sandbox.pk, self.resource, self.namespace, name)
        if known or reading.is_from_the_beginning(self.resource, name):
            raise refusals.already_exists(self.resource, name)
        managed = managing.updated([], None, self._completed(document), self._writer())
        return self._put(document, warnings, managed=managed)

    def _admitted(self, document: Document) -> tuple[Document, list[str]]:
        """Return a new object as admission lets it in, and warnings. Raises RefusalError."""
        document, warnings = self._pruned(document)
        self.warnings = warnings
        if self.resource.kind.kind == "Pod":
            document = admission.with_limits(self.sandbox.pk, self.namespace, document)
        self._admit(document)
        self._check(document)
        webhooks.check(document, self.resource.kind.kind)
        admission.check(self.sandbox.pk, self.resource, self.namespace, document)
        return document, warnings

    def replace(self, row: StoredObject, given: Any) -> Document:
        """Put a whole object in the place of another one.

        A resourceVersion in it must be the present one, and so must a uid. What is
        as it was only filled in when it was read is not kept.
        """
        kept = copy.deepcopy({**row.manifest, "status": row.status})
        before = self._completed(
            reading.kept_document(copy.deepcopy(row), self.resource)
        )
        if self.resource.is_built_in and (type_ := self.resource.type_):
            before = decoding.without_unknown(before, type_)
        shown = reading.document_of(copy.deepcopy(row), self.resource)
        document = self._placed_at(given, row.name, shown["metadata"]["name"])
        metadata = document["metadata"]
        self._check_version(document, row.revision)
        uid = metadata.get("uid")
        if uid and uid != row.uid:
            raise refusals.conflict(self.resource, row.name, self._other(row, uid))
        document = without_filled(_as_kept(document, shown, kept), shown, kept)
        if self.resource.kind.kind == "Deployment":
            # Its parts rule each other out, also where they were filled in.
            given_spec = (given.get("spec") or {}) if isinstance(given, dict) else {}
            if (strategy := given_spec.get("strategy")) and "spec" in document:
                document["spec"] = {**document["spec"], "strategy": strategy}
        document, warnings = self._pruned(document, kept)
        if not self.of_status:
            document = _beside_status(document, kept)
            going = "deletionTimestamp" in kept["metadata"]
            if going and not metadata.get("finalizers"):
                document["metadata"]["finalizers"] = []  # the world lets it go then
        self._check(document, before)
        if not self.of_status:
            kind = self.resource.kind.kind
            waits = kind in webhooks.OF_OTHERS and self._waits(before)
            webhooks.check(document, kind, before, waits=waits)
        entries = kept["metadata"].get("managedFields") or []
        said = (given.get("metadata") or {}).get("managedFields")
        if isinstance(said, list) and said != shown["metadata"].get("managedFields"):
            entries = [one for one in said if isinstance(one, dict) and one]
        managed = managing.updated(
            entries, before, self._completed(document), self._writer()
        )
        return self._put(document, warnings, known=True, managed=managed)

    def _placed_at(self, given: Any, kept: str, shown: str) -> Document:
        """Return the body under the name that is kept, be it given by the shown one."""
        named = isinstance(given, dict) and isinstance(given.get("metadata"), dict)
        by_kept = named and given["metadata"].get("name") == kept
        document = self._placed(given, kept if by_kept else shown)
        document["metadata"]["name"] = kept
        return document

    def _writer(self) -> managing.Writer:
        return managing.Writer(
            manager=self.manager,
            version=self.resource.group_version,
            time=str(whole_seconds(durations.stamp_text(reading.now_us(self.sandbox)))),
            type_=self.resource.type_,
            subresource="status" if self.of_status else "",
        )

    def _completed(self, document: Document) -> Document:
        made = in_version(copy.deepcopy(document), self.resource)
        return complete(made, self.resource)

    def _check(self, document: Document, before: Document | None = None) -> None:
        """Refuse what an API server refuses of the values of an object."""
        made = copy.deepcopy(document)
        if before is not None and not self.of_status:
            # What the world keeps of it whatever is given.
            owned = {n: v for n, v in before["metadata"].items() if n in _OF_SERVER}
            made["metadata"] |= owned
        name = document["metadata"]["name"]
        made = complete(in_version(made, self.resource), self.resource)
        if self.of_status:
            checks.check_status(made, self.resource, name=name)
        else:
            checks.check(made, self.resource, name=name, before=before)

    def _admit(self, document: Document) -> None:
        """Refuse a pod that its classes rule out, and a second default class."""
        kind, why = self.resource.kind.kind, None
        if kind == "Pod":
            why = admission.ruled_out(self.sandbox.pk, document.get("spec") or {})
        elif kind == "PriorityClass" and document.get("globalDefault"):
            why = admission.second_default(self.sandbox.pk)
        if why:
            raise refusals.forbidden(self.resource, document["metadata"]["name"], why)

    def _other(self, row: StoredObject, uid: str) -> str:
        kind = self.resource.kind
        place = "/".join(
            filter(None, (kind.group, kind.plural, self.namespace, row.name))
        )
        return (
            f"StorageError: invalid object, Code: 4, Key: /registry/{place}, "
            "ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in "
            f"precondition: {uid}, UID in object meta: {row.uid}"
        )

    def _waits(self, job: Document) -> bool:
        """Return whether a job is in a queue, and its Workload is not admitted."""
        name = workload_of(job)
        known = Owners.stored(self.sandbox.pk).get("Workload", self.namespace, name)
        queued = webhooks.QUEUE in (job["metadata"].get("labels") or {})
        return queued and not (known and known.status.get("admission"))

    def apply(self, name: str, given: Any, *, force: bool) -> tuple[Document, int]:
        """Lay what one manager wants over an object; (it, 201 where it is new)."""
        row = reading.find(self.sandbox.pk, self.resource, self.namespace, name)
        # Refuse to apply what does not say that it is of the path's kind.
        said = given if isinstance(given, dict) else {}
        version, kind = said.get("apiVersion") or "", said.get("kind") or ""
        if (version, kind) != (self.resource.group_version, self.resource.kind.kind):
            place = str(version) if "/" in str(version) else f"/{version}"
            raise refusals.bad_request(f"invalid object type: {place}, Kind={kind}")
        self._check_typed(given)
        document = self._placed(given, name)
        if (given.get("metadata") or {}).get("managedFields") is not None:
            why = "metadata.managedFields must be nil"
            raise refusals.bad_request(why)
        if row is None:
            self._check_namespace()
            document, warnings = self._admitted(document)
            _, managed = managing.applied([], {}, document, self._writer(), force=True)
            return self._put(document, warnings, managed=managed), 201
        self._check_version(document, row.revision)
        document, warnings = self._pruned(document)
        live = copy.deepcopy(reading.kept_document(row, self.resource))
        before = self._completed(reading.kept_document(row, self.resource))
        entries = live["metadata"].pop("managedFields", None) or []
        merged, managed = managing.applied(
            entries, live, document, self._writer(), force=force
        )
        merged["metadata"].pop("resourceVersion", None)
        self._check(merged, before)
        return self._put(merged, warnings, known=True, managed=managed), 200

    def _check_typed(self, given: Document) -> None:
        """Refuse to apply fields that the kind does not have, or of other types."""
        type_ = self.resource.type_
        if not type_:
            return
        problem = next(decoding.untyped(given, type_), None)
        if problem is not None:
            metadata = given.get("metadata") or {}
            place = f"{metadata.get('namespace') or ''}/{metadata.get('name') or ''}"
            version = self.resource.group_version
            version = version if "/" in version else f"/{version}"
            what = f"({place}; {version}, Kind={self.resource.kind.kind})"
            why = f"failed to create typed patch object {what}: {problem}"
            raise refusals.RefusalError(500, "", why)

    def _check_namespace(self) -> None:
        """Refuse to make an object in a namespace that does not exist."""
        if self.namespace and not reading.has_namespace(
            self.sandbox.pk, self.namespace
        ):
            raise refusals.not_found(NAMESPACES, self.namespace)

    def _pruned(
        self, document: Document, before: Document | None = None
    ) -> tuple[Document, list[str]]:
        """Return what is kept of a document, and warnings of fields it has too much."""
        warnings = validation.warnings_of(
            document, self.validation, known=before, twice=self.twice
        )
        if type_ := self.resource.type_:
            empty = not self.resource.is_built_in
            document = decoding.without_unknown(document, type_, empty=empty)
        return document, warnings

    def _placed(self, given: Any, name: str) -> Document:
        """Return the body under the path's own kind, namespace and name."""
        resource = self.resource
        if not isinstance(given, dict):
            why = f"the object provided is unrecognized (must be of type {resource.kind.kind})"
            raise refusals.bad_request(f"{why}: expected an object")
        self._check_type(given)
        metadata = given.get("metadata") or {}
        if not isinstance(metadata, dict):
            raise refusals.bad_request(
                f'{resource.kind.kind} in version "{resource.version}" cannot be handled '
                f"as a {resource.kind.kind}: json: cannot unmarshal into Go struct field "
                f".metadata of type v1.ObjectMeta"
            )
        metadata = {
            name: value
            for name, value in metadata.items()
            if name not in _LEFT_OUT or value not in ({}, [])
        }
        if self.namespace:
            if metadata.get("namespace") not in (None, "", self.namespace):
                raise refusals.bad_request(
                    "the namespace of the provided object does not match the namespace "
                    "sent on the request"
                )
            metadata["namespace"] = self.namespace
        else:
            metadata.pop("namespace", None)
        if name:
            if metadata.get("name") not in (None, "", name):
                raise refusals.bad_request(
                    f"the name of the object ({metadata['name']}) does not match the "
                    f"name on the URL ({name})"
                )
            metadata["name"] = name
        elif not metadata.get("name") and metadata.get("generateName"):
            suffix = "".join(secrets.choice(_SUFFIX) for _ in range(5))
            metadata["name"] = f"{metadata['generateName']}{suffix}"
        if not metadata.get("name"):
            why = "Required value: name or generateName is required"
            fault = refusals.Fault("metadata.name", why)
            raise refusals.invalid(resource, "", [fault])
        document = {
            **given,
            "apiVersion": resource.group_version,
            "kind": resource.kind.kind,
            "metadata": metadata,
        }
        checks.check_types(document, resource, patches=self.patches)
        if resource.kind.kind == "ClusterQueue":
            document.setdefault("spec", {})  # as the webhook makes it
        return document

    def _check_type(self, given: Document) -> None:
        """Refuse an object of another kind or version than the path's."""
        kind, version = given.get("kind"), given.get("apiVersion")
        expected, place = self.resource.kind.kind, self.resource.group_version
        if kind not in (None, "", expected):
            said = refusals.not_registered(str(kind), str(version))
            if resources.has_kind(str(version or place), str(kind)):
                group = self.resource.kind.group.partition(".")[0] or "core"
                given_ = ".".join(str(version or place).rsplit("/", 1)[-1:])
                said = (
                    f"converting ({given_}.{kind}) to ({group}.{expected}): unknown "
                    "conversion"
                )
            raise refusals.bad_request(
                f'{kind} in version "{str(version).rpartition("/")[2]}" cannot be handled '
                f"as a {expected}: {said}"
            )
        known = resources.has_version(str(version))
        if version not in (None, "", place) and not known:
            said = refusals.not_registered(expected, str(version))
            raise refusals.bad_request(
                f'{expected} in version "{str(version).rpartition("/")[2]}" cannot be '
                f"handled as a {expected}: {said}"
            )
        if version not in (None, "", place):
            raise refusals.bad_request(
                f"the API version in the data ({version}) does not match the expected "
                f"API version ({place})"
            )

    def _check_version(self, document: Document, revision: int) -> None:
        given = document["metadata"].pop("resourceVersion", None)
        if given not in (None, "", "0", str(revision)):
            name = document["metadata"]["name"]
            raise refusals.conflict(self.resource, name, MODIFIED)

    def _put(
        self,
        document: Document,
        unknown: list[str],
        *,
        known: bool = False,
        managed: list[Document] | None = None,
    ) -> Document:
        if self.of_status:
            document = self._with_status(document)
        elif known or self.resource.kind.kind not in _STATUS_GIVEN:
            document.pop("status", None)
        kind, name = self.resource.kind.kind, document["metadata"]["name"]
        row = None
        if known:
            row = reading.find(self.sandbox.pk, self.resource, self.namespace, name)
        before: Document | None = copy.deepcopy(row.manifest) if row else None
        own = self._own_metadata(document, before, managed)
        loaded = load((), limits=of_texts(), objects=[("body", document)])
        taken = copy.deepcopy(loaded.objects[0].manifest) if loaded.objects else {}
        try:
            imported = actions.put_objects(
                self.user,
                self.session,
                loaded,
                only=Key(kind, self.namespace, name),
                dry_run=self.dry_run,
                metadata=own,
            )
        except DeniedError as error:
            raise refusals.RefusalError(403, "Forbidden", str(error)) from error
        except InvalidError as error:
            faults = refusals.faults_of(error.causes)
            if not faults:
                raise
            raise refusals.invalid(self.resource, name, faults) from error
        self.warnings = self._warned(imported.findings, before, document) + unknown
        row = reading.find(self.sandbox.pk, self.resource, self.namespace, name)
        if row is None:
            return self._made(taken)
        if known and not self.dry_run and deleting.finish(self.user, self.session, row):
            gone = reading.document_of(row, self.resource)
            if not gone["metadata"].get("finalizers"):
                gone["metadata"].pop("finalizers", None)
            return gone
        if self.dry_run:
            return self._dry(taken, row)
        if not known:
            return reading.new_document(row, self.resource)
        shown = reading.document_of(row, self.resource)
        if self.of_status and kind in _CONTROLLED and document.get("status"):
            # As given, until the controller writes what it counts, which is at once.
            shown["status"] = {**shown.get("status", {}), **document["status"]}
        return shown

    def _own_metadata(
        self,
        document: Document,
        before: Document | None,
        managed: list[Document] | None,
    ) -> Document:
        """Return what an API server keeps of a write beside the object that was given."""
        own: Document = {"managedFields": managed} if managed else {}
        if self.resource.kind.kind in rollouts.KINDS:
            stamp = durations.stamp_text(reading.now_us(self.sandbox))
            if kept := rollouts.after(before, document, stamp):
                own[rollouts.KEPT] = kept
        if document["metadata"].get("generateName"):
            own["generateName"] = document["metadata"]["generateName"]
        return own

    def _warned(
        self, findings: Sequence[Cause], before: Document | None, document: Document
    ) -> list[str]:
        """Return what kubectl prints as warnings of a write."""
        return [
            f"{cause.field}: {cause.problem}" if cause.field else cause.problem.text
            for cause in findings
            if not cause.problem.text.startswith(UNKNOWN_FIELD)  # as `unknown` has them
            and not (cause.field == "kind" and self._is_said())
            and not cause.problem.code.startswith(_ELSEWHERE)
            and not (before and _as_before(cause.field, before, document))
        ]

    def _is_said(self) -> bool:
        """Return whether it need not be said that the kind is not simulated.

        Of what takes no part in decisions in a cluster either it is not said, of the
        rest with the first object of the kind.
        """
        if self.resource.kind.effect in _NOTHING_LOST:
            return True
        rows = reading.rows_of(self.sandbox.pk, self.resource, "")
        return bool(rows.count() > 1)

    def _dry(self, document: Document, row: StoredObject) -> Document:
        """Return what the object would be: its version and its status stay."""
        own = {n: v for n, v in row.manifest["metadata"].items() if n in _OF_SERVER}
        own["resourceVersion"] = str(row.revision)
        if kept := row.manifest["metadata"].get(rollouts.KEPT):
            own[rollouts.KEPT] = kept
        document = {**document, "metadata": {**document["metadata"], **own}}
        if row.status and not self.of_status:
            document["status"] = row.status
        owners = Owners.stored(self.sandbox.pk)
        made = in_version(document, self.resource)
        return reading.shown(made, self.resource, owners)

    def _made(self, document: Document) -> Document:
        """Return what would be made: with an identity, and no resourceVersion."""
        now = durations.stamp_text(reading.now_us(self.sandbox))
        metadata = document["metadata"]
        metadata |= {
            "uid": str(uuid.uuid4()),
            "creationTimestamp": now,
            "generation": 1,
        }
        return complete(in_version(document, self.resource), self.resource)

    def _with_status(self, given: Document) -> Document:
        """Return the object as it is, under the status that was given."""
        name = given["metadata"]["name"]
        row = reading.get(self.sandbox.pk, self.resource, self.namespace, name)
        present = reading.kept_document(row, self.resource)
        present["metadata"].pop("resourceVersion", None)
        return {**present, "status": given.get("status") or {}}


def _beside_status(document: Document, before: Document) -> Document:
    """Return an object with what its main resource does not change as it was."""
    found = {name: value for name, value in document.items() if name != "status"}
    if before.get("status"):
        found["status"] = before["status"]
    if document["kind"] == "Namespace":
        found.pop("spec", None)
        found |= {"spec": before["spec"]} if "spec" in before else {}
    return found


def _as_before(field: str, before: Document, document: Document) -> bool:
    """Return whether a field is as it was: what was said of it is no news."""
    return bool(field) and _value_at(before, field) == _value_at(document, field)


def _value_at(document: Any, field: str) -> Any:
    for name in re.findall(r"[^.\[\]]+", field):
        if isinstance(document, dict):
            document = document.get(name)
        elif (
            isinstance(document, list) and is_whole(name) and int(name) < len(document)
        ):
            document = document[int(name)]
        else:
            return None
    return document


def without_filled(after: Any, shown: Any, kept: Any) -> Any:
    """Return an object without what is as it was filled in when it was read.

    `shown` is the object as it was read, `kept` as it is kept. Items of a list are
    told apart by their names, or by their places where both are equally long.
    """
    if isinstance(after, dict) and isinstance(shown, dict):
        had = kept if isinstance(kept, dict) else {}
        return {
            name: without_filled(value, shown.get(name), had.get(name))
            for name, value in after.items()
            if name in had or name not in shown or shown[name] != value
        }
    if isinstance(after, list) and isinstance(shown, list) and isinstance(kept, list):
        if len(shown) != len(kept):
            return after
        pairs = dict(zip(_names(shown), zip(shown, kept, strict=True), strict=True))
        return [
            without_filled(item, *pairs.get(name, (None, None)))
            for name, item in zip(_names(after), after, strict=True)
        ]
    return after


def _as_kept(after: Document, shown: Document, kept: Document) -> Document:
    """Return an object with the owners, podsets and time of arrival that are kept of it.

    They are shown otherwise, and a write that gives them as they were shown means
    those that are kept.
    """
    metadata, had = after["metadata"], kept["metadata"]
    given = metadata.get("ownerReferences")
    if given == shown["metadata"].get("ownerReferences") and given != had.get(
        "ownerReferences"
    ):
        metadata = {**metadata, "ownerReferences": had.get("ownerReferences")}
    arrival = (had.get("annotations") or {}).get(ARRIVAL)
    if arrival and ARRIVAL not in (shown["metadata"].get("annotations") or {}):
        annotations = {**(metadata.get("annotations") or {}), ARRIVAL: arrival}
        metadata = {**metadata, "annotations": annotations}
    found = {**after, "metadata": metadata}
    if after["kind"] == "Workload":  # its pods' templates are shown without labels
        spec, was, own = (d.get("spec") or {} for d in (after, shown, kept))
        if "podSets" in own and spec.get("podSets") == was.get("podSets"):
            found["spec"] = {**spec, "podSets": own["podSets"]}
    return found


def _names(items: list[Any]) -> list[Any]:
    """Return what tells the items of a list apart."""
    names = [item.get("name") if isinstance(item, dict) else None for item in items]
    whole = None not in names and len(set(map(str, names))) == len(names)
    return [str(name) for name in names] if whole else list(range(len(items)))
