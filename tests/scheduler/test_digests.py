"""The hash of a world that changes is that of a world which was always so."""

from __future__ import annotations

import random

import pytest

from scheduler.engine.worlds.encoding import Digests, Header
from scheduler.model.objects import Key, Object

HEADER = Header(now_ms=1, tick=2, seed=3, policy={})


def hash_anew(objects: dict[Key, Object]) -> str:
    fresh = Digests()
    for key in objects:
        fresh.change(key)
    return fresh.hash(HEADER, objects)


@pytest.mark.parametrize("seed", range(20))
def test_objects_that_come_change_and_go_leave_the_hash_of_those_that_are_there(seed):
    draw = random.Random(seed)
    kept, objects = Digests(), dict[Key, Object]()
    for turn in range(40):
        for _ in range(draw.choice([1, 3, 60])):
            key = Key(draw.choice("ABC"), draw.choice("xy"), str(draw.randrange(80)))
            if key in objects and draw.random() < 0.4:
                del objects[key]
                kept.remove(key)
            else:
                manifest = {"metadata": {}, "n": draw.random()}
                objects[key] = Object(key=key, manifest=manifest)
                kept.change(key)
        if turn % 3:
            assert kept.hash(HEADER, objects) == hash_anew(objects)
