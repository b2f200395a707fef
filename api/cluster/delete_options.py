"""DeleteOptions: how a deletion is asked for, in its body and in its query.

What is asked is done or refused; nothing of it is passed over.

Source: DeleteOptions (meta/v1) of
<https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/delete-options/>
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rest_framework.request import Request
from rest_framework.serializers import ValidationError

from api.views.base import flag, whole
from sandbox.base.errors import Cause, ConflictError
from sandbox.models import StoredObject

#: As every object; these ask for nothing.
_ENVELOPE = ("apiVersion", "kind")
_KEYS = (
    "dryRun",
    "gracePeriodSeconds",
    "orphanDependents",
    "preconditions",
    "propagationPolicy",
)
_POLICIES = ("Background", "Foreground", "Orphan")
#: What runs here ends at once; the API's smallest graces ask for just that.
_GRACES = (0, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteOptions:
    """What of a deletion is asked for that is not simply done."""

    dry_run: bool = False
    uid: str | None = None  # that the object must have
    version: str | None = None  # the resourceVersion that it must have

    def check(self, row: StoredObject) -> None:
        """Refuse an object that is not the one meant. Raises ConflictError."""
        for name, wanted, found in (
            ("UID", self.uid, row.uid),
            ("ResourceVersion", self.version, str(row.revision)),
        ):
            if wanted is not None and wanted != found:
                problem = (
                    f"the {name} in the precondition ({wanted[:64]}) does not match "
                    f"the {name} in record ({found})"
                )
                raise ConflictError(
                    f'Operation cannot be fulfilled on "{row.name}": {problem}',
                    causes=[Cause(problem=problem, field="preconditions")],
                )


def options_of(request: Request) -> DeleteOptions:
    """Return what a DELETE asks for: its body, where one is sent, and its query.

    Raises ValidationError for what is unknown or is not done here.
    """
    body = read_options(request.data, "")
    query = read_options(_of_query(request), "")
    if flag(request, "dryRun") and not body.dry_run:
        return DeleteOptions(dry_run=True, uid=body.uid, version=body.version)
    return body if request.data else query


def _of_query(request: Request) -> dict[str, Any]:
    """Return the options of the query, typed as in a body; the dry run apart."""
    given = request.query_params
    found: dict[str, Any] = {}
    if policy := given.get("propagationPolicy"):
        found["propagationPolicy"] = policy
    if grace := given.get("gracePeriodSeconds"):
        found["gracePeriodSeconds"] = grace if whole(grace) is None else whole(grace)
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
        raise _wrong(_at(path, "kind"), f"expected DeleteOptions, got {kind!r:.60}")
    _refuse_undone(given, path)
    wanted = given.get("preconditions") or {}
    if not isinstance(wanted, Mapping) or set(wanted) - {"uid", "resourceVersion"}:
        problem = f"expected uid and resourceVersion, got {wanted!r:.80}"
        raise _wrong(_at(path, "preconditions"), problem)
    return DeleteOptions(
        dry_run=_dry_run(given.get("dryRun"), path),
        uid=_text(wanted, "uid", path),
        version=_text(wanted, "resourceVersion", path),
    )


def _refuse_undone(given: Mapping[str, Any], path: str) -> None:
    policy = given.get("propagationPolicy")
    if policy not in (None, *_POLICIES):
        expected = ", ".join(_POLICIES)
        problem = f"expected one of {expected}, got {policy!r:.60}"
        raise _wrong(_at(path, "propagationPolicy"), problem)
    if policy == "Orphan" or given.get("orphanDependents"):
        name = "propagationPolicy" if policy == "Orphan" else "orphanDependents"
        problem = "dependents cannot be left behind here; they go with their owner"
        raise _wrong(_at(path, name), problem)
    grace = given.get("gracePeriodSeconds")
    if grace is not None and (isinstance(grace, bool) or grace not in _GRACES):
        problem = (
            "expected 0 or 1: what is deleted here is gone at once, with no grace; "
            f"got {grace!r:.40}"
        )
        raise _wrong(_at(path, "gracePeriodSeconds"), problem)


def _dry_run(given: Any, path: str) -> bool:
    if given in (None, []):
        return False
    if given != ["All"]:
        raise _wrong(_at(path, "dryRun"), f'expected ["All"], got {given!r:.60}')
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
