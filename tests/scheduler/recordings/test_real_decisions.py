"""What a change of a real cluster shows, also when states between were not seen."""

from __future__ import annotations

from typing import Any

from scheduler.assembly import assemble
from scheduler.model.decisions import Admit, Decision, Edit
from scheduler.model.objects import Key, Object
from scheduler.recorded.twin.real_decisions import Owners, decisions_of

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


def edited(
    was: dict[str, Any] | None, now: dict[str, Any] | None, kind: str = "ClusterQueue"
) -> list[Decision]:
    """Return what a change of a policy object shows."""
    world, key = assemble([]).world, Key(kind, "", "team-a")
    before = None if was is None else (was, {})
    after = None if now is None else Object(key=key, manifest=now, status={"n": 1})
    return list(decisions_of(world.context, 5, key, before, after, Owners(world)))


def test_an_edit_of_quota_that_somebody_made_is_an_event():
    was, now = {"spec": {"cohort": "x"}}, {"spec": {"cohort": "y"}}
    (edit,) = edited(was, now)
    assert isinstance(edit, Edit)
    assert (edit.action, edit.before, edit.after) == ("Update", was, now)
    assert edit.message == "somebody changes ClusterQueue team-a"
    made, gone = edited(None, now), edited(was, None)
    assert [one.reason for one in (*made, *gone)] == ["Create", "Delete"]


def test_an_edit_of_a_class_is_an_event_and_a_new_status_is_none():
    (edit,) = edited({"value": 1}, {"value": 2}, kind="WorkloadPriorityClass")
    assert edit.reason == "Update"
    same = {"spec": {"cohort": "x"}}
    assert edited(same, {**same, "metadata": {"generation": 2}}) == []
