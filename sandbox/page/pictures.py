"""A small picture of each scenario, from a run of it: its queues, nodes and troubles.

`python -m docs.written pictures` wrote them to `sandbox/pictures.json`; the start page
draws from that file, since a card cannot wait for a run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[1] / "pictures.json"
Picture = dict[str, Any]


@lru_cache(maxsize=1)
def pictures() -> Mapping[str, Picture]:
    """Return the pictures that were written, by scenario."""
    if not FILE.is_file():
        return {}
    found: dict[str, Picture] = json.loads(FILE.read_text(encoding="utf-8"))
    return found
