"""Check of Change: what a scenario does to an object at a time of its own."""

from __future__ import annotations

from typing import Any

from scheduler.input.manifests import queues_yaml
from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.fields import (
    check_patch,
    expect_choice,
    expect_flag,
    expect_known,
    expect_object,
    expect_text,
)
from scheduler.input.manifests.kinds import BY_KIND
from scheduler.model import schemas
from scheduler.model.problems import Form, Problem, Wanted, expected

NODE_ACTIONS = ("cordon", "uncordon", "drain", "fail", "recover")
_DOINGS = ("patch", "delete", "node")


def check_change(document: Document) -> dict[str, Any]:
    """Return a Change with its target's namespace filled in.

    Raises ManifestError naming the field.
    """
    spec = expect_object(document, document.data, "spec", needed=True)
    expect_known(document, spec, "spec", ("target", *_DOINGS))
    given = [name for name in _DOINGS if name in spec]
    if len(given) != 1:
        found = ", ".join(given) or "none"
        raise document.error(
            "spec", expected(Wanted.ONE_OF.said(known=f"{', '.join(_DOINGS)}: {found}"))
        )
    kind = _check_target(document, spec)
    known = BY_KIND[kind]
    if known.level == "simulated":
        type_ = schemas.listed(known.group, kind)
        check_patch(document, spec, "spec.patch", type_)
    elif kind == "ConfigMap" and queues_yaml.FILE in _texts(spec):
        raise document.error(
            f"spec.patch.data.{queues_yaml.FILE}", Problem.QUEUES_LATER.said()
        )
    expect_flag(document, spec, "spec.delete", default=True)
    if "node" in spec:
        expect_choice(document, spec, "spec.node", NODE_ACTIONS)
        if kind != "Node":
            raise document.error(
                "spec.target.kind", expected(Wanted.LITERAL.said(literal="Node"), kind)
            )
    manifest = document.copied()
    target = manifest["spec"]["target"]
    target["namespace"] = _namespace(target)
    return manifest


def _texts(spec: dict[str, Any]) -> Any:
    """Return what the patch of a ConfigMap says of its data."""
    patch = spec.get("patch")
    return (patch.get("data") if isinstance(patch, dict) else None) or ()


def _check_target(document: Document, spec: dict[str, Any]) -> str:
    target = expect_object(document, spec, "spec.target", needed=True)
    expect_known(document, target, "spec.target", ("kind", "name", "namespace"))
    expect_text(document, target, "spec.target.name")
    kind = expect_text(document, target, "spec.target.kind")
    if kind not in BY_KIND:
        raise document.error("spec.target.kind", Form.KIND.said(name=repr(kind)))
    return kind


def _namespace(target: dict[str, Any]) -> str:
    if not BY_KIND[target["kind"]].namespaced:
        return ""
    return str(target.get("namespace") or "default")
