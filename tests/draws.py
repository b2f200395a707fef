"""Draws that are other ones in each run, and the same again when asked for."""

from __future__ import annotations

import os
import random


def fresh(part: int = 0) -> tuple[int, random.Random]:
    """Return a seed of this run, other for each part, and what is drawn from it.

    A test that fails names the seed; `QUOTALAB_SEED=SEED` gives it to every draw.
    """
    given = os.environ.get("QUOTALAB_SEED")
    seed = int(given) if given else random.getrandbits(32) + part
    return seed, random.Random(seed)
