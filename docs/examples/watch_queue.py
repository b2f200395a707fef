"""Print how each ClusterQueue's line grows and shrinks while a sandbox runs.

Start `./dev run` first. Usage: python watch_queue.py ADDRESS ID [TICKS]
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

try:
    from quotalab.client import AsyncClient
except ImportError:  # in a checkout, without installing the client
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from api.client import AsyncClient


async def main(address: str, key: str, ticks: int) -> None:
    """Step, look, print; one line per look."""
    client = AsyncClient(address)
    for _ in range(0, ticks, 5):
        sandbox = await client.step(key, 5)
        queues, events = await asyncio.gather(
            client.table(key, "clusterqueues"),
            client.events(key, type="Preempt"),
        )
        lines = [f"{q['name']} {q['counts']['pending']} waiting" for q in queues]
        print(f"tick {sandbox['tick']:4}  {', '.join(lines)}  {len(events)} preempted")


if __name__ == "__main__":
    wanted = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    asyncio.run(main(sys.argv[1], sys.argv[2], wanted))
