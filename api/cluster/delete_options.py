"""DeleteOptions: how a deletion is asked for, in its body and in its query.

What is asked is done or refused; nothing of it is passed over.

Source: DeleteOptions (meta/v1) of
<https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/delete-options/>
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from rest_framework.request import Request
from rest_framework.serializers import ValidationError

from api.cluster import refusals
from api.cluster.resources import Resource
from api.cluster.validation import is_dry
from api.views.base import flag, whole

#: As every object; these ask for nothing.
_ENVELOPE = ("apiVersion", "kind")
_KEYS = (
    "dryRun",
    "gracePeriodSeconds",
    "orphanDependents",
    "preconditions",
    "propagationPolicy",
)
_POLICIES = ("Foreground", "Background", "Orphan")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteOptions:
    """What of a deletion is asked for that is not simply done."""

    dry_run: bool = False
    uid: str | None = None  # that the object must have
    version: str | None = None  # the resourceVersion that it must have
    orphans: bool = False  # whether what it owns is left behind
    foreground: bool = False  # whether it goes after what it owns
    grace: int | None = None  # seconds that a pod has to end


def options_of(request: Request, resource: Resource) -> DeleteOptions:
    """Return what a DELETE asks for: its body, where one is sent, and its query.

    A Job's pods are left behind where nothing is said of them. Raises
    ValidationError for what is unknown or is not done here.
    """
    body = read_options(request.data, "")
    query = read_options(_of_query(request), "")
    if is_dry(request) and not body.dry_run:
        body = replace(body, dry_run=True)
    orphans = body.orphans or query.orphans or leaves_pods(request, resource)
    return replace(
        body if request.data else query, dry_run=body.dry_run, orphans=orphans
    )


def leaves_pods(request: Request, resource: Resource) -> bool:
    """Return whether a DELETE of Jobs says nothing of their pods, which then stay."""
    if resource.kind.kind != "Job" or resource.kind.group != "batch":
        return False
    given = request.data if isinstance(request.data, Mapping) else {}
    return not any(
        asked.get(name) is not None
        for asked in (given, request.query_params)
        for name in ("orphanDependents", "propagationPolicy")
    )


def _of_query(request: Request) -> dict[str, Any]:
    """Return the options of the query, typed as in a body; the dry run apart."""
    given = request.query_params
    found: dict[str, Any] = {}
    if policy := given.get("propagationPolicy"):
        found["propagationPolicy"] = policy
    if grace := given.get("gracePeriodSeconds"):
        negative = whole(grace.removeprefix("-"))
        if negative is None:
            why = f'strconv.ParseInt: parsing "{grace:.60}": invalid syntax'
            raise refusals.bad_request(why)
        found["gracePeriodSeconds"] = -negative if grace[:1] == "-" else negative
    if "orphanDependents" in given:
        found["orphanDependents"] = flag(request, "orphanDependents")
    return found


def read_options(given: Any, path: str) -> DeleteOptions:
    """Return DeleteOptions below a path of a body. Raises ValidationError."""
    if given in (None, "", {}):
        return DeleteOptions()
    if not isinstance(given, Mapping):
        raise _wrong(path, f"expected DeleteOptions, got {given!r:.60}")
    for key in given:
        if key not in (*_ENVELOPE, *_KEYS):
            near = difflib.get_close_matches(str(key), _KEYS, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise _wrong(
                _at(path, key), f"unknown key{hint}; known: {', '.join(_KEYS)}"
            )
    kind = given.get("kind")
    if kind not in (None, "", "DeleteOptions"):
        version = str(given.get("apiVersion") or "v1")[:60]
        raise refusals.bad_request(refusals.not_registered(f"{kind!s:.60}", version))
    _refuse_undone(given, path)
    wanted = given.get("preconditions") or {}
    if not isinstance(wanted, Mapping) or set(wanted) - {"uid", "resourceVersion"}:
        problem = f"expected uid and resourceVersion, got {wanted!r:.80}"
        raise _wrong(_at(path, "preconditions"), problem)
    return DeleteOptions(
        dry_run=_dry_run(given.get("dryRun"), path),
        uid=_text(wanted, "uid", path),
        version=_text(wanted, "resourceVersion", path),
        orphans=given.get("propagationPolicy") == "Orphan"
        or given.get("orphanDependents") is True,
        foreground=given.get("propagationPolicy") == "Foreground",
        grace=given.get("gracePeriodSeconds"),
    )


def _refuse_undone(given: Mapping[str, Any], path: str) -> None:
    policy = given.get("propagationPolicy")
    known = ", ".join(f'"{one}"' for one in (*_POLICIES, "nil"))
    faults = []
    if policy not in (None, *_POLICIES):
        why = f'Unsupported value: "{policy!s:.60}": supported values: {known}'
        faults.append(refusals.Fault(_at(path, "propagationPolicy"), why))
    elif policy is not None and given.get("orphanDependents") is not None:
        why = "orphanDependents and deletionPropagation cannot be both set"
        said = f'Invalid value: "{policy}": {why}'
        faults.append(refusals.Fault(_at(path, "propagationPolicy"), said))
    if faults:
        raise refusals.invalid_options("DeleteOptions", faults)
    grace = given.get("gracePeriodSeconds")
    if grace is not None and (isinstance(grace, bool) or not isinstance(grace, int)):
        problem = f"expected a whole number of seconds, got {grace!r:.40}"
        raise _wrong(_at(path, "gracePeriodSeconds"), problem)


def _dry_run(given: Any, path: str) -> bool:
    if given in (None, []):
        return False
    if given != ["All"]:
        listed = given if isinstance(given, list) else [given]
        shown = json.dumps([str(one)[:60] for one in listed[:10]])
        problem = f'Unsupported value: {shown}: supported values: "All"'
        fault = refusals.Fault(_at(path, "dryRun"), problem)
        raise refusals.invalid_options("DeleteOptions", [fault])
    return True


def _text(given: Mapping[str, Any], name: str, path: str) -> str | None:
    value = given.get(name)
    if value is not None and not isinstance(value, str):
        place = _at(_at(path, "preconditions"), name)
        raise _wrong(place, f"expected a text, got {value!r:.60}")
    return value


def _at(path: str, name: object) -> str:
    return f"{path}.{name}" if path else str(name)


def _wrong(path: str, problem: str) -> ValidationError:
    return ValidationError({path: problem})
