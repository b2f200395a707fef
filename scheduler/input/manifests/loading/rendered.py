"""Files that a tool makes manifests of: which ones, and the command that does it.

A patch looks like an object and is a part of one; a template looks like YAML but is not
yet. What stands beside them says so: a kustomization that names the patch, a Chart.yaml
above the template.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler.input.manifests.documents import read_documents
from scheduler.model.errors import ManifestError
from scheduler.model.sentence import Sentence
from scheduler.words.findings import Aside

KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
#: Endings of Terraform's and OpenTofu's files.
TERRAFORM = (".tf", ".tf.json", ".tfvars", ".tofu")
#: Endings of files that no manifest has, and of which the report says more than that.
OTHERS = (*TERRAFORM, ".tpl")
#: Letters of a kustomization that is read for the files it names.
_LONGEST = 100_000
#: Fields of a kustomization that name files which are no objects by themselves.
_PARTS = (
    "configurations",
    "generators",
    "patches",
    "patchesJson6902",
    "patchesStrategicMerge",
    "replacements",
    "transformers",
    "validators",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedFiles:
    """What is known of some files by those beside them."""

    parts: Mapping[str, str] = field(
        default_factory=dict
    )  # file -> kustomization's folder
    charts: frozenset[str] = frozenset()  # their folders

    @classmethod
    def of(cls, sources: Iterable[tuple[str, str]]) -> RenderedFiles:
        """Return the relations between rendered files. Cost: O(files)."""
        parts: dict[str, str] = {}
        charts = set()
        for name, text in sources:
            folder, own = posixpath.split(name)
            if own in KUSTOMIZATIONS and len(text) <= _LONGEST:
                parts |= dict.fromkeys(_named(text, folder), folder)
            elif own == "Chart.yaml":
                charts.add(folder)
        return cls(parts=parts, charts=frozenset(charts))

    def whole(self, file: str) -> Sentence | None:
        """Return why nothing of a file is read; None where it is."""
        if (folder := self.parts.get(posixpath.normpath(file))) is not None:
            return Aside.PART.said(folder=folder or ".")
        for chart in self.charts:
            if file.startswith(posixpath.join(chart, "templates/")):
                return Aside.CHART.said(folder=chart or ".")
        return None

    def beside(self, file: str) -> Sentence | None:
        """Return the kind of a file without objects, such as part of a chart or Terraform."""
        if file.lower().endswith(TERRAFORM):
            return Aside.TERRAFORM.said()
        folder = posixpath.dirname(file)
        if folder in self.charts:
            return Aside.CHART.said(folder=folder or ".")
        return self.whole(file)


def _named(text: str, folder: str) -> Iterator[str]:
    """Yield the files that a kustomization names as parts of objects."""
    try:
        found = read_documents(text)
    except ManifestError:
        return  # the load says what is wrong with it
    for document in found:
        for name in _PARTS:
            given = document.data.get(name)
            for one in given if isinstance(given, list) else ():
                path = _path(one)
                if path and "\n" not in path:
                    yield posixpath.normpath(posixpath.join(folder, path))


def _path(given: Any) -> str:
    path = given.get("path") if isinstance(given, dict) else given
    return path if isinstance(path, str) else ""
