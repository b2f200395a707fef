"""How long a job may be active before its controller fails it, by kind.

Source: docs/semantics/kueue-lifecycle.md#deadline-of-a-job.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Manifest = Mapping[str, Any]

_FIELD = "activeDeadlineSeconds"
_OWN = frozenset({"Job", "RayJob"})
_BY_RUN_POLICY = frozenset(
    {"PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "MPIJob"}
)
KINDS = frozenset({*_OWN, *_BY_RUN_POLICY, "JobSet"})


def deadline_of(manifest: Manifest) -> int | None:
    """Return the seconds for which a job may be active; None for as long as it takes.

    A JobSet that does not restart fails with the first of its Jobs that is late.
    """
    kind, spec = manifest.get("kind"), _object(manifest.get("spec"))
    if kind in _OWN:
        return _whole(spec)
    if kind in _BY_RUN_POLICY:
        return _whole(_object(spec.get("runPolicy")))
    if kind != "JobSet" or _object(spec.get("failurePolicy")).get("maxRestarts"):
        return None
    inner = [
        _object(_object(j).get("template")) for j in spec.get("replicatedJobs") or ()
    ]
    found = [_whole(_object(template.get("spec"))) for template in inner]
    return min((one for one in found if one is not None), default=None)


def _whole(holder: Manifest) -> int | None:
    given = holder.get(_FIELD)
    return given if isinstance(given, int) and given > 0 else None


def _object(given: Any) -> Manifest:
    return given if isinstance(given, Mapping) else {}
