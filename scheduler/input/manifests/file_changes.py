"""Changes of objects and of the policy, made in the files that they came from.

The files keep their comments, order and lines; what changes is a diff that `git apply`
and `patch -p1` take. A change that no file can take is named.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from scheduler.input.files.unpacking import UnreadText
from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.loading.identity import kind_of
from scheduler.input.manifests.queues_yaml import is_queues
from scheduler.input.manifests.versions import as_written
from scheduler.model.errors import ManifestError
from scheduler.model.objects import Key
from scheduler.model.texts.plain_text import write_all
from scheduler.model.texts.rewriting import (
    Edit,
    UnwritableError,
    Written,
    aligned,
    edits,
    rewritten,
    same,
    written,
)
from scheduler.model.texts.unified_diff import Changed, unified
from scheduler.model.texts.values import DEFAULT_LIMITS, Limits

#: The file that new objects come to; with a number where there is one of that name.
ADDED = "what-if.yaml"

_OURS = ("uid", "creationTimestamp", "generation", "resourceVersion", "managedFields")
_SECTION_OF = {"Configuration": "kueue", "KubeSchedulerConfiguration": "kubeScheduler"}
_OLD = ("/v1beta1", "/v1alpha1")
_MARK = re.compile(r"^---[^\n]*(?:\n|\Z)", re.MULTILINE)

Manifest = Mapping[str, Any]
#: noFile: the object is in none of the files; unwritable: it is there by an alias or a
#: merge key, or in a form that is not edited; action: it does what no file says.
Why = Literal["noFile", "unwritable", "action"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """What changes: objects and the policy's spec, as they are before and after."""

    objects: Mapping[Key, tuple[Manifest | None, Manifest | None]]
    policy: tuple[Manifest, Manifest] | None = None


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """A change that is in no file: of an object, or of a section of the policy."""

    kind: str  # "Policy": `name` is the section
    namespace: str
    name: str
    why: Why


class ChangedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file as it is after the changes; without a text it goes."""

    name: str
    text: str | None


class FilesPatch(msgspec.Struct, frozen=True, kw_only=True):
    """A unified diff, the files it changes, and what it leaves out."""

    diff: str
    files: list[ChangedFile]
    left: list[LeftOut]


@dataclass(slots=True)
class _File:
    name: str
    text: str  # without its mark of byte order
    mark: str
    documents: list[Written]
    after: dict[int, Any] = field(default_factory=dict)  # None: the document goes
    by: dict[int, list[tuple[str, str, str]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Place:
    file: _File
    index: int  # of the document
    item: int | None = None  # of its `items`

    def read(self) -> Any:
        whole = self.file.after.get(self.index, self.file.documents[self.index].data)
        return whole if self.item is None else whole["items"][self.item]

    def write(self, value: Any, of: tuple[str, str, str]) -> None:
        if self.item is not None:
            whole = self.file.after.get(
                self.index, self.file.documents[self.index].data
            )
            items = list(whole["items"])
            items[self.item] = value
            value = {**whole, "items": items}
        self.file.after[self.index] = value
        self.file.by.setdefault(self.index, []).append(of)


def patch_files(
    sources: Sequence[tuple[str, str]], steps: Steps, *, limits: Limits = DEFAULT_LIMITS
) -> FilesPatch:
    """Return the diff that makes the changes in files of (name, text).

    Where an object is in several files, the last counts, as it does when they are
    loaded. Raises ManifestError for a text that cannot be read. Cost: O(texts).
    """
    files = [_read(name, text, limits) for name, text in sources]
    left: list[LeftOut] = []
    added = list(_objects(files, steps, left))
    if steps.policy is not None:
        added += _policy(files, left, *steps.policy)
    changed = [one for file in files if (one := _changed(file, left, limits))]
    if added:
        name = _free_name({file.name for file in files})
        changed.append(Changed(name, None, write_all(added)))
    return FilesPatch(
        diff="".join(map(unified, changed)),
        files=[ChangedFile(name=one.name, text=one.after) for one in changed],
        left=left,
    )


def _read(name: str, text: str, limits: Limits) -> _File:
    if isinstance(text, UnreadText):
        raise text.error
    bare = text.removeprefix("\ufeff")
    mark = text[: len(text) - len(bare)]
    return _File(name, bare, mark, written(bare, file=name, limits=limits))


def _objects(
    files: Iterable[_File], steps: Steps, left: list[LeftOut]
) -> Iterator[Manifest]:
    """Note the changes at the places of the objects; yield those that are new."""
    places = {key: place for file in files for key, place in _places(file)}
    gone: list[tuple[_Place, Key]] = []
    for key, (before, after) in steps.objects.items():
        place = places.get(key)
        if place is None:
            if before is None and after is not None:
                yield _bare(after)
            elif before is not None and not _follows(key, before, steps):
                left.append(_left(*key, "noFile"))
        elif after is None:
            gone.append((place, key))
        else:
            raw = place.read()
            old = str(raw.get("apiVersion", "")).endswith(_OLD)
            one, other = (
                as_written(_bare(side), raw) if old else _bare(side)
                for side in (before or {}, after)
            )
            place.write(laid(raw, one, other), key)
    # From the end, so that the places of the others stay.
    for place, key in sorted(gone, key=lambda one: -(one[0].item or 0)):
        if place.item is None:
            place.write(None, key)
            continue
        whole = _Place(place.file, place.index)
        items = list(whole.read()["items"])
        del items[place.item]
        whole.write({**whole.read(), "items": items}, key)


def _follows(key: Key, manifest: Manifest, steps: Steps) -> bool:
    """Return whether it is made of an owner that changes too, as a Workload of a Job."""
    owners = (manifest.get("metadata") or {}).get("ownerReferences") or ()
    return any(
        Key(str(one.get("kind")), key.namespace, str(one.get("name"))) in steps.objects
        for one in owners
    )


def _places(file: _File) -> Iterator[tuple[Key, _Place]]:
    for index, document in enumerate(file.documents):
        data = document.data
        if not isinstance(data, dict):
            continue
        items = data.get("items")
        kind = str(data.get("kind") or "")
        if not (kind.endswith("List") and isinstance(items, list)):
            if key := _key(file.name, data):
                yield key, _Place(file, index)
            continue
        of = {"apiVersion": data.get("apiVersion"), "kind": kind.removesuffix("List")}
        for number, item in enumerate(items):
            if isinstance(item, dict) and (
                key := _key(file.name, item if item.get("kind") else {**item, **of})
            ):
                yield key, _Place(file, index, number)


def _key(file: str, data: dict[str, Any]) -> Key | None:
    document = Document(file=file, data=data)
    try:
        kind = kind_of(document)
    except ManifestError:
        return None
    if kind is None or kind.level == "configuration":
        return None
    _, namespace, name = document.key(namespaced=kind.namespaced)
    return Key(kind.kind, namespace, name)


# -- the policy


def _policy(
    files: Sequence[_File], left: list[LeftOut], before: Manifest, after: Manifest
) -> list[Manifest]:
    """Note the changes of sections where they stand; return what no file has."""
    rest: dict[str, Any] = {}
    for section in {**before, **after}:
        one, other = before.get(section), after.get(section)
        if same(one, other):
            continue
        if not _set_section(files, section, one, other, left):
            own = laid({}, one or {}, other) if section in _MERGED else other
            if (
                section == "simulation" and own and other
            ):  # once files have it, no latencies mean none
                own = {"latencies": other.get("latencies"), **own}
            rest[section] = own
    if not rest:
        return []
    for place, data in _all(files):
        if data.get("kind") == "Policy":
            spec = {**place.read().get("spec", {}), **rest}
            for section in rest:
                place.write({**place.read(), "spec": spec}, ("Policy", "", section))
            return []
    document = {"apiVersion": "quotalab.dev/v1", "kind": "Policy", "spec": rest}
    return [document]


#: Sections that several files may have parts of.
_MERGED = ("simulation", "yunikorn")


def _set_section(
    files: Sequence[_File], section: str, before: Any, after: Any, left: list[LeftOut]
) -> bool:
    """Note a section's change at the last place that has it; False where none has."""
    of = ("Policy", "", section)
    for place, data in reversed(list(_all(files))):
        spec = data.get("spec")
        if data.get("kind") == "Policy" and isinstance(spec, dict) and section in spec:
            now = place.read()
            value = laid(now["spec"][section], before, after)
            place.write({**now, "spec": {**now["spec"], section: value}}, of)
            return True
        if _SECTION_OF.get(str(data.get("kind"))) == section and after is not None:
            place.write(laid(place.read(), before, after), of)
            return True
        if section == "yunikorn" and _only_queues(before, after) and _holds(data):
            value = laid(place.read(), before["queues"], after["queues"])
            place.write(value, of)
            return True
        for name, inner in _texts(place, data):
            if _set_section([inner], section, before, after, left):
                now = place.read()
                try:
                    text = _text_of(inner)
                except UnwritableError:
                    left.append(_left(*of, "unwritable"))
                    return True
                place.write({**now, "data": {**now["data"], name: text}}, of)
                return True
    return False


def _only_queues(before: Any, after: Any) -> bool:
    if not (isinstance(before, Mapping) and isinstance(after, Mapping)):
        return False
    rest = [{k: v for k, v in one.items() if k != "queues"} for one in (before, after)]
    return same(*rest) and "queues" in before and "queues" in after


def _holds(data: Mapping[str, Any]) -> bool:
    return not data.get("kind") and is_queues(data)


def _texts(place: _Place, data: Mapping[str, Any]) -> Iterator[tuple[str, _File]]:
    """Yield the YAML texts that a ConfigMap holds."""
    held = data.get("data")
    if data.get("kind") != "ConfigMap" or not isinstance(held, dict):
        return
    for name, text in place.read()["data"].items():
        if name.endswith((".yaml", ".yml")) and isinstance(text, str):
            try:
                yield name, _read(name, text, DEFAULT_LIMITS)
            except ManifestError:
                continue


def _text_of(file: _File) -> str:
    """Return a text with changes of values; no document of it goes."""
    changed = file.after.items()
    found = [edits(file.text, file.documents[n], after) for n, after in changed]
    return rewritten(file.text, sorted(itertools.chain.from_iterable(found)))


def _all(files: Iterable[_File]) -> Iterator[tuple[_Place, dict[str, Any]]]:
    for file in files:
        for index, document in enumerate(file.documents):
            if isinstance(document.data, dict):
                yield _Place(file, index), document.data


# -- texts


def _changed(file: _File, left: list[LeftOut], limits: Limits) -> Changed | None:
    """Return a file with its changes; those that it cannot take go to `left`."""
    found: list[Edit] = []
    for index in [n for n, after in file.after.items() if after is not None]:
        try:
            found += edits(file.text, file.documents[index], file.after[index])
        except UnwritableError:
            left += [_left(*of, "unwritable") for of in file.by[index]]
            del file.after[index]
    data = [file.after.get(n, one.data) for n, one in enumerate(file.documents)]
    staying = [one for one in data if one is not None]
    if data and not staying:
        return Changed(file.name, file.mark + file.text, None)
    try:
        found += [_without(file, n) for n, one in file.after.items() if one is None]
        found.sort()
        text = rewritten(file.text, found)
        reads = [one.data for one in written(text, file=file.name, limits=limits)]
    except (UnwritableError, ManifestError):
        reads, text = [], file.text
    if not same(reads, staying):
        left += [
            _left(*of, "unwritable") for index in file.after for of in file.by[index]
        ]
        return None
    if text == file.text:
        return None
    moved = [Edit(len(file.mark) + b, len(file.mark) + e, new) for b, e, new in found]
    return Changed(file.name, file.mark + file.text, file.mark + text, moved)


def _without(file: _File, index: int) -> Edit:
    """Return the edit that takes a document out, with the comments right above it."""
    text, root = file.text, file.documents[index].root
    begin = text.rfind("\n", 0, root.start_mark.index) + 1
    while begin:
        above = text.rfind("\n", 0, begin - 1) + 1
        if not text[above:begin].startswith("#"):
            break
        begin = above
    following = _MARK.search(text, root.start_mark.index)
    if following is not None:
        return Edit(begin, following.end(), "")
    marks = [one.start() for one in _MARK.finditer(text, 0, begin)]
    if not marks:
        raise UnwritableError
    return Edit(marks[-1], len(text), "")


def _free_name(taken: set[str]) -> str:
    name, number = ADDED, 1
    while name in taken:
        number += 1
        name = ADDED.replace(".", f"-{number}.")
    return name


def _left(kind: str, namespace: str, name: str, why: Why) -> LeftOut:
    return LeftOut(kind=kind, namespace=namespace, name=name, why=why)


# -- data


def laid(raw: Any, before: Any, after: Any) -> Any:
    """Return `raw` with what differs between `before` and `after` changed.

    `raw` is `before` as somebody wrote it: without defaults, in another spelling.
    """
    if same(before, after):
        return raw
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        result = dict(raw) if isinstance(raw, Mapping) else {}
        for name in before:
            if name not in after:
                result.pop(name, None)
        for name, value in after.items():
            if not (name in before and same(before[name], value)):
                result[name] = laid(result.get(name), before.get(name), value)
        return result
    lists = all(isinstance(one, list) for one in (raw, before, after))
    if lists and len(raw) == len(before):
        return [
            after[new] if old is None else laid(raw[old], before[old], after[new])
            for old, new in aligned(before, after)
        ]
    return after


def _bare(manifest: Manifest) -> dict[str, Any]:
    """Return a manifest without what a world writes into it."""
    metadata = manifest.get("metadata") or {}
    own = {name: value for name, value in metadata.items() if name not in _OURS}
    return {**manifest, "metadata": own}
