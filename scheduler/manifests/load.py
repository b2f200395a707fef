"""Texts to objects and policy: everything a file says, or what is wrong with it."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from scheduler.errors import (
    ManifestError,
    QuantityError,
    SchedulerError,
    SourceLocation,
)
from scheduler.kube.configuration.configuration import notices
from scheduler.manifests import changes, job_shapes, kinds, kubernetes, kueue, yunikorn
from scheduler.manifests.documents import (
    DEFAULT_LIMITS,
    Document,
    Limits,
    read_documents,
)
from scheduler.manifests.faults.further import further_faults
from scheduler.manifests.faults.parts import read_all
from scheduler.manifests.generator import generate, is_generator
from scheduler.manifests.unsimulated import unsimulated
from scheduler.records.annotations import PREFIX, read_timing
from scheduler.records.objects import Key, Object

Check = Callable[[Document], dict[str, Any]]
CHECKS: Mapping[str, Check] = {
    **kubernetes.CHECKS,
    **job_shapes.CHECKS,
    **kueue.CHECKS,
    "Change": changes.check_change,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something worth saying about the input.

    `error`: the document cannot be taken. `unsupported`: kept, not simulated.
    `warning`: taken, but probably not what was meant.
    """

    level: Literal["error", "unsupported", "warning"]
    place: SourceLocation
    problem: str
    sort: str = ""  # the problem without names: findings of one sort are counted

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}"


@dataclass(slots=True, kw_only=True)
class Loaded:
    """What the texts hold. Take nothing of it while `errors` is not empty."""

    objects: list[Object] = field(default_factory=list)
    policy: dict[str, Any] = field(default_factory=dict)  # patch of PolicySpec
    scenarios: list[Document] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    schedulers: list[dict[str, Any]] = field(default_factory=list)
    places: dict[Key, Document] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)  # names, in their order
    # (file, kind, what became of it) -> documents
    outcomes: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    @property
    def errors(self) -> list[Finding]:
        """Return the findings that forbid loading."""
        return [f for f in self.findings if f.level == "error"]

    def complain(self, error: ManifestError) -> None:
        """Add an error as a finding."""
        place = error.place or SourceLocation(file="input", line=1)
        finding = Finding(level="error", place=place, problem=error.problem)
        self.findings.append(finding)

    def refuse(self, file: str, error: SchedulerError) -> None:
        """Add an error about a whole file, or about the place that it names."""
        if not isinstance(error, ManifestError) or error.place is None:
            error = ManifestError(str(error), place=SourceLocation(file=file, line=1))
        self.complain(error)

    def warn(self, place: SourceLocation, problem: str) -> None:
        """Add a warning as a finding."""
        self.findings.append(Finding(level="warning", place=place, problem=problem))

    def leave_out_errors(self) -> None:
        """Leave out the objects that an error is about; the errors stay findings."""
        wrong = {(error.place.file, error.place.line) for error in self.errors}
        self.objects = [obj for obj in self.objects if not self._is_in(obj, wrong)]

    def _is_in(self, obj: Object, wrong: set[tuple[str, int]]) -> bool:
        if not wrong or obj.key.kind != "Cohort":  # other kinds are refused alone
            return False
        place = self.places[obj.key].place("spec.parentName")
        return (place.file, place.line) in wrong


def load(
    sources: Iterable[tuple[str, str]], *, limits: Limits = DEFAULT_LIMITS
) -> Loaded:
    """Read (file name, text) pairs; never raises for bad input.

    Every document is looked at, so that all problems are reported at once.
    """
    loaded = Loaded()
    for file, text in sources:
        loaded.files.append(file)
        documents, faults = read_all(text, file=file, limits=limits)
        for fault in faults:
            loaded.complain(fault)
            loaded.outcomes[file, "text", "refused"] += 1
        if not (documents or faults):
            place = SourceLocation(file=file, line=1)
            loaded.warn(place, "holds no document; nothing was taken of it")
        for document in documents:
            take_document(loaded, document)
    _refuse_if_nothing(loaded)
    loaded.objects.sort(key=_rank)
    return loaded


def _refuse_if_nothing(loaded: Loaded) -> None:
    """Make an error of what is no manifest, where there is nothing else."""
    if any(level != "refused" for _, _, level in loaded.outcomes):
        return
    loaded.findings = [
        replace(found, level="error") if found.sort == NO_MANIFEST else found
        for found in loaded.findings
    ]


#: Of files that lie beside manifests: a tool's configuration, a dashboard.
NO_MANIFEST = "not an object of a cluster: not taken"


#: What others look up by name comes first, whatever the order in the files.
_FIRST = (
    "Namespace",
    "PriorityClass",
    "WorkloadPriorityClass",
    "RuntimeClass",
    "LimitRange",
    "ResourceFlavor",
    "Cohort",
    "ClusterQueue",
    "LocalQueue",
    "Node",
    "PodDisruptionBudget",
    "PodGroup",
)


def in_order(objects: Iterable[Object]) -> list[Object]:
    """Return objects in the order in which a load of them puts them, then by key."""
    return sorted(objects, key=lambda obj: (_rank(obj), obj.key))


def _rank(obj: Object) -> int:
    kind = obj.key.kind
    return _FIRST.index(kind) if kind in _FIRST else len(_FIRST)


def take_document(loaded: Loaded, document: Document) -> None:
    """Add one document to what was loaded; what is wrong becomes a finding."""
    level = "refused"
    try:
        if problem := _no_manifest(document):
            _leave_aside(loaded, document, problem)
            return
        kind = _kind(document)
        level = "configuration"
        if kind is None:
            _take_bare(loaded, document)
        elif kind.level == "configuration":
            _take_configuration(loaded, document)
        else:
            _take_object(loaded, document, kind)
            level = kind.level
    except ManifestError as error:
        level = "refused"
        loaded.complain(error)
        for further in further_faults(document, error, _check_object):
            loaded.complain(further)
    except SchedulerError as error:
        level = "refused"
        loaded.complain(document.error("", str(error)))
    loaded.outcomes[document.file, document.kind or "queues.yaml", level] += 1


def _no_manifest(document: Document) -> str:
    """Return why a document is no object of a cluster; "" when it may be one.

    A kind of a group that is known whole is one, whatever it lacks.
    """
    if not document.kind and not document.api_version:
        known = yunikorn.holds_queues(document) or is_generator(document.data)
        return "" if known or _values(document) else "neither apiVersion nor kind"
    if not document.kind and not document.metadata:
        return f"apiVersion {document.api_version} and no kind"
    named = document.metadata.get("name") or document.metadata.get("generateName")
    group = kinds.split(document.api_version)[0]
    if named or document.kind in kinds.BY_KIND or group in kinds.GROUPS:
        return ""
    return f"a {document.kind or 'document'} of {group or 'no group'} without a name"


def _leave_aside(loaded: Loaded, document: Document, problem: str) -> None:
    loaded.findings.append(
        Finding(
            level="unsupported",
            place=document.place("kind"),
            problem=f"{problem}, so it is no object of a cluster: not taken",
            sort=NO_MANIFEST,
        )
    )
    loaded.outcomes[document.file, document.kind or "no kind", "refused"] += 1


def _values(document: Document) -> str:
    """Return the queues.yaml of a bare `queues.yaml: |`, as in a ConfigMap's data."""
    text = document.data.get(yunikorn.FILE)
    return text if isinstance(text, str) else ""


def _kind(document: Document) -> kinds.Kind | None:
    """Return the table's entry; None for a queues.yaml or a generator file."""
    if not document.kind and not document.api_version:
        return None
    for name in ("apiVersion", "kind"):
        if not isinstance(document.data.get(name), str) or not document.data[name]:
            raise document.error(name, "expected a text, found none")
    entry = kinds.BY_KIND.get(document.kind)
    group, version = kinds.split(document.api_version)
    if entry is None and group in KNOWN_WHOLE:
        raise document.error("kind", _unknown_kind(document.kind, group))
    if entry is None or (group != entry.group and group not in kinds.GROUPS):
        return _unknown(document, group, version)
    if group != entry.group:
        raise document.error(
            "apiVersion",
            f"{entry.kind} is of {entry.api_version}, got {document.api_version!r}",
        )
    if entry.level != "kept" and version not in entry.versions:
        known = ", ".join(entry.versions)
        raise document.error(
            "apiVersion",
            f"version {version!r} of {entry.kind} is not read; known: {known}",
        )
    return entry


#: Groups of which every kind is in the table: another one is a slip of the pen.
KNOWN_WHOLE = frozenset(
    {kinds.KUEUE, "config.kueue.x-k8s.io", "quotalab.dev", "batch", "apps", ""}
)


def _unknown(document: Document, group: str, version: str) -> kinds.Kind:
    """Return an entry for a kind that is not in the table: kept as it is.

    A kind of a name that the table has for another group keeps its group in it.
    """
    known = document.kind in kinds.BY_KIND
    return kinds.Kind(
        kind=f"{document.kind}.{group}" if known else document.kind,
        group=group,
        versions=(version,),
        plural=f"{document.kind.lower()}s",
        level="kept",
        namespaced="namespace" in document.metadata,
        note=f"a kind of {group} that decides nothing here{_way(group)}",
    )


#: Groups of systems whose manifests can be converted.
_CONVERTED = ("volcano.sh", "run.ai", "armadaproject.io")


def _way(group: str) -> str:
    """Return how a kind of another scheduler comes to decide something."""
    if group.endswith(_CONVERTED):
        return "; `quotalab convert` writes it in Kueue's terms"
    return ""


def _unknown_kind(kind: str, group: str) -> str:
    same_group = [e.kind for e in kinds.TABLE if e.group == group]
    near = difflib.get_close_matches(kind, same_group or list(kinds.BY_KIND), n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"unknown kind {kind!r} of group {group or 'core'!r}{hint}"


def _leave_out(loaded: Loaded, document: Document, path: str, problem: str) -> None:
    """Say that a field is kept and decides nothing."""
    place = document.place(path)
    loaded.findings.append(Finding(level="unsupported", place=place, problem=problem))


def _take_bare(loaded: Loaded, document: Document) -> None:
    if is_generator(document.data):
        _take_generated(loaded, document)
        return
    if text := _values(document):
        for inner in read_documents(text, file=document.file):
            _take_bare(loaded, inner)
        return
    yunikorn.read(document)  # says what is wrong with it, by line
    if "queues" in loaded.policy.get("yunikorn", {}):
        loaded.warn(document.place(), "takes the place of the queues.yaml before it")
    _merge_policy(loaded, document, {"yunikorn": {"queues": document.data}})


def _take_generated(loaded: Loaded, document: Document) -> None:
    """Take the objects that a generator file of Kueue stands for."""
    for obj in generate(document):
        if obj.key not in loaded.places:
            loaded.places[obj.key] = document
            loaded.objects.append(obj)


def _take_configuration(loaded: Loaded, document: Document) -> None:
    match document.kind:
        case "Configuration":
            kueue.check_configuration(document)
            _merge_policy(loaded, document, {"kueue": document.data})
            for path in kueue.kept_fields(document):
                _leave_out(loaded, document, path, "kept, not simulated")
        case "KubeSchedulerConfiguration":
            _add_scheduler(loaded, document)
        case "Policy":
            spec = document.data.get("spec")
            if not isinstance(spec, dict):
                raise document.error("spec", "expected an object")
            _merge_policy(loaded, document, spec)
        case _:
            loaded.scenarios.append(document)


def _add_scheduler(loaded: Loaded, document: Document) -> None:
    """Take a scheduler's configuration; several run side by side, as a List."""
    for path, text in notices(document.data):
        place = document.place(path)
        loaded.findings.append(Finding(level="warning", place=place, problem=text))
    if not loaded.schedulers:
        _merge_policy(loaded, document, {"kubeScheduler": document.data})
    loaded.schedulers.append(document.data)
    if len(loaded.schedulers) > 1:
        loaded.policy["kubeScheduler"] = {"kind": "List", "items": loaded.schedulers}


def _merge_policy(loaded: Loaded, document: Document, patch: dict[str, Any]) -> None:
    for section, value in patch.items():
        if section in loaded.policy and section not in ("yunikorn", "simulation"):
            raise document.error("", f"the policy section {section!r} is given twice")
        if isinstance(value, dict) and section in loaded.policy:
            value = {**loaded.policy[section], **value}
        loaded.policy[section] = value


def _check_object(document: Document) -> None:
    """Check an object as it is checked when it is taken. Raises ManifestError."""
    kind = _kind(document)
    if kind is not None and kind.level != "configuration":
        _checked(document, kind)


def _checked(document: Document, kind: kinds.Kind) -> tuple[Key, dict[str, Any]]:
    key = _key(document, kind)
    _check_annotations(document)
    check = CHECKS.get(document.kind)
    return key, check(document) if check else dict(document.data)


def _take_object(loaded: Loaded, document: Document, kind: kinds.Kind) -> None:
    key, manifest = _checked(document, kind)
    status = manifest.pop("status", None) or document.data.get("status") or {}
    obj = Object(key=key, manifest=_served(manifest, key, kind), status=dict(status))
    if key in loaded.places:
        _replace_earlier(loaded, document, obj)
    loaded.places[key] = document
    loaded.objects.append(obj)
    for path, note in unsimulated(manifest):
        _leave_out(loaded, document, path, note)
    if document.kind == "ConfigMap":
        _read_config_map(loaded, document)
    if kind.level == "kept" and kind.kind != "ConfigMap":
        loaded.findings.append(
            Finding(
                level="unsupported",
                place=document.place("kind"),
                problem=f"{kind.kind} {key.path}: not simulated, kept as it is: "
                + kind.note,
                sort=f"{kind.kind}: not simulated, kept as it is: {kind.note}",
            )
        )


def _replace_earlier(loaded: Loaded, document: Document, obj: Object) -> None:
    """Let the later of two count, as applying the files one by one would."""
    earlier = next(o for o in loaded.objects if o.key == obj.key)
    loaded.objects.remove(earlier)
    if earlier.manifest != obj.manifest:
        first = loaded.places[obj.key].place()
        loaded.findings.append(
            Finding(
                level="warning",
                place=document.place("metadata.name"),
                problem=f"{obj.key} replaces the one at {first}",
            )
        )


def _key(document: Document, kind: kinds.Kind) -> Key:
    metadata = document.data.get("metadata")
    if not isinstance(metadata, dict):
        raise document.error("metadata", "expected an object with a name")
    name = metadata.get("name") or _generated(document, metadata)
    if not isinstance(name, str) or not name:
        raise document.error("metadata.name", f"expected a name, got {name!r}")
    if len(name) > 253 or any(c in name for c in "/%\x00\n\t "):
        raise document.error("metadata.name", f"not a name: {name[:80]!r}")
    namespace = metadata.get("namespace") or "default"
    if not isinstance(namespace, str) or "/" in namespace or len(namespace) > 63:
        raise document.error("metadata.namespace", f"not a namespace: {namespace!r}")
    return Key(kind.kind, namespace if kind.namespaced else "", name)


def _generated(document: Document, metadata: dict[str, Any]) -> str | None:
    """Return a stable name for `generateName`: its place in the file counts."""
    prefix = metadata.get("generateName")
    if not isinstance(prefix, str) or not prefix:
        return None
    return f"{prefix}{document.place().line:05d}"


def _served(manifest: dict[str, Any], key: Key, kind: kinds.Kind) -> dict[str, Any]:
    """Return the manifest as served: newest version, names in, noise out."""
    metadata = {
        name: value
        for name, value in (manifest.get("metadata") or {}).items()
        if name not in ("managedFields", "generateName", "resourceVersion", "selfLink")
    }
    metadata["name"] = key.name
    if key.namespace:
        metadata["namespace"] = key.namespace
    version = kind.api_version if kind.level == "simulated" else manifest["apiVersion"]
    rest = {
        name: value
        for name, value in manifest.items()
        if name not in ("apiVersion", "kind", "metadata", "status")
    }
    return {
        "apiVersion": version,
        "kind": manifest["kind"],
        "metadata": metadata,
        **rest,
    }


def _check_annotations(document: Document) -> None:
    annotations = document.metadata.get("annotations") or {}
    for part in ("annotations", "labels"):
        given = document.metadata.get(part) or {}
        if not isinstance(given, dict):
            raise document.error(f"metadata.{part}", "expected an object of texts")
        for name, value in given.items():
            if not isinstance(value, str):
                raise document.error(
                    f"metadata.{part}.{name}",
                    f"expected a text (in quotes), got {value!r}",
                )
    if not any(name.startswith(PREFIX) for name in annotations):
        return
    try:
        read_timing(annotations)
    except QuantityError as error:
        raise document.error("metadata.annotations", str(error)) from error


def _read_config_map(loaded: Loaded, document: Document) -> None:
    """Take the policy that a ConfigMap of Kueue or YuniKorn holds, if any."""
    texts = document.data.get("data") or {}
    if not isinstance(texts, dict):
        raise document.error("data", "expected an object of texts")
    for name, text in texts.items():
        if not isinstance(text, str) or not name.endswith((".yaml", ".yml")):
            continue
        for inner in _inner(document, name, text):
            if inner.kind == "Configuration" or inner.kind.startswith("KubeScheduler"):
                _take_configuration(loaded, inner)
            elif not inner.kind and yunikorn.holds_queues(inner):
                _take_bare(loaded, inner)


def _inner(document: Document, name: str, text: str) -> list[Document]:
    at = document.place(f"data.{name}")
    try:
        return read_documents(text, file=f"{at.file}:{at.line} {name}")
    except ManifestError:
        return []  # not YAML of ours; a ConfigMap may hold anything
