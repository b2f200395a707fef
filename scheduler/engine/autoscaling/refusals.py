"""Why a NodeGroup or NodePool does not grow for a pod; a number in brackets may follow."""

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
