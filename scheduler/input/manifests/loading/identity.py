"""Which kind a document has, or why it has none."""

from __future__ import annotations

import difflib
import re
from dataclasses import replace
from typing import Any

from scheduler.input.manifests import kinds
from scheduler.input.manifests import queues_yaml as yunikorn
from scheduler.input.manifests.documents import Document, is_patch
from scheduler.input.manifests.generator import is_generator
from scheduler.input.manifests.loading.loaded import Finding, Loaded
from scheduler.input.manifests.loading.pasted import is_table, part_of, placeholder_in
from scheduler.input.manifests.loading.rendered import KUSTOMIZATIONS
from scheduler.model.errors import ManifestError, SourceLocation
from scheduler.model.problems import Form, Problem, Wanted
from scheduler.model.problems.library import NotYaml, plain_word
from scheduler.model.sentence import Sentence
from scheduler.words.effects import Effect
from scheduler.words.findings import Aside, Kept

#: The code of why a document is left aside -> what that changes.
ASIDE = {
    Aside.NO_OBJECT.value: Effect.NOT_TAKEN,  # a tool's configuration, a dashboard
    Aside.KUSTOMIZATION.value: Effect.NO_KUSTOMIZE,  # the files beside it count
    Aside.PATCH.value: Effect.NO_KUSTOMIZE,
    Aside.TEMPLATE.value: Effect.NOT_TAKEN,
    Aside.BY_ENVSUBST.value: Effect.NOT_TAKEN,
    Aside.BY_HAND.value: Effect.NOT_TAKEN,
    Aside.TABLE.value: Effect.NOT_TAKEN,
    Aside.QUEUES.value: Effect.NOT_TAKEN,
    Aside.SPEC.value: Effect.NOT_TAKEN,
    Aside.PART.value: Effect.NO_KUSTOMIZE,
    Aside.CHART.value: Effect.NOT_TAKEN,
    Aside.TERRAFORM.value: Effect.NOT_TAKEN,
}
#: The codes of texts that somebody, or a tool, fills in first.
UNFILLED = frozenset(
    {Aside.TEMPLATE.value, Aside.BY_ENVSUBST.value, Aside.BY_HAND.value}
)
#: The codes of faults in the YAML itself, in place of a limit or of what it says.
_BROKEN = (NotYaml.KNOWN.value, Problem.COLLECTION.value)
_NOT_READ = (*_BROKEN, Problem.NO_OBJECT.value, Problem.KEY_TWICE.value)
#: What stands in every text that could be of a cluster, and in few others: a word of a
#: text that no parser reads, a key, in a list's items too, of one that it reads. A key's
#: pattern stays in its line: one that runs on is tried anew from each line.
_OF_CLUSTER = re.compile(r"\b(apiVersion|kind|partitions|queues|spec)\b")
_KEY_OF_CLUSTER = re.compile(
    r"^(- *| *- +|[ \t{\[]*[\"'])?(apiVersion|partitions|queues)\b", re.MULTILINE
)
#: A template shows in the line that breaks, or in one of those before it.
_BEFORE = 2
#: Values of a chart that has YuniKorn's as a dependency: its name, `yunikornDefaults`.
_VALUES_DEEP = 4


#: The apiVersion of what Kustomize has built in.
_TRANSFORMER = ("", "builtin")
#: Of the core group's version, and yet no objects.
_ASIDE_OF_CORE = {
    "Config": Aside.KUBECONFIG,
    "Policy": Aside.SCHEDULER_POLICY,
    "Status": Aside.STATUS,
}


def no_manifest(document: Document) -> Sentence | None:
    """Return why a document is no object of a cluster; None when it may be one.

    A kind of a group that is known whole is one, whatever it lacks beside version, name
    and spec together.
    """
    if _is_kustomization(document):
        return Aside.KUSTOMIZATION.said()
    if document.api_version == "v1" and document.kind in _ASIDE_OF_CORE:
        return _ASIDE_OF_CORE[document.kind].said()
    if not document.kind and not document.api_version:
        if is_patch(document.data):
            return Aside.PATCH.said()
        known = yunikorn.holds_queues(document) or is_generator(document.data)
        if known or values_of(document):
            return None
        return part_of(document.data) or Aside.NEITHER.said()
    if not document.kind and not document.metadata:
        return Aside.NO_KIND.said(version=document.api_version)
    named = document.metadata.get("name") or document.metadata.get("generateName")
    group = kinds.split(document.api_version)[0]
    entry = kinds.BY_KIND.get(document.kind)
    of_other = entry is not None and entry.level == "configuration"
    # No version, name or spec: a tool's own `kind:`, as in values and change logs.
    others = document.data.keys() - {"kind"}
    bare = not document.api_version and others and "spec" not in others
    known = group in kinds.GROUPS or (entry is not None and not of_other)
    if named or (known and not bare):
        return None
    kind = document.kind or plain_word("document")
    return Aside.NO_NAME.said(kind=kind, group=group or plain_word("no group"))


def _is_kustomization(document: Document) -> bool:
    """Return whether Kustomize reads it; apiVersion and kind may be left out there."""
    group, version = kinds.split(document.api_version)
    if group == "kustomize.config.k8s.io" or (group, version) == _TRANSFORMER:
        return True
    named = document.file.rsplit("/", 1)[-1] in KUSTOMIZATIONS
    return named and document.kind in ("", "Kustomization") and not version


def leave_aside(loaded: Loaded, document: Document, problem: Sentence) -> None:
    """Report that a document is not a Kubernetes object, and why."""
    beside = loaded.rendered.beside(document.file)
    if problem.code not in ASIDE or (beside and problem.code == Aside.SPEC):
        problem = beside or Aside.BECAUSE.said(why=problem)
    say_aside(loaded, document.place("kind"), problem)
    loaded.outcomes[document.file, document.kind or "no kind", "refused"] += 1


def say_aside(loaded: Loaded, place: SourceLocation, problem: Sentence) -> None:
    """Report why something is skipped, without refusing the rest."""
    sort = problem if problem.code in ASIDE else Aside.NO_OBJECT.said()
    loaded.findings.append(
        Finding("unsupported", place, problem, sort=sort, effect=ASIDE[sort.code])
    )


def leave_text_aside(loaded: Loaded, text: str, fault: ManifestError) -> bool:
    """Report that a text is a template, a table, or nothing of a cluster; False for others.

    It is no reason to refuse the files beside it.
    """
    place = fault.place
    if place is None:
        return False
    if is_table(text):
        say_aside(loaded, place, Aside.TABLE.said())
        return True
    near = text.splitlines()[max(0, place.line - _BEFORE) : place.line]
    said = unfilled("\n".join(near))
    if fault.problem.code not in _BROKEN:
        said = None
    if said is None and fault.problem.code in _NOT_READ:
        broken = fault.problem.code in _BROKEN
        if (_OF_CLUSTER if broken else _KEY_OF_CLUSTER).search(text):
            return False
        said = Aside.BECAUSE.said(why=fault.problem)
    if said is not None:
        say_aside(loaded, place, said)
    return said is not None


def unfilled(text: str, data: object = None) -> Sentence | None:
    """Return what fills the placeholders of a text, which `data` holds; None for none."""
    return Aside.TEMPLATE.said() if "{{" in text else placeholder_in(text, data)


def values_of(document: Document) -> str:
    """Return the queues.yaml that a text without a kind holds, "" for none.

    It stands bare, as in a ConfigMap's data, or below a key of a chart's values.
    """
    left: list[dict[str, Any]] = [document.data]
    for _ in range(_VALUES_DEEP):
        for values in left:
            text = values.get(yunikorn.FILE)
            if isinstance(text, str):
                return text
        left = [
            one for values in left for one in values.values() if isinstance(one, dict)
        ]
    return ""


def kind_of(document: Document) -> kinds.Kind | None:
    """Return the table's entry; None for a queues.yaml or a generator file."""
    if not document.kind and not document.api_version:
        return None
    for name in ("apiVersion", "kind"):
        if not isinstance(document.data.get(name), str) or not document.data[name]:
            raise document.error(name, Form.FOUND_NONE.said(wanted=Wanted.TEXT))
    entry = kinds.BY_KIND.get(document.kind)
    group, version = kinds.split(document.api_version)
    group = kinds.FORMER_GROUPS.get((document.kind, group), group)
    if entry is None and group in KNOWN_WHOLE:
        raise document.error("kind", _unknown_kind(document.kind, group))
    of_group = kinds.BY_KIND.get(f"{document.kind}.{group}")
    if of_group is not None:
        read = version in of_group.versions
        return of_group if read else _unread(document, of_group, version)
    if entry is None or (group != entry.group and not _is_slip(group, entry)):
        return _unknown(document, group, version)
    if group != entry.group:
        raise document.error(
            "apiVersion",
            Problem.OTHER_THAN.said(
                kind=entry.kind,
                version=entry.api_version,
                given=repr(document.api_version),
            ),
        )
    versions = (*entry.versions, *kinds.FORMER.get(entry.kind, ()))
    if entry.level == "kept" or version in versions:
        return entry
    return _unread(document, entry, version)


def _is_slip(group: str, entry: kinds.Kind) -> bool:
    """Return whether a group is a slip of the pen for that of the kind.

    Each controller has a configuration of its own, and many call it Configuration.
    """
    known = KNOWN_WHOLE if entry.level == "configuration" else kinds.GROUPS
    return group in known


def _unread(document: Document, entry: kinds.Kind, version: str) -> kinds.Kind:
    """Return an entry for a version that is not read: kept as it is."""
    known = ", ".join(entry.versions)
    problem = Kept.VERSION.said(version=version, kind=document.kind, known=known)
    if entry.level == "configuration" or entry.group in KNOWN_WHOLE:
        raise document.error("apiVersion", problem)
    unknown = _unknown(document, entry.group, version)
    return replace(unknown, said=problem, effect=Effect.NOTHING_COUNTS)


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
        said=_note(document.kind, group),
        effect=Effect.NOBODY_KNOWS,
    )


#: Groups of systems whose manifests can be converted.
_CONVERTED = ("volcano.sh", "run.ai")


def _note(kind: str, group: str) -> Sentence:
    """Return that a kind decides nothing, and how it comes to decide something."""
    if group.endswith(_CONVERTED):
        return Kept.OTHER_CONVERTED.said(group=group)
    entry = kinds.BY_KIND.get(kind)
    if entry is not None and entry.level == "simulated":
        known = entry.api_version
        return Kept.OTHER_SIMULATED.said(group=group, kind=kind, known=known)
    return Kept.OTHER.said(group=group)


def _unknown_kind(kind: str, group: str) -> Sentence:
    same_group = [e.kind for e in kinds.TABLE if e.group == group]
    near = difflib.get_close_matches(kind, same_group or list(kinds.BY_KIND), n=1)
    holes = {"name": repr(kind), "group": repr(group or "core")}
    if near:
        return Form.KIND_OF_NEAR.said(**holes, near=near[0])
    return Form.KIND_OF.said(**holes)
