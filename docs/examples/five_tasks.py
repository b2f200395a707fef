"""The same five tasks with the package, without a server.

Usage: python five_tasks.py FILE...; needs pandas and matplotlib (`quotalab[notebook]`).
"""

from __future__ import annotations

import sys
from pathlib import Path

try:
    import quotalab
except ImportError:  # in a checkout, without installing anything
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    import api.notebook as quotalab

FAIR = {"kueue": {"fairSharing": {}}}


def sweep() -> str:
    """Two policies with five seeds: the runs as CSV, and a plot of the mean waits."""
    sb = quotalab.open(*sys.argv[1:])
    axis = {"kueue.fairSharing": [None, {}]}
    runs = quotalab.sweep(sb, axis, seeds=5, horizon="10m").frame()
    runs.to_csv("sweep.csv")
    runs.pivot(index="seed", columns="variant", values="waitMeanMs").plot()
    return f"{len(runs)} runs"


def main() -> int:
    """Ask why, see the shares, gate a change and move a job, in one sandbox."""
    sb = quotalab.open(*sys.argv[1:]).step(20)
    waiting = next(row for row in sb.workloads() if row["state"] == "Pending")
    print(sb.why(f"job/{waiting['job']}"))
    print(sb.shares().frame().max())
    sums = sb.what_if(policy=FAIR, horizon="10m").verdict().sums
    print(int(sums["later"][0] + sums["never"][0] > 0))
    sb.move(f"job/{waiting['job']}", "b")
    return 0


if __name__ == "__main__":
    print(sweep())
    sys.exit(main())
