"""Run a sandbox until somebody is preempted; print the smallest world that shows it.

Start `./dev run` first. Usage: python smallest_world.py ADDRESS ID > smallest.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

try:
    from quotalab.client import Client
except ImportError:  # in a checkout, without installing the client
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from api.client import Client

MOST_TICKS = 200


def main(address: str, key: str) -> None:
    """Print a List that loads again: a scenario and the objects that it needs."""
    client = Client(address)
    until = {"untilEvent": {"type": "Preempt"}}
    client.operations.step(key, until)
    found = client.wait_until(key, lambda sandbox: not sandbox["playing"])
    events = list(client.events(key, type="Preempt"))
    if not events:
        sys.exit(f"nobody was preempted until tick {found['tick']}")
    place = f"{events[0]['revision']}.{events[0]['seq']}"
    smallest = client.operations.reproduction_read(key, place)
    print(json.dumps({"kind": "List", "items": smallest["documents"]}, indent=1))
    words = f"{smallest['decision']}: {smallest['before']} objects to"
    print(f"{words} {smallest['after']}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
