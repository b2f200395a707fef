"""Run one cluster under two policies and print how long Workloads waited.

Start `./dev run` first. Usage: python compare_policies.py [ADDRESS] FILE...
"""

from __future__ import annotations

import sys
from pathlib import Path

try:
    from quotalab.client import Client
except ImportError:  # in a checkout, without installing the client
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from api.client import Client

TICKS = 20


def main(address: str, names: list[str]) -> None:
    """Print one line per policy."""
    client = Client(address)
    files = [(name, Path(name).read_text()) for name in names]
    for title, kueue in (("classical", {}), ("fair sharing", {"fairSharing": {}})):
        made = client.create(files=files, title=title, seed=1, policy={"kueue": kueue})
        client.step(made["id"], TICKS)
        rows = client.table(made["id"], "workloads", limit=5000)
        waits = [r["admittedMs"] - r["createdMs"] for r in rows if r["admittedMs"]]
        mean = sum(waits) / len(waits) / 1000 if waits else 0.0
        preempted = len(list(client.events(made["id"], type="Preempt")))
        print(
            f"{title:14} admitted {len(waits):4}  mean wait {mean:6.1f} s  "
            f"preemptions {preempted}"
        )


if __name__ == "__main__":
    given = sys.argv[1:]
    there = given.pop(0) if given[:1] and given[0].startswith("http") else ""
    main(there or "http://127.0.0.1:8000", given)
