"""What an API server refuses of an object that is written, in its words.

First the types of its fields (400), then the values (422), by the kind. What passes
here is still held against the rules of the importer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.cluster import refusals
from api.cluster.checks import decoding, kinds, structural
from api.cluster.resources import Resource


def check(
    document: Mapping[str, Any],
    resource: Resource,
    *,
    name: str,
    before: Mapping[str, Any] | None = None,
) -> None:
    """Raise what refuses an object as it would be kept; `before` is what it changes.

    Both are completed: a default that is wrong beside what was given is wrong too.
    """
    type_ = resource.type_
    if not type_:
        return
    if resource.is_built_in:
        faults = kinds.faults(document, resource, before)
    else:
        kind = resource.kind.kind
        faults = structural.faults(document, type_, kind, before)
        if not faults:
            structural.ask_webhook(document, resource)
    if faults:
        raise refusals.invalid(resource, name, faults)


def check_status(document: Mapping[str, Any], resource: Resource, *, name: str) -> None:
    """Raise what refuses a custom resource for a status: its types, its webhook."""
    type_ = resource.type_
    if resource.is_built_in or not type_:
        return
    faults = structural.status_faults(document, type_, resource.kind.kind)
    if faults:
        raise refusals.invalid(resource, name, faults)
    if resource.kind.kind == "Workload":
        structural.ask_webhook(document, resource)


def check_types(
    document: Mapping[str, Any], resource: Resource, *, patches: bool
) -> None:
    """Raise what refuses an object whose fields are of other types.

    Of a custom resource these are faults of its schema, unless a webhook reads it first,
    which none does where it `patches`; its metadata is decoded as that of any object.
    """
    type_ = resource.type_
    if type_ and resource.is_built_in:
        decoding.check(document, type_, resource)
        return
    decoding.check(document.get("metadata") or {}, "meta.v1.ObjectMeta", resource)
    if type_ and not patches and resource.kind.kind in structural.DEFAULTED:
        problem = decoding.problem_of(document, type_)
        if problem is not None:
            webhook = f"m{resource.kind.kind.lower()}.kb.io"
            message = structural.denied(webhook, problem).message
            raise refusals.RefusalError(400, "", message)
