"""What was loaded: objects, policy, scenarios, and what is to be said of the input."""

from __future__ import annotations

from collections import Counter
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal

from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.loading.rendered import RenderedFiles
from scheduler.model.errors import ManifestError, SchedulerError, SourceLocation
from scheduler.model.objects import Key, Object
from scheduler.model.problems import Wanted, expected
from scheduler.model.sentence import Sentence
from scheduler.model.texts.values import DEFAULT_LIMITS, Limits
from scheduler.words.effects import Effect, Gap

Level = Literal["error", "unsupported", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something worth saying about the input.

    `error`: the document cannot be taken. `unsupported`: kept, not simulated.
    `warning`: taken, but probably not what was meant.
    """

    level: Level
    place: SourceLocation
    said: Sentence
    _: KW_ONLY
    sort: Sentence | None = None  # without names: findings of one sort are counted
    effect: Effect = Effect.NONE  # what it changes for decisions

    @property
    def problem(self) -> str:
        """Return the problem in English."""
        return self.said.text

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}"


def unsupported(place: SourceLocation, gap: Gap) -> Finding:
    """Return the finding of something that is given and not simulated."""
    return Finding("unsupported", place, gap.problem, effect=gap.effect)


@dataclass(slots=True)
class Unread:
    """A field that is kept and decides nothing: how often, and where first."""

    place: SourceLocation
    effect: Effect  # of its being kept
    count: int = 0


@dataclass(slots=True, kw_only=True)
class Loaded:
    """What the texts hold. Take nothing of it while `errors` is not empty."""

    objects: list[Object] = field(default_factory=list)
    policy: dict[str, Any] = field(default_factory=dict)  # patch of PolicySpec
    scenarios: list[Document] = field(default_factory=list)
    loads: list[Document] = field(default_factory=list)  # what arrives, by processes
    findings: list[Finding] = field(default_factory=list)
    schedulers: list[dict[str, Any]] = field(default_factory=list)
    places: dict[Key, Document] = field(default_factory=dict)
    by_key: dict[Key, Object] = field(default_factory=dict)  # as first put
    files: list[str] = field(default_factory=list)  # names, in their order
    sources: dict[str, str] = field(default_factory=dict)  # the texts that were read
    rendered: RenderedFiles = RenderedFiles()  # noqa: RUF009 - it never changes
    limits: Limits = DEFAULT_LIMITS
    pods: int = 0  # that the objects would make
    named_releases: list[Any] = field(default_factory=list)  # `Seen` in metrics
    refused: set[tuple[str, str]] = field(default_factory=set)  # (namespace, name)
    # (file, kind, what became of it) -> documents
    outcomes: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    # (kind, field) of what is simulated -> that it decides nothing
    unread: dict[tuple[str, str], Unread] = field(default_factory=dict)

    @property
    def errors(self) -> list[Finding]:
        """Return the findings that forbid loading."""
        return [f for f in self.findings if f.level == "error"]

    def put(self, obj: Object, document: Document) -> None:
        """Put an object of a document; one with the key of an earlier takes its place.

        So applying the files one by one would. O(1).
        """
        earlier = self.by_key.setdefault(obj.key, obj)
        self.places[obj.key] = document
        if earlier is obj:
            self.objects.append(obj)
        else:
            earlier.manifest, earlier.status = obj.manifest, obj.status

    def check_room(self, coming: int, document: Document, field: str = "") -> None:
        """Refuse so many objects more before they are made. Raises ManifestError."""
        most, count = self.limits.objects, len(self.objects) + coming
        if most and count > most:
            raise document.error(
                field, expected(Wanted.AT_MOST_OBJECTS.said(most=most), given=count)
            )

    def complain(self, error: ManifestError) -> None:
        """Add an error as a finding."""
        place = error.place or SourceLocation(file="input", line=1)
        self.findings.append(
            Finding("error", place, error.problem, effect=Effect.LEFT_OUT)
        )

    def refuse(self, file: str, error: SchedulerError) -> None:
        """Add an error about a whole file, or about the place that it names."""
        if not isinstance(error, ManifestError) or error.place is None:
            error = ManifestError(error.said, place=SourceLocation(file=file, line=1))
        self.complain(error)

    def warn(
        self, place: SourceLocation, said: Sentence, sort: Sentence | None = None
    ) -> None:
        """Add a warning as a finding, of a sort that is counted where one is given."""
        self.findings.append(Finding("warning", place, said, sort=sort))

    def leave_out_errors(self) -> None:
        """Leave out the objects that an error is about; the errors stay findings."""
        wrong = {(error.place.file, error.place.line) for error in self.errors}
        self.objects = [obj for obj in self.objects if not self._is_in(obj, wrong)]

    def _is_in(self, obj: Object, wrong: set[tuple[str, int]]) -> bool:
        if not wrong or obj.key.kind != "Cohort":  # other kinds are refused alone
            return False
        place = self.places[obj.key].place("spec.parentName")
        return (place.file, place.line) in wrong


#: What others look up by name comes first, whatever the order in the files.
_FIRST = (
    "Namespace",
    "PriorityClass",
    "WorkloadPriorityClass",
    "RuntimeClass",
    "LimitRange",
    "ResourceQuota",
    "ResourceFlavor",
    "Cohort",
    "ClusterQueue",
    "LocalQueue",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CSINode",
    "DeviceClass",
    "ResourceSlice",
    "ResourceClaimTemplate",
    "ResourceClaim",
    "Node",
    "NodeResourceTopology",
    "PodDisruptionBudget",
    "PodGroup",
    "ElasticQuota",
)


def rank(obj: Object) -> int:
    """Return where objects of this kind come: what others name comes first."""
    kind = obj.key.kind
    return _FIRST.index(kind) if kind in _FIRST else len(_FIRST)
