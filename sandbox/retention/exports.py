"""A sandbox as documents: its policy and its objects, as they are loaded."""

from __future__ import annotations

from typing import Any

from sandbox.models import Sandbox
from sandbox.world import manifests, worlds
from scheduler.input.manifests import kinds
from scheduler.model.objects import Object

_ORDER = {kind.kind: rank for rank, kind in enumerate(kinds.TABLE)}


def documents(sandbox: Sandbox, what: str, *, status: bool) -> list[dict[str, Any]]:
    """Return the policy, the objects, or both, in the order of the table of kinds."""
    found: list[dict[str, Any]] = []
    if what in ("all", "policy"):
        found.append(_policy(sandbox))
    if what in ("all", "objects"):
        objects = sorted(manifests.load(sandbox.pk), key=_rank)
        found += [_document(obj, status=status) for obj in objects]
    return found


def _policy(sandbox: Sandbox) -> dict[str, Any]:
    """Return the policy; where steps take no time it says so, or it would load with times."""
    document = worlds.policy_of(sandbox)
    simulation = {"latencies": None, **document["spec"].get("simulation", {})}
    return {**document, "spec": {**document["spec"], "simulation": simulation}}


def queues(sandbox: Sandbox) -> dict[str, Any]:
    """Return YuniKorn's queues.yaml."""
    document: dict[str, Any] = worlds.policy_of(sandbox)["spec"]["yunikorn"]["queues"]
    return document


def _rank(obj: Object) -> tuple[int, str, str]:
    return _ORDER.get(obj.key.kind, len(_ORDER)), obj.key.namespace, obj.key.name


def _document(obj: Object, *, status: bool) -> dict[str, Any]:
    return {**obj.manifest, "status": obj.status} if status else obj.manifest
