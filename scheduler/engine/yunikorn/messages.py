"""The messages that a user of YuniKorn sees.

Source: docs/semantics/yunikorn.md#messages
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

NOT_ENOUGH_USER_QUOTA: Final = "Not enough user quota"
NOT_ENOUGH_QUEUE_QUOTA: Final = "Not enough queue quota"
PRECONDITIONS_FAILED: Final = "Preemption preconditions failed"
GUARANTEES_FAILED: Final = "Preemption queue guarantees check failed"
SHORT_OF_RESOURCES: Final = "Preemption helped but short of resources"
DOES_NOT_HELP: Final = "Preemption does not help"
ATTEMPTS_EXHAUSTED: Final = "Preemption max attempts exhausted"
CLUSTER_IS_FULL: Final = "request is waiting for cluster resources become available"
NO_FIT_ON_REQUIRED_NODE: Final = "No fit on required node, preemption does not help"

#: Say nothing of the cause, and depend on how often an ask was looked at: they
#: are neither reported nor kept.
SILENT: Final = frozenset({PRECONDITIONS_FAILED, ATTEMPTS_EXHAUSTED})

TIMED_OUT: Final = "Scheduling has timed out due to insufficient resources"
PLACEHOLDER_TIMEOUT: Final = "releasing allocated placeholders on placeholder timeout"
PLACEHOLDER_DELETED: Final = "deleted with the pod that owns the placeholder"
PLACEHOLDER_INCOMPATIBLE: Final = "cancel placeholder: resource incompatible"
NO_PLACEMENT: Final = "application rejected: no placement rule matched"
INVALID_QUEUE_NAME: Final = (
    "invalid queue name, max 64 characters consisting of alphanumeric characters "
    "and '-', '_', '#', '@', '/', ':' allowed"
)


def not_placed(app: str, why: str) -> str:
    """Return why an application that no queue takes is rejected."""
    return f"failed to place application {app}: {why}"


def unsupported_sort(app: str, queue: str) -> str:
    """Return why a gang is rejected by a queue that is not first in, first out."""
    return (
        f"queue {queue} cannot run application {app} with task group request: "
        "unsupported sort type"
    )


def gang_too_large(
    app: str, queue: str, wanted: Mapping[str, int], most: Mapping[str, int]
) -> str:
    """Return why a gang is rejected that the max values of its queue never hold."""
    return (
        f"queue {queue} cannot fit application {app}: task group request "
        f"{_map(wanted)} larger than max queue allocation {_map(most)}"
    )


def parent_is_leaf(path: str) -> str:
    """Return why an application is rejected whose parent rule gives a leaf."""
    return f"parent rule returned a leaf queue: {path}"


def below_leaf(path: str, leaf: str) -> str:
    """Return why a queue cannot be made below a leaf."""
    return f"creation of queue {path} failed parent is already a leaf: {leaf}"


def _map(amounts: Mapping[str, int]) -> str:
    inside = " ".join(f"{name}:{value}" for name, value in sorted(amounts.items()))
    return f"map[{inside}]"


def preempted_by(key: str, app: str, queue: str) -> str:
    """Return the message of a victim's event."""
    return f"Preempted by {key} from application {app} in {queue}"


def preempted_by_quota(queue: str) -> str:
    """Return the message of the event of a victim of a reduced quota."""
    return f"Preempted by Quota change enforcement process in {queue}"


def replacing(key: str) -> str:
    """Return the message for a pod that replaces a placeholder."""
    return f"replacing allocationKey: {key}"
