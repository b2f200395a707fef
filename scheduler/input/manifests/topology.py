"""Topologies, and what asks for topology: fields of podsets and annotations.

Source: docs/semantics/kueue-topology.md#what-is-refused.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import msgspec

from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.fields import expect_whole
from scheduler.model.amounts import is_whole
from scheduler.model.node import HOSTNAME
from scheduler.model.problems import Problem, Wanted, expected

Fields = dict[str, Any]

PREFIX = "kueue.x-k8s.io/podset-"
_REQUIRED, _PREFERRED = PREFIX + "required-topology", PREFIX + "preferred-topology"
_UNCONSTRAINED, _GROUP = PREFIX + "unconstrained-topology", PREFIX + "group-name"
_SLICE, _SIZE = PREFIX + "slice-required-topology", PREFIX + "slice-size"
_LAYERS = PREFIX + "slice-required-topology-constraints"
_MOST_LAYERS = 3
_LABEL = re.compile(
    r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-\w.]*[A-Za-z0-9])?"
)


def check_levels(document: Document, spec: Fields) -> None:
    """Check the levels of a Topology against each other.

    Raises ManifestError naming the field.
    """
    seen: list[str] = []
    for index, level in enumerate(spec["levels"]):
        label = level["nodeLabel"]
        if label in seen:
            path = f"spec.levels[{index}].nodeLabel"
            raise document.error(path, Problem.LEVEL.said(name=label))
        seen.append(label)
    if HOSTNAME in seen[:-1]:
        where = f"spec.levels[{seen.index(HOSTNAME)}].nodeLabel"
        raise document.error(where, Problem.HOSTNAME.said(literal=HOSTNAME))


def check_flavor_topology(document: Document, spec: Fields) -> None:
    """Check that a flavor with a Topology says which nodes are its own."""
    if spec.get("topologyName") and not spec.get("nodeLabels"):
        raise document.error("spec.nodeLabels", Problem.TOPOLOGY_LABEL.said())


def check_topology_request(document: Document, item: Fields, path: str) -> None:
    """Check the topologyRequest of a podset of a Workload."""
    where = f"{path}.topologyRequest"
    request = item.get("topologyRequest") or {}
    level = request.get("podSetSliceRequiredTopology")
    size = request.get("podSetSliceSize")
    if (level is None) is not (size is None):
        problem = expected(
            Wanted.TOGETHER.said(
                first="podSetSliceRequiredTopology", last="podSetSliceSize"
            )
        )
        raise document.error(where, problem)
    if size is not None:
        expect_whole(document, request, f"{where}.podSetSliceSize", least=1)


def check_annotations(document: Document, template: Fields, path: str) -> None:
    """Check what the annotations of a pod template ask of topology."""
    metadata = template.get("metadata")
    given = metadata.get("annotations") if isinstance(metadata, dict) else None
    if not isinstance(given, dict) or not any(k.startswith(PREFIX) for k in given):
        return
    where = f"{path}.metadata.annotations"
    _one_request(document, given, where)
    for name in (_REQUIRED, _PREFERRED, _SLICE):
        _label(document, given, where, name)
    if given.get(_UNCONSTRAINED, "true") not in ("true", "false"):
        problem = expected(Wanted.QUOTED_FLAG, given[_UNCONSTRAINED])
        raise document.error(f"{where}.{_UNCONSTRAINED}", problem)
    _slices(document, given, where)
    _group(document, given, where)


def _one_request(document: Document, given: Fields, where: str) -> None:
    asked = [n for n in (_REQUIRED, _PREFERRED, _UNCONSTRAINED) if n in given]
    if len(asked) > 1:
        problem = expected(Wanted.ONE_OF.said(known="them"), given=" and ".join(asked))
        raise document.error(f"{where}.{asked[1]}", problem)


def _label(document: Document, given: Fields, where: str, name: str) -> None:
    if name in given and not _LABEL.fullmatch(str(given[name])):
        problem = expected(Wanted.LABEL, given[name])
        raise document.error(f"{where}.{name}", problem)


def _slices(document: Document, given: Fields, where: str) -> None:
    if _LAYERS in given:
        for name in (_SLICE, _SIZE):
            if name in given:
                problem = expected(Wanted.NOT_BESIDE.said(name=name, other=_LAYERS))
                raise document.error(f"{where}.{name}", problem)
        _layers(document, given[_LAYERS], f"{where}.{_LAYERS}")
        return
    if (_SLICE in given) is not (_SIZE in given):
        name = _SLICE if _SLICE in given else _SIZE
        problem = expected(Wanted.TOGETHER.said(first=_SLICE, last=_SIZE))
        raise document.error(f"{where}.{name}", problem)
    size = str(given.get(_SIZE, "1"))
    if not is_whole(size) or int(size) < 1:
        problem = expected(Wanted.NUMBER_OR_MORE.said(least="1"), size)
        raise document.error(f"{where}.{_SIZE}", problem)


def _layers(document: Document, text: Any, where: str) -> None:
    layers = read_layers(text)
    if layers is None or not 1 <= len(layers) <= _MOST_LAYERS:
        problem = Problem.LAYERS.said(most=_MOST_LAYERS)
        raise document.error(where, problem)
    levels = [layer["topology"] for layer in layers]
    sizes = [layer["size"] for layer in layers]
    if len(set(levels)) < len(levels):
        raise document.error(where, expected(Wanted.EACH_ONCE))
    for outer, inner in pairwise(sizes):
        if outer % inner:
            problem = Problem.SIZES.said(first=outer, last=inner)
            raise document.error(where, problem)


def read_layers(text: Any) -> list[Fields] | None:
    """Return the entries of the annotation with layers; None if it cannot be parsed."""
    try:
        layers = msgspec.json.decode(str(text))
    except msgspec.DecodeError:
        return None
    if not isinstance(layers, list):
        return None
    for layer in layers:
        if not isinstance(layer, dict) or not isinstance(layer.get("topology"), str):
            return None
        if not isinstance(layer.get("size"), int) or layer["size"] < 1:
            return None
    return layers


def _group(document: Document, given: Fields, where: str) -> None:
    if _GROUP not in given:
        return
    if is_whole(str(given[_GROUP])):
        problem = expected(Wanted.NAME_NO_NUMBER, given[_GROUP])
        raise document.error(f"{where}.{_GROUP}", problem)
    if _REQUIRED not in given and _PREFERRED not in given:
        problem = Problem.WITH_IT.said(first=_REQUIRED, last=_PREFERRED)
        raise document.error(f"{where}.{_GROUP}", problem)
    for name in (_SLICE, _SIZE, _LAYERS):
        if name in given:
            raise document.error(
                f"{where}.{name}", expected(Wanted.NOT_IN_GROUP.said(name=name))
            )
