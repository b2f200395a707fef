"""Texts to objects and policy: everything a file says, or what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from scheduler.input.files.unpacking import READ, UnreadText, is_read
from scheduler.input.manifests import kinds
from scheduler.input.manifests.documents import Document, documents_of
from scheduler.input.manifests.dumps import formats
from scheduler.input.manifests.dumps.run_times import status_instants
from scheduler.input.manifests.faults.parts import further_faults, read_all
from scheduler.input.manifests.job_shapes import check_pods
from scheduler.input.manifests.known_fields.finding import walk
from scheduler.input.manifests.loading.checking import check_object, checked, served
from scheduler.input.manifests.loading.configuration import (
    leave_out,
    read_config_map,
    take_bare,
    take_configuration,
)
from scheduler.input.manifests.loading.identity import (
    ASIDE,
    kind_of,
    leave_aside,
    leave_text_aside,
    no_manifest,
    say_aside,
    unfilled,
)
from scheduler.input.manifests.loading.loaded import Finding, Loaded, Unread, rank
from scheduler.input.manifests.loading.pasted import unfenced
from scheduler.input.manifests.loading.rendered import RenderedFiles
from scheduler.input.manifests.run_times import (
    take_owner_annotations,
    take_template_annotations,
)
from scheduler.input.manifests.simulation_gaps.unfollowed import unfollowed
from scheduler.input.manifests.simulation_gaps.unsimulated import (
    find_gated,
    unsimulated,
)
from scheduler.model.errors import ManifestError, SchedulerError, SourceLocation
from scheduler.model.objects import Object
from scheduler.model.problems import Problem, RequestProblem
from scheduler.model.sentence import Sentence
from scheduler.model.texts.plain_text import is_suspect, unstorable
from scheduler.model.texts.values import DEFAULT_LIMITS, Limits
from scheduler.words.effects import Effect
from scheduler.words.findings import Kept, Unknown

#: Endings of files of which only what stands between fences is read.
MARKDOWN = (".md", ".markdown")
#: A value that a problem shows as it was given.
_GIVEN = re.compile(r"'[^']*'")
EMPTY = Problem.DOCUMENTS.said()
UNREAD = RequestProblem.NOT_READ.said(known=", ".join(READ))


def load(
    sources: Iterable[tuple[str, str]],
    *,
    limits: Limits = DEFAULT_LIMITS,
    objects: Iterable[tuple[str, object]] = (),
) -> Loaded:
    """Read (file name, text) pairs; never raises for bad input.

    Every document is looked at, so that all problems are reported at once. `objects`
    are (place, object) pairs of what was read already: its findings have no lines.
    """
    sources = list(sources)
    loaded = Loaded(rendered=RenderedFiles.of(sources), limits=limits)
    for file, text in sources:
        loaded.files.append(file)
        if said := loaded.rendered.whole(file):
            say_aside(loaded, SourceLocation(file=file, line=1), said)
            loaded.outcomes[file, "text", "refused"] += 1
            continue
        if not isinstance(text, UnreadText):
            loaded.sources[file] = text
        _take_all(loaded, file, text, *_read(text, file, limits))
    for place, given in objects:
        loaded.files.append(place)
        _take_all(loaded, place, "", *_read(given, place, limits))
    for key, problem in status_instants(loaded.objects):
        loaded.warn(loaded.places[key].place("status"), problem)
    take_owner_annotations(loaded)
    find_gated(loaded)
    _refuse_if_nothing(loaded)
    loaded.objects.sort(key=rank)
    return loaded


def _take_all(
    loaded: Loaded,
    file: str,
    text: str,
    documents: list[Document],
    faults: list[ManifestError],
) -> None:
    for fault in faults:
        if not leave_text_aside(loaded, text, fault):
            loaded.complain(fault)
        loaded.outcomes[file, "text", "refused"] += 1
    if not (documents or faults):
        loaded.warn(SourceLocation(file=file, line=1), _why_nothing(file))
    for document in documents:
        take_document(loaded, document)


def _read(
    given: object, file: str, limits: Limits
) -> tuple[list[Document], list[ManifestError]]:
    if isinstance(given, UnreadText):
        return [], [given.error]
    if isinstance(given, str):
        documents, faults = read_all(given, file=file, limits=limits)
        if (faults or file.endswith(MARKDOWN)) and (text := unfenced(given)):
            documents, faults = read_all(text, file=file, limits=limits)
        if not is_suspect(given.encode("utf-8", "surrogatepass")):
            return documents, faults
    else:
        try:
            documents, faults = documents_of(given, file=file, limits=limits), []
        except ManifestError as error:
            return [], [error]
    good = []
    for document in documents:
        if place := next(unstorable(document.data), ""):
            problem = RequestProblem.TEXT_SUSPECT.said(given=place[:100])
            faults.append(document.error("", problem))
        else:
            good.append(document)
    return good, faults


def _why_nothing(file: str) -> Sentence:
    """Return why no document came of a file without faults.

    Of an archive (its path has a folder) only files of known names are unpacked.
    """
    return EMPTY if is_read(file) or "/" not in file else UNREAD


def _refuse_if_nothing(loaded: Loaded) -> None:
    """Make an error of what is no manifest, where there is nothing else."""
    if any(level != "refused" for _, _, level in loaded.outcomes):
        return
    loaded.findings = [
        replace(found, level="error")
        if found.sort and found.sort.code in ASIDE
        else found
        for found in loaded.findings
    ]


def refuse_if_nothing_came(loaded: Loaded) -> None:
    """Make errors of the files that hold nothing, where nothing came of the others."""
    if loaded.outcomes:
        return
    loaded.findings = [
        replace(found, level="error") if found.said in (EMPTY, UNREAD) else found
        for found in loaded.findings
    ]


def take_document(loaded: Loaded, document: Document) -> None:
    """Add one document to what was loaded; what is wrong becomes a finding."""
    level = "refused"
    try:
        if problem := no_manifest(document):
            leave_aside(loaded, document, problem)
            return
        kind = kind_of(document)
        level = "configuration"
        if kind is None:
            take_bare(loaded, document)
        elif kind.level == "configuration":
            take_configuration(loaded, document)
        else:
            _take_object(loaded, document, kind)
            level = kind.level
    except ManifestError as error:
        level = "refused"
        given = " ".join(_GIVEN.findall(error.problem.text))
        if said := unfilled(given, document.data):  # a value that a tool fills in
            say_aside(loaded, error.place or document.place(), said)
        else:
            loaded.complain(error)
            for further in further_faults(document, error, check_object):
                loaded.complain(further)
    except SchedulerError as error:
        level = "refused"
        loaded.complain(document.error("", error.said))
    if level == "refused":
        named = document.key()
        loaded.refused |= {(named.namespace, named.name), ("", named.name)}
    loaded.outcomes[document.file, document.kind or "queues.yaml", level] += 1


def _take_object(loaded: Loaded, document: Document, kind: kinds.Kind) -> None:
    key, manifest = checked(document, kind)
    if kind.level == "simulated":
        loaded.pods += check_pods(document, manifest, loaded.limits.pods)
    take_template_annotations(loaded, document, manifest)
    manifest, notes = formats.filled(manifest)
    status = manifest.pop("status", None) or document.data.get("status") or {}
    if kind.kind == "Node":
        status = formats.whole_devices(status)
    for note in notes:
        loaded.warn(document.place("metadata.annotations"), note)
    obj = Object(key=key, manifest=served(manifest, key, kind), status=dict(status))
    # Say that an object takes the place of another, where the two differ.
    earlier = loaded.by_key.get(obj.key, obj)
    if (earlier.manifest, earlier.status) != (obj.manifest, obj.status):
        first = loaded.places[obj.key].place()
        problem = Problem.REPLACES.said(key=obj.key, place=first)
        sort = Problem.REPLACES_KIND.said(kind=obj.key.kind)
        loaded.warn(document.place("metadata.name"), problem, sort)
    loaded.put(obj, document)
    for gap in (*unsimulated(manifest), *unfollowed(manifest)):
        leave_out(loaded, document, gap)
    if kind.level == "simulated":
        _name_fields(loaded, document)
    if kind.kind == "ConfigMap":
        read_config_map(loaded, document)
    if kind.level == "kept" and kind.kind != "ConfigMap":
        why = kind.said or ""
        loaded.findings.append(
            Finding(
                "unsupported",
                document.place("kind"),
                Kept.KIND.said(kind=kind.kind, name=key.path, note=why),
                sort=Kept.KINDS.said(kind=kind.kind, note=why),
                effect=kind.effect,
            )
        )


def _name_fields(loaded: Loaded, document: Document) -> None:
    """Name the fields that the kind lacks, and count those that decide nothing."""
    found = walk(document.data)
    unknown = (
        (Effect.UNKNOWN_FIELD, found.unknown_fields),
        (Effect.UNKNOWN_KEY, found.unknown_keys),
    )
    for effect, given in unknown:
        for path, problem in given:
            sort = Unknown.OF_KIND.said(kind=document.kind, what=problem)
            place = document.place(path)
            loaded.findings.append(
                Finding("warning", place, problem, sort=sort, effect=effect)
            )
    if document.kind == "Workload":
        return  # its podSets are those of its job, which counts them
    for field, count in found.unread.items():
        key = document.kind, field
        if key not in loaded.unread:
            place = document.place(found.first[field])
            loaded.unread[key] = Unread(place, found.effects[field])
        loaded.unread[key].count += count
