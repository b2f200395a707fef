"""Where one Workload is, as MultiKueue knows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True, kw_only=True)
class Dispatch:
    """The clusters of one reservation. Virtual milliseconds; None means not yet."""

    attempt: int = 0  # how often the Workload was evicted before
    cluster: str = ""  # that admitted its copy
    nominated: list[str] = field(default_factory=list)
    round_ms: int | None = None  # when clusters were nominated last
    lost_ms: int | None = None  # since when its cluster is not reached
    evictions: int = 0  # of the copy, before it was admitted

    def state(self) -> list[Any]:
        """Return plain values from which `from_state` makes it again."""
        return [
            self.attempt,
            self.cluster,
            list(self.nominated),
            self.round_ms,
            self.lost_ms,
            self.evictions,
        ]

    @classmethod
    def from_state(cls, values: list[Any]) -> Dispatch:
        """Return the dispatch that wrote these values."""
        attempt, cluster, nominated, round_ms, lost_ms, evictions = values
        return cls(
            attempt=attempt,
            cluster=cluster,
            nominated=list(nominated),
            round_ms=round_ms,
            lost_ms=lost_ms,
            evictions=evictions,
        )
