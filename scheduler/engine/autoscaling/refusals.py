"""Why a NodeGroup or NodePool does not grow for a pod, and a code for each reason."""

from __future__ import annotations

from typing import Final

BACKOFF: Final = "backoff after failed scale-up"
FULL: Final = "max node group size reached"
NO_MATCH: Final = "its nodes do not match the pod's selector, affinity or tolerations"
TOO_SMALL: Final = "the pod does not fit on an empty node"
NO_TYPES: Final = "no InstanceType here meets its requirements"
NONE_HOLDS: Final = "the pod fits on none of its instance types"
LIMITS: Final = "its limits are reached"
MIN_VALUES: Final = "what takes the pod has fewer values than minValues asks for"
CLAIMS: Final = "the pod waits for its claims, not for a node"

#: Reason -> how those who translate it name it.
CODES: Final = {
    BACKOFF: "backoff",
    FULL: "full",
    NO_MATCH: "noMatch",
    TOO_SMALL: "tooSmall",
    NO_TYPES: "noTypes",
    NONE_HOLDS: "noneHolds",
    LIMITS: "limits",
    MIN_VALUES: "minValues",
    CLAIMS: "claims",
}


def code_of(reason: str) -> str:
    """Return the code of a reason; "" for none. A number in brackets may follow it."""
    return CODES.get(reason.partition(" (")[0], "")
