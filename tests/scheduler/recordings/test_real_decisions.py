"""What a change of a real cluster shows, also when states between were not seen."""

from __future__ import annotations

from typing import Any

from scheduler.assembly import assemble
from scheduler.model.decisions import Admit
from scheduler.model.objects import Key, Object
from scheduler.recorded.twin.owners import Owners
from scheduler.recorded.twin.real_decisions import decisions_of

KEY = Key("Workload", "default", "train")


def admitted(at: str) -> dict[str, Any]:
    """Return the status of a Workload that was admitted at a time."""
    return {
        "conditions": [
            {"type": kind, "status": "True", "lastTransitionTime": at}
            for kind in ("QuotaReserved", "Admitted")
        ]
    }


def shown(was: dict[str, Any], now: dict[str, Any]) -> list[type]:
    """Return the kinds of decisions that a Workload's change shows."""
    world = assemble([]).world
    after = Object(key=KEY, manifest={"spec": {}}, status=now)
    found = decisions_of(world.context, 0, KEY, ({}, was), after, Owners(world))
    return [type(one) for one in found]


def test_an_admission_after_an_eviction_that_was_not_seen_is_shown():
    was, now = admitted("2027-01-01T00:00:00Z"), admitted("2027-01-01T00:00:09Z")
    assert shown(was, now) == [Admit]


def test_an_admission_that_stands_is_no_news():
    same = admitted("2027-01-01T00:00:00Z")
    assert shown(same, same) == []
