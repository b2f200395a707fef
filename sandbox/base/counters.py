"""What this process has counted and timed: of the service itself, not of a simulation.

Counting touches nothing but memory; `sandbox.process.services` brings the counts
of all processes together on the bus.
"""

from __future__ import annotations

import threading
from collections import defaultdict

#: Upper bounds of a tick's time, in seconds.
TICK_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
#: Parts the words of a refusal; in no name of a person.
REFUSED = "\x1f"

_lock = threading.Lock()
_counts: defaultdict[str, float] = defaultdict(float)
_sizes: dict[str, int] = {}


def count(name: str, by: float = 1) -> None:
    """Count one more of something, in this process."""
    with _lock:
        _counts[name] += by


def observe_tick(seconds: float) -> None:
    """Count a tick by how long it took."""
    bound = next((str(one) for one in TICK_BOUNDS if seconds <= one), "+Inf")
    with _lock:
        _counts[f"tick_le_{bound}"] += 1
        _counts["tick_seconds"] += seconds


def count_refused(status: int, why: str, person: str) -> None:
    """Count a request that was refused to somebody ("" = nobody who signed in)."""
    count(REFUSED.join(("", str(status), why, person)))


def note_size(name: str, change: int) -> None:
    """Add `change` to a size that rises and falls, such as the number of open sockets."""
    with _lock:
        _sizes[name] = _sizes.get(name, 0) + change


def take() -> tuple[dict[str, float], dict[str, int]]:
    """Return the counts since the last call, and the sizes now."""
    with _lock:
        counts = dict(_counts)
        _counts.clear()
        return counts, dict(_sizes)


def give_back(counts: dict[str, float]) -> None:
    """Add counts again that `take` returned and that could not be stored."""
    with _lock:
        for name, value in counts.items():
            _counts[name] += value
