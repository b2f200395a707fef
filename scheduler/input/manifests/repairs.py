"""Findings that can be repaired: the document that is missing, the text to write instead.

Nothing is guessed: what may be meant in several ways has several choices, and what
only its author can know has none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler.input.manifests.load import load
from scheduler.input.manifests.loading.loaded import Finding, Loaded
from scheduler.input.manifests.missing_nodes import (
    nodes_by_quota,
    nodes_for_pods,
    nodes_of_pods,
)
from scheduler.model import amounts
from scheduler.model.admission_check import PROVISIONING
from scheduler.model.errors import QuantityError, SourceLocation
from scheduler.model.node import HOSTNAME
from scheduler.model.objects import NAMESPACE_NAME, Key, Object
from scheduler.model.problems import Form, Wanted
from scheduler.model.sentence import Sentence
from scheduler.model.texts.plain_text import write
from scheduler.words.findings import Kept, Missing, Unknown
from scheduler.words.read_as import Repairing

#: The file that documents are added to.
ADDED = "added.yaml"
#: ClusterQueues to choose from for one LocalQueue.
MOST_CHOICES = 20
#: Letters of a document that is read again to see whether a repair holds.
LONGEST_DOCUMENT = 100_000
#: Letters of a text that is repaired by replacing; each repair looks through all.
LONGEST_TEXT = 1_000_000
#: Repairs of texts that are tried per import; each reads one document again.
MOST_TRIED = 200

_KUEUE = "kueue.x-k8s.io/v1beta2"
_CLASSES = {"PriorityClass": "scheduling.k8s.io/v1", "WorkloadPriorityClass": _KUEUE}
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_AMOUNT = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]+)")
_INSIDE = re.compile(r"[\w.-]", re.ASCII)  # of a word
_MARK = re.compile(r"^---", re.MULTILINE)
#: A suffix in lower case, without the B of bytes -> Kubernetes' own. An "m" is
#: thousandths without that B and a million with it.
_BINARY = {f"{letter.lower()}i": f"{letter}i" for letter in "KMGTPE"}
_DECIMAL = {"k": "k", **{letter.lower(): letter for letter in "MGTPE"}}

#: Annotations that name a level of a topology.
LEVEL_ANNOTATIONS = tuple(
    f"kueue.x-k8s.io/podset-{word}"
    for word in ("required-topology", "preferred-topology", "slice-required-topology")
)

_HIDING = (Form.KIND_OF_NEAR.value, Kept.VERSION.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """One way to repair a finding.

    With a `line` (from 1) `new` takes the place of `old`, which stands there once;
    without one `document` is added at the end of the file, which may be new.
    """

    said: Sentence
    file: str
    line: int = 0
    old: str = ""
    new: str = ""
    document: str = ""


@dataclass(slots=True, kw_only=True)
class Repairs:
    """Who knows the repairs of what was found in some texts.

    `present` are the objects that are there beside them.
    """

    loaded: Loaded
    present: Iterable[Object] = ()
    _known: dict[Key, Object] | None = None
    _tried: int = 0

    @property
    def _objects(self) -> dict[Key, Object]:
        if self._known is None:
            both = (*self.present, *self.loaded.objects)
            self._known = {obj.key: obj for obj in both}
        return self._known

    def of(self, finding: Finding) -> tuple[Repair, ...]:
        """Return the possible repairs; a single one is offered as the repair.

        Cost: reading the document again, for a text that is replaced.
        """
        if (adding := _ADDING.get(finding.said.code)) is not None:
            return tuple(adding(self, finding.said.holes))
        replaced = _replacement(finding.place, finding.said)
        repair = self._in_place(finding.place, *replaced) if replaced else None
        if repair is None or not self._holds(repair, finding):
            return ()
        return (repair,)

    def _documents(self, holes: Mapping[str, Any]) -> Iterator[Repair]:
        kind, name = str(holes["kind"]), str(holes["name"])
        namespace = str(holes.get("namespace") or "")
        given = (namespace, name) in self.loaded.refused
        if given or not _NAME.fullmatch(name):
            return  # it is there, and wrong itself
        if kind == "ResourceFlavor":
            said = Repairing.ADD.said(kind=kind, name=name)
            yield _added(said, _KUEUE, kind, {"name": name})
        elif kind in _CLASSES:
            said = Repairing.ADD_CLASS.said(kind=kind, name=name)
            yield _added(said, _CLASSES[kind], kind, {"name": name}, value=0)
        elif kind == "Topology":
            yield self._topology(name)
        elif kind == "AdmissionCheck":
            said = Repairing.ADD_CHECK.said(name=name)
            spec = {"controllerName": PROVISIONING}
            yield _added(said, _KUEUE, kind, {"name": name}, spec=spec)
        elif kind == "LocalQueue":
            metadata = {"name": name, "namespace": namespace}
            for queue in self._queues()[:MOST_CHOICES]:
                said = Repairing.ADD_QUEUE.said(**metadata, queue=queue)
                spec = {"clusterQueue": queue}
                yield _added(said, _KUEUE, kind, metadata, spec=spec)

    def _queues(self) -> list[str]:
        return sorted(key.name for key in self._objects if key.kind == "ClusterQueue")

    def _topology(self, name: str) -> Repair:
        """Return one with the levels that jobs ask for, the host the last."""
        asked = {
            str(level)
            for obj in self.loaded.objects
            for annotations in _annotations(obj.manifest)
            for level in (annotations.get(word) for word in LEVEL_ANNOTATIONS)
            if level and level != HOSTNAME
        }
        levels = [*sorted(asked), HOSTNAME]
        said = Repairing.ADD_TOPOLOGY.said(name=name, levels=", ".join(levels))
        spec = {"levels": [{"nodeLabel": level} for level in levels]}
        return _added(said, _KUEUE, "Topology", {"name": name}, spec=spec)

    def _namespace(self, holes: Mapping[str, Any]) -> Iterator[Repair]:
        """Yield the namespace with labels that its ClusterQueue selects, where clear."""
        queue = self._objects[Key("ClusterQueue", "", str(holes["queue"]))]
        labels = _selected(queue.spec.get("namespaceSelector") or {})
        name = str(holes["name"])
        # An API server gives each namespace this label itself.
        if labels.pop(NAMESPACE_NAME, name) == name and labels:
            text = ", ".join(f"{key}={value}" for key, value in labels.items())
            said = Repairing.ADD_NAMESPACE.said(name=name, labels=text)
            yield _added(said, "v1", "Namespace", {"name": name, "labels": labels})

    def _nodes_of_pods(self, _: Mapping[str, Any]) -> Iterator[Repair]:
        count, document = nodes_of_pods(self.loaded.objects)
        if document:
            said = Repairing.ADD_NODES.said(n=count)
            yield Repair(said=said, file=ADDED, document=document)

    def _nodes_by_quota(self, _: Mapping[str, Any]) -> Iterator[Repair]:
        for one in nodes_by_quota(self._objects.values()):
            said = Repairing.ADD_NODES_OF.said(
                n=one.nodes, each=one.each, resource=one.resource
            )
            yield Repair(said=said, file=ADDED, document=one.document)

    def _nodes_for_pods(self, _: Mapping[str, Any]) -> Iterator[Repair]:
        count, document = nodes_for_pods(self._objects.values())
        if document:
            said = Repairing.ADD_NODES_FOR.said(n=count)
            yield Repair(said=said, file=ADDED, document=document)

    def _in_place(self, place: SourceLocation, old: str, new: str) -> Repair | None:
        """Return the repair where the text stands once in its line; else None.

        None for a text longer than LONGEST_TEXT. Cost: O(text).
        """
        text = self.loaded.sources.get(place.file, "")
        if len(text) > LONGEST_TEXT:
            return None
        lines = text.split("\n")
        line = lines[place.line - 1] if 0 < place.line <= len(lines) else ""
        last = place.field.rsplit(".", 1)[-1]
        said = Repairing.REPLACE.said(old=old, new=new)
        for before in ("", f"{last}: "):
            if len(_found(before + old, line)) == 1:
                return Repair(
                    said=said,
                    file=place.file,
                    line=place.line,
                    old=before + old,
                    new=before + new,
                )
        return None

    def _holds(self, repair: Repair, finding: Finding) -> bool:
        """Return whether the document reads without the finding and no worse."""
        text = self.loaded.sources[repair.file]
        changed = _replaced(text, repair)
        before = _document_at(text, repair.line)
        after = _document_at(changed, repair.line)
        self._tried += 1
        if len(after) > LONGEST_DOCUMENT or self._tried > MOST_TRIED:
            return False
        was, becomes = _sorts(before), _sorts(after)
        errors = {sort for sort in becomes if sort[0] == "error"}
        one = (finding.level, finding.place.field, finding.said.text)
        # Of a document whose kind or version is not known nothing else was checked.
        return one not in becomes and (finding.said.code in _HIDING or errors <= was)


def applied(
    sources: Sequence[tuple[str, str]], repairs: Iterable[Repair]
) -> list[tuple[str, str]]:
    """Return the texts with repairs applied, each once. Cost: O(texts x repairs)."""
    texts = dict(sources)
    done: set[tuple[str, int, str, str]] = set()
    for one in repairs:
        mark = (one.file, one.line, one.old, one.document)
        if mark in done:
            continue
        done.add(mark)
        text = texts.get(one.file, "")
        texts[one.file] = _replaced(text, one) if one.line else _appended(text, one)
    return list(texts.items())


def _appended(text: str, repair: Repair) -> str:
    if not text.strip():
        return repair.document
    return f"{text.rstrip(chr(10))}\n---\n{repair.document}"


def _replaced(text: str, repair: Repair) -> str:
    lines = text.split("\n")
    if not repair.old or repair.line > len(lines):
        return text
    line = lines[repair.line - 1]
    (start,) = _found(repair.old, line)[:1] or (None,)
    if start is not None:
        rest = line[start + len(repair.old) :]
        lines[repair.line - 1] = line[:start] + repair.new + rest
    return "\n".join(lines)


def _found(text: str, line: str) -> list[int]:
    """Return where a text stands in a line as a whole word."""
    found: list[int] = []
    at = line.find(text)
    while at >= 0:
        around = (line[at - 1 : at], line[at + len(text) : at + len(text) + 1])
        if not any(_INSIDE.match(letter) for letter in around):
            found.append(at)
        at = line.find(text, at + 1)
    return found


def _document_at(text: str, line: int) -> str:
    """Return the document of a YAML text that a line is in."""
    at = sum(len(one) + 1 for one in text.split("\n")[: line - 1])
    marks = [match.start() for match in _MARK.finditer(text)]
    begin = max((mark for mark in marks if mark <= at), default=0)
    end = min((mark for mark in marks if mark > at), default=len(text))
    return text[begin:end]


def _sorts(text: str) -> set[tuple[str, str, str]]:
    found = load([("document.yaml", text)]).findings
    return {(one.level, one.place.field, one.said.text) for one in found}


def _added(
    said: Sentence, version: str, kind: str, metadata: dict[str, Any], **rest: Any
) -> Repair:
    data = {"apiVersion": version, "kind": kind, "metadata": metadata, **rest}
    return Repair(said=said, file=ADDED, document=write(data))


def _replacement(place: SourceLocation, said: Sentence) -> tuple[str, str] | None:
    """Return the text that is wrong and the one that is meant, where one is."""
    holes = said.holes
    match said.code:
        case Form.GOT.value if _is_amount(holes.get("wanted")):
            old = _bare(holes.get("given"))
            new = amount_meant(old)
            return (old, new) if new else None
        case Form.UNKNOWN_NEAR.value | Form.NEAR_KEY.value:
            return place.field.rsplit(".", 1)[-1], str(holes["near"])
        case (
            Form.KIND_OF_NEAR.value | Unknown.FIELD_NEAR.value | Unknown.KEY_NEAR.value
        ):
            return _bare(holes.get("name")), str(holes["near"])
        case Kept.VERSION.value if "," not in str(holes.get("known")):
            return str(holes["version"]), str(holes["known"])
        case _:
            return None


#: The code of a finding -> who knows the documents that it lacks.
_ADDING: Mapping[str, Callable[[Repairs, Mapping[str, Any]], Iterator[Repair]]] = {
    Missing.NAMED.value: Repairs._documents,
    Missing.NAMED_IN.value: Repairs._documents,
    Missing.NAMESPACE.value: Repairs._namespace,
    Missing.NODES.value: Repairs._nodes_of_pods,
    Missing.NO_NODES.value: Repairs._nodes_by_quota,
    Missing.NOWHERE.value: Repairs._nodes_for_pods,
}


def _selected(selector: Mapping[str, Any]) -> dict[str, str]:
    """Return labels that a selector selects; {} where only its author knows them."""
    labels = {str(k): str(v) for k, v in (selector.get("matchLabels") or {}).items()}
    for term in selector.get("matchExpressions") or ():
        values = list(term.get("values") or [])
        if term.get("operator") != "In" or len(values) != 1:
            return {}
        labels[str(term.get("key"))] = str(values[0])
    return labels


def _annotations(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the annotations of an object and of all that it holds."""
    if isinstance(value, list):
        for one in value:
            yield from _annotations(one)
    elif isinstance(value, dict):
        given = value.get("annotations")
        if isinstance(given, dict):
            yield given
        for name, one in value.items():
            if name != "annotations":
                yield from _annotations(one)


def _is_amount(wanted: object) -> bool:
    amounts_ = (Wanted.QUANTITY.value, Wanted.QUANTITY_LIKE.value)
    return isinstance(wanted, Sentence) and wanted.code in amounts_


def _bare(given: object) -> str:
    return str(given).strip("'\"")


def amount_meant(given: str) -> str:
    """Return the quantity meant by one with a wrong suffix; "" when it is not clear.

    The B of bytes goes, letters take Kubernetes' case and no space stands between.
    """
    found = _AMOUNT.fullmatch(given.strip())
    if found is None:
        return ""
    number, suffix = found[1], found[2]
    letters = suffix.lower()
    bare = letters.removesuffix("b")
    known = _BINARY.get(bare) or _DECIMAL.get(bare)
    if suffix == "m" and known:
        known = "m"  # thousandths: only the space is wrong
    if known is None:
        return ""
    try:
        amounts.parse(meant := number + known)
    except QuantityError:
        return ""
    return "" if meant == given else meant
