"""Records of a Workload's status: its conditions, and where a flavor search stopped."""

from __future__ import annotations

import msgspec


class Condition(msgspec.Struct, gc=False):
    """One condition; `since_us` moves only when the status flips."""

    status: bool
    reason: str
    message: str
    since_us: int
    generation: int = 0


class LastAssignment(msgspec.Struct):
    """Where the last flavor search stopped, podset by podset.

    By position of the podset, as Kueue's LastTriedFlavorIdx.
    -1: its resource group had no flavor left to try.
    Source: docs/semantics/kueue.md#continuing-a-flavor-search.
    """

    tried_flavors: tuple[dict[str, int], ...]
    cycle: int
    generation: int
    scheduling_hash: str

    @property
    def has_pending_flavors(self) -> bool:
        """Return whether a flavor is left that was not tried yet."""
        return any(
            index != -1 for part in self.tried_flavors for index in part.values()
        )
