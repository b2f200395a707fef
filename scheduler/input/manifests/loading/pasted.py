"""Texts as people paste them: Markdown around YAML, tables of kubectl, parts, placeholders.

What is meant is taken where that is certain, between fences. Of the rest is said what it
is and what makes a manifest of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from scheduler.model.errors import ManifestError
from scheduler.model.sentence import Sentence, few
from scheduler.model.texts.values import Limits, read_values
from scheduler.words.findings import Aside

_FENCE = re.compile(r"^([ \t]*)(`{3,}|~{3,})[ \t]*(\w*)[ \t]*$")
_LANGUAGES = ("", "yaml", "yml", "json")
#: The head of a table that kubectl prints: NAME, and another column.
_TABLE = re.compile(r"\s*(?:NAMESPACE +)?NAME +[A-Z][A-Z-]")
#: What a tool or a person fills in -> who.
_FILLED = (
    (re.compile(r"\$\{[^}]*\}|\$[A-Za-z_]\w*"), Aside.BY_ENVSUBST),
    (re.compile(r"<[A-Za-z][\w .-]*>"), Aside.BY_HAND),
)
#: What a template puts in by a name, and what it does beyond that: loops, conditions.
_TEMPLATED = re.compile(r"\{\{[^{}]*\}\}")
_CONTROL = re.compile(
    r"\{%|\{\{-?\s*(?:/\*|\$|"
    r"(?:if|else|end|range|with|define|include|template|block|toYaml|tpl)\b)"
)
#: Fields whose values a shell or a program reads: a `$` in them is theirs.
_OF_PROGRAMS = frozenset({"args", "command", "data", "env", "script", "stringData"})
#: A field that only the spec of one kind has -> that kind and its apiVersion.
_SPECS = {
    "resourceGroups": ("ClusterQueue", "kueue.x-k8s.io/v1beta2"),
    "clusterQueue": ("LocalQueue", "kueue.x-k8s.io/v1beta2"),
    "nodeLabels": ("ResourceFlavor", "kueue.x-k8s.io/v1beta2"),
    "podSets": ("Workload", "kueue.x-k8s.io/v1beta2"),
    "containers": ("Pod", "v1"),
    "replicatedJobs": ("JobSet", "jobset.x-k8s.io/v1alpha2"),
    "headGroupSpec": ("RayCluster", "ray.io/v1"),
    "rayClusterSpec": ("RayJob", "ray.io/v1"),
    "replicas": ("Deployment", "apps/v1"),
    "template": ("Job", "batch/v1"),
}
#: Names that the values of charts have, too: they say it below `spec` alone.
_OF_VALUES = frozenset({"replicas", "template", "nodeLabels"})


def unfenced(text: str) -> str:
    """Return what stands between a text's fences, each line where it was; "" for none.

    Fences of another language than YAML and JSON are left out with what they hold.
    """
    found, indent, mark, taken = [], "", "", False
    for line in text.splitlines():
        fence = _FENCE.match(line)
        if fence and not mark:
            indent, mark = fence[1], fence[2]
            taken = fence[3].lower() in _LANGUAGES
            found.append("---" if taken else "")
        elif fence and fence[2] == mark and not fence[3]:
            mark, taken = "", False
            found.append("")
        else:
            found.append(line.removeprefix(indent) if mark and taken else "")
    return "\n".join(found) if "---" in found else ""


def is_table(text: str) -> bool:
    """Return whether a text is a table as kubectl prints it for people."""
    return _TABLE.match(text) is not None


def part_of(data: dict[str, Any]) -> Sentence | None:
    """Return of what an object without apiVersion and kind is a part; None if unknown."""
    if isinstance(data.get("queues"), list):
        return Aside.QUEUES.said()
    inner = data.get("spec", data)
    for name, (kind, version) in _SPECS.items():
        if (
            isinstance(inner, dict)
            and name in inner
            and not (inner is data and name in _OF_VALUES)
        ):
            path = "spec" if "spec" in data else name
            return Aside.SPEC.said(path=path, kind=kind, version=version)
    return None


def placeholder_in(text: str, data: object = None) -> Sentence | None:
    """Return what fills a text's placeholder, with all of its kind; None for no such text.

    `data` is the document that the text is of.
    """
    for pattern, words in _FILLED:
        if pattern.search(text):
            given = [text, *_texts(data)]
            names = [name for one in given for name in pattern.findall(one)]
            return words.said(names=few(dict.fromkeys(names)))
    return None


def unfilled_in(text: str, file: str, limits: Limits) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each placeholder that a person may fill.

    Nothing of a template that does more than put names in. What programs read is left
    out where the text is YAML already. O(text).
    """
    text = unfenced(text) or text
    if _CONTROL.search(text):
        return
    try:
        values = list(_texts(read_values(text, file=file, limits=limits)))
    except ManifestError:
        values = [text]
    patterns = [*(pattern for pattern, _ in _FILLED), _TEMPLATED]
    known = {one for value in values for of in patterns for one in of.findall(value)}
    for number, line in enumerate(text.split("\n"), start=1):
        for pattern in patterns:
            for name in dict.fromkeys(pattern.findall(line)):
                if name in known:
                    yield number, name


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, dict):
        for name, one in value.items():
            if name not in _OF_PROGRAMS:
                yield from _texts(one)
