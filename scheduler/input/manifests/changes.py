"""Check of Change: what a scenario does to an object at a time of its own."""

from __future__ import annotations

from typing import Any

from scheduler.input.manifests import queues_yaml
from scheduler.input.manifests.documents import Document, read_documents
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
#: ConfigMaps of schedulers that do not go while a run goes on, and why.
_GONE = {
    "yunikorn-configs": Problem.QUEUES_GO,
    "yunikorn-defaults": Problem.QUEUES_GO,
    "kueue-manager-config": Problem.AT_START,
}
#: The groups of what a scheduler reads when it starts, and not again.
AT_START = ("config.kueue.x-k8s.io", "kubescheduler.config.k8s.io")


def check_change(document: Document) -> dict[str, Any]:
    """Return a Change with its target's namespace filled in.

    Raises ManifestError naming the field.
    """
    spec = expect_object(document, document.data, "spec", needed=True)
    known_to_people = {name: spec[name] for name in spec if name != "queues"}
    expect_known(document, known_to_people, "spec", ("target", *_DOINGS))
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
    elif known.level == "configuration":
        raise document.error("spec.target.kind", Problem.AT_START.said(name=kind))
    queues = _queues(document, spec) if kind == "ConfigMap" else None
    if spec.get("queues", queues) != queues:
        raise document.error("spec.queues", Problem.QUEUES_ONLY.said())
    expect_flag(document, spec, "spec.delete", default=True)
    if "node" in spec:
        expect_choice(document, spec, "spec.node", NODE_ACTIONS)
        if kind != "Node":
            raise document.error(
                "spec.target.kind", expected(Wanted.LITERAL.said(literal="Node"), kind)
            )
    manifest = document.copied()
    if queues is not None:
        manifest["spec"]["queues"] = queues
    target = manifest["spec"]["target"]
    target["namespace"] = _namespace(target)
    return manifest


def _queues(document: Document, spec: dict[str, Any]) -> dict[str, Any] | None:
    """Return the queues.yaml that the patch of a ConfigMap says, if it says one.

    YuniKorn follows it at once. What a scheduler reads when it starts alone is refused,
    and so is a ConfigMap of queues that goes: the queues would stay.
    """
    name = str(spec["target"]["name"])
    if name in _GONE and "delete" in spec:
        raise document.error("spec.delete", _GONE[name].said(name=name))
    patch = spec.get("patch")
    texts = (patch.get("data") if isinstance(patch, dict) else None) or {}
    if not isinstance(texts, dict):
        raise document.error("spec.patch.data", expected(Wanted.OBJECT_OF_TEXTS))
    for key, text in texts.items():
        if any(f"{group}/" in str(text) for group in AT_START):
            field = f"spec.patch.data.{key}"
            raise document.error(field, Problem.AT_START.said(name=name))
    if queues_yaml.FILE not in texts:
        return None
    place, text = f"spec.patch.data.{queues_yaml.FILE}", texts[queues_yaml.FILE]
    if text is None:
        raise document.error(place, Problem.QUEUES_GO.said(name=name))
    if not isinstance(text, str):
        raise document.error(place, expected(Wanted.TEXT))
    at = document.place(place)
    inner = read_documents(text, file=f"{at.file}:{at.line} {queues_yaml.FILE}")
    if not inner:
        raise document.error(place, Problem.NO_DOCUMENT.said())
    queues_yaml.read(inner[0])
    return inner[0].data


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
