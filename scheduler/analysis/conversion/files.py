"""Files with objects of another system's: in the terms of ours, losses by place."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler.analysis.conversion import foreign
from scheduler.analysis.conversion.converting import convert
from scheduler.analysis.conversion.foreign.writing import Manifest
from scheduler.assembly import Prepared, prepare
from scheduler.input.files.unpacking import Text, UnreadText
from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.faults.parts import read_all
from scheduler.input.manifests.loading.loaded import Finding, Loaded
from scheduler.input.manifests.stack_signs import stack_of
from scheduler.input.traces.taking import is_trace
from scheduler.model.errors import SourceLocation
from scheduler.model.objects import Object
from scheduler.model.sentence import Sentence
from scheduler.model.texts.plain_text import write_all
from scheduler.model.texts.values import DEFAULT_LIMITS, Limits
from scheduler.words.effects import Effect
from scheduler.words.losses import NotCarried

#: The file of what was written.
CONVERTED = "converted.yaml"
_OURS = ("uid", "creationTimestamp", "generation")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedLoss:
    """Something that is not carried over, and where it was said."""

    subject: str
    said: Sentence
    place: SourceLocation

    @property
    def lost(self) -> str:
        """Return what is lost, in English."""
        return self.said.text

    def __str__(self) -> str:
        return f"{self.subject}: {self.lost}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertedFiles:
    """The files to take instead: what was written first, the others as they are."""

    files: list[Text]
    losses: list[PlacedLoss]
    systems: list[str]  # whose objects were found: Volcano, KAI
    changed: list[str]  # files of which something was written anew
    kinds: dict[str, int]  # how many of each were written

    @property
    def unread(self) -> list[Finding]:
        """Return one error per file that could not be read."""
        loaded = Loaded()
        for _, text in self.files:
            if isinstance(text, UnreadText):
                loaded.complain(text.error)
        return loaded.findings


def convert_files(
    files: Iterable[Text],
    *,
    stack: str = "kueue",
    nodes: Iterable[Manifest] = (),
    limits: Limits = DEFAULT_LIMITS,
) -> ConvertedFiles:
    """Return files converted to a stack; files that need no change stay as given.

    `nodes` beside the files say how large the cluster is. A file that cannot be
    read stays too: whoever takes it says why. Raises SchedulerError when the
    conversion from one stack of ours to the other cannot be made.
    """
    found = _from_foreign(list(files), nodes, limits)
    prepared = prepare(found.files, limits=limits)
    given = prepared.loaded.policy.get("stack") or stack_of(prepared.loaded)
    if given == stack:
        return found
    return _to_stack(found, prepared, stack)


def _from_foreign(
    files: list[Text], nodes: Iterable[Manifest], limits: Limits
) -> ConvertedFiles:
    documents: list[Document] = []
    for name, text in files:
        if not (isinstance(text, UnreadText) or is_trace(name, text)):
            read, faults = read_all(text, file=name, limits=limits)
            documents += [] if faults else read
    writing = foreign.convert([one.data for one in documents], nodes=nodes)
    changed = set(_changed(documents, writing))
    made = [*writing.made, *_beside(documents, writing, changed)]
    rest = [file for file in files if file[0] not in changed]
    places = dict(_places(documents))
    first = next((name for name, _ in files if name in changed), CONVERTED)
    usual = SourceLocation(file=first, line=1)
    return ConvertedFiles(
        files=[(CONVERTED, write_all(made)), *rest] if made else rest,
        losses=[
            PlacedLoss(
                subject=loss.subject,
                said=loss.said,
                place=places.get(loss.subject, usual),
            )
            for loss in writing.losses
        ],
        systems=writing.systems,
        changed=[name for name, _ in files if name in changed],
        kinds=_kinds(made),
    )


def _kinds(documents: Iterable[Manifest]) -> dict[str, int]:
    return dict(Counter(str(one.get("kind")) for one in documents))


def _changed(documents: list[Document], writing: foreign.Writing) -> Iterator[str]:
    """Yield the files of which a document is another's, or was changed for one."""
    for one, copied, left in zip(
        documents, writing.copies, writing.left(), strict=True
    ):
        if not left or copied != one.data:
            yield one.file


def _beside(
    documents: list[Document], writing: foreign.Writing, changed: set[str]
) -> Iterator[Manifest]:
    """Yield what stays of the files that do not: their other objects."""
    for one, copied, left in zip(
        documents, writing.copies, writing.left(), strict=True
    ):
        if left and one.file in changed:
            yield copied


def _places(documents: list[Document]) -> Iterator[tuple[str, SourceLocation]]:
    """Yield where each object stands, by the names under which losses are noted."""
    for one in documents:
        metadata = one.metadata
        name = str(metadata.get("name") or one.data.get("name"))
        namespace = str(metadata.get("namespace") or "default")
        yield f"{one.kind} {name}", one.place()
        yield f"{one.kind} {namespace}/{name}", one.place()


def _to_stack(found: ConvertedFiles, prepared: Prepared, stack: str) -> ConvertedFiles:
    world = prepared.assemble().world
    made = convert(world.objects.values(), world.policy, stack=stack)
    policy = {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Policy",
        "metadata": {"name": "policy"},
        "spec": made.policy,
    }
    documents = [policy, *(document_of(obj) for obj in made.objects)]
    place = SourceLocation(file=CONVERTED, line=1)
    losses = [
        PlacedLoss(subject=loss.subject, said=loss.said, place=place)
        for loss in made.losses
    ]
    return ConvertedFiles(
        files=[(CONVERTED, write_all(documents))],
        losses=[*found.losses, *losses],
        systems=found.systems,
        changed=[name for name, _ in found.files if name != CONVERTED],
        kinds=_kinds(documents),
    )


def document_of(obj: Object) -> dict[str, Any]:
    """Return an object as it is given to another world: without what is a world's."""
    metadata = {n: value for n, value in obj.metadata.items() if n not in _OURS}
    document = {**obj.manifest, "metadata": metadata}
    return {**document, "status": obj.status} if obj.status else document


def findings_of(converted: ConvertedFiles) -> Sequence[Finding]:
    """Return what a conversion changed and lost as findings of the import."""
    systems = ", ".join(converted.systems)
    taken = NotCarried.FROM_STACK.said(file=CONVERTED)
    if systems:
        taken = NotCarried.FROM.said(systems=systems, file=CONVERTED)
    changed = (
        Finding("warning", SourceLocation(file=name, line=1), taken)
        for name in converted.changed
    )
    lost = (
        Finding(
            "unsupported",
            loss.place,
            NotCarried.OF.said(subject=loss.subject, what=loss.said),
            sort=NotCarried.SORT.said(what=loss.said),
            effect=Effect.NOT_CARRIED,
        )
        for loss in converted.losses
    )
    return list(itertools.chain(changed, lost))
