"""What is read of a recording: a begin, events, and no seam where it was resumed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.model.errors import SchedulerError
from scheduler.recorded.absences import notes_on
from scheduler.recorded.qrec.reading import (
    Entry,
    Followed,
    Header,
    RecordedChange,
    read_followed,
    stamp,
)
from scheduler.recorded.qrec.watch_events import read_watch_events
from tests.recorded.absences import RERUN, not_replayed

KINDS = ["Node", "Pod"]
CHANGE = st.tuples(
    st.sampled_from(KINDS), st.sampled_from("abc"), st.integers(0, 3) | st.none()
)


def manifest(kind: str, name: str, value: int) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": name}, "spec": {"value": value}}


def listed(state: dict[tuple[str, str], int], at: int, **header: Any) -> list[Entry]:
    begin = Entry(stamp(at), "BEGIN", header=Header(kinds=KINDS, **header))
    objects = [
        Entry(stamp(at), "LISTED", kind, manifest(kind, name, value))
        for (kind, name), value in state.items()
    ]
    return [begin, *objects, *(Entry(stamp(at), "SYNCED", kind) for kind in KINDS)]


def change(state: dict[tuple[str, str], int], what: Any, at: int) -> list[Entry]:
    kind, name, value = what
    before = state.pop((kind, name), None)
    if value is None:
        gone = manifest(kind, name, before or 0)
        return [Entry(stamp(at), "DELETED", kind, gone)] if before is not None else []
    state[kind, name] = value
    added = "ADDED" if before is None else "MODIFIED"
    return [Entry(stamp(at), added, kind, manifest(kind, name, value))]


@given(st.lists(CHANGE), st.lists(CHANGE), st.lists(CHANGE))
def test_a_recording_that_was_resumed_ends_in_the_state_of_the_cluster(
    first: list[Any], missed: list[Any], then: list[Any]
) -> None:
    state: dict[tuple[str, str], int] = {("Pod", "a"): 1}
    entries = listed(state, 0)
    for number, what in enumerate(first):
        entries += change(state, what, 10 + number)
    for what in missed:
        change(state, what, 0)
    entries += listed(state, 1000, resumed=True)
    for number, what in enumerate(then):
        entries += change(state, what, 2000 + number)
    found = read_followed(entries)
    seen = {(m["kind"], m["metadata"]["name"]): m for m in found.standing}
    for event in found.events:
        place = event.object["kind"], event.object["metadata"]["name"]
        assert (event.type == "ADDED") == (place not in seen)
        assert seen.get(place) != event.object or event.type == "DELETED"
        if event.type == "DELETED":
            del seen[place]
        else:
            seen[place] = event.object
    assert {p: m["spec"]["value"] for p, m in seen.items()} == state
    assert [gap[1:3] for gap in found.gaps] == [(1000, "*")]


def test_times_are_the_clusters_also_where_the_recorders_clock_was_wrong() -> None:
    entries = listed({}, 0, skew_ms=300_000)
    assert read_followed(entries).start_us == 300_000_000


def test_lists_that_never_became_complete_are_said() -> None:
    with pytest.raises(SchedulerError, match="still missing: Pod"):
        read_followed(listed({}, 0)[:-1])


def test_what_kubectl_printed_is_read_with_the_times_of_its_objects() -> None:
    text = """
    {"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"a",
     "creationTimestamp":"1970-01-01T00:00:05Z"}}}
    {"type":"MODIFIED","object":{"kind":"Pod","metadata":{"name":"a",
     "creationTimestamp":"1970-01-01T00:00:05Z"},"status":{"startTime":"1970-01-01T00:00:09Z"}}}
    """
    found = read_followed(read_watch_events(text, "pods.json"))
    assert [m["metadata"]["name"] for m in found.standing] == ["a"]
    assert [(s.type, s.at_us) for s in found.events] == [("MODIFIED", 9_000_000)]


def test_what_several_commands_printed_is_one_history() -> None:
    def event(type: str, kind: str, name: str, second: int) -> str:
        times = {"creationTimestamp": f"1970-01-01T00:00:{second:02}Z"}
        item = {"kind": kind, "metadata": {"name": name, **times}}
        return json.dumps({"type": type, "object": item})

    queues = [
        event("ADDED", "ClusterQueue", "cq", 1),
        event("MODIFIED", "ClusterQueue", "cq", 9),
    ]
    work = [
        event("ADDED", "Workload", "first", 5),
        event("MODIFIED", "Workload", "first", 7),
        event("ADDED", "Workload", "second", 11),
    ]
    text = "\n".join([*queues, *work])
    found = read_followed(read_watch_events(text, "all.json"))
    assert [m["metadata"]["name"] for m in found.standing] == ["cq", "first"]
    assert [(s.object["metadata"]["name"], s.at_us // 10**6) for s in found.events] == [
        ("first", 7),
        ("cq", 9),
        ("second", 11),
    ]


def test_what_a_run_of_a_recording_leaves_out_of_it_is_said():
    def node(**spec):
        return {"kind": "Node", "metadata": {"name": "n"}, "spec": spec}

    ray = {"kind": "RayJob", "metadata": {"name": "r"}, "spec": {}}
    events = [
        RecordedChange(1, "MODIFIED", node()),  # its status alone
        RecordedChange(2, "MODIFIED", node(unschedulable=True)),
        RecordedChange(3, "DELETED", node(unschedulable=True)),
        RecordedChange(4, "ADDED", ray),
    ]
    found = Followed(standing=[node()], events=events)
    assert not_replayed(found, "x.qrec") == [
        "x.qrec: changes that a run does not replay: 2 Node",
        "x.qrec: work that does not arrive in a run, batch Jobs alone do: 1 RayJob",
    ]


def test_outages_and_deactivations_are_among_what_a_run_leaves_out():
    def workload(*, active: bool):
        return {
            "kind": "Workload",
            "metadata": {"name": "w", "namespace": "team"},
            "spec": {"active": active},
        }

    events = [RecordedChange(5, "MODIFIED", workload(active=False))]
    gaps = [(1_000_000, 4_000_000, "Pod", "connection refused")]
    found = Followed(standing=[workload(active=True)], events=events, gaps=gaps)
    assert not_replayed(found, "x.qrec") == [
        "x.qrec: 1 Workloads were deactivated (spec.active: false); a run does not "
        "repeat a deactivation by a person",
        "x.qrec: 1 outages of the recorder, 3 s in all; what changed in an outage "
        "counts from its end",
    ]


def test_pods_of_a_recording_without_claims_wait_for_none():
    volumes = [
        {"name": "v", "persistentVolumeClaim": {"claimName": "c"}},
        {"name": "w", "emptyDir": {}},
    ]
    spec = {"containers": [{"name": "c"}], "volumes": volumes}
    pod = {"kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    job = {
        "kind": "Job",
        "metadata": {"name": "j"},
        "spec": {"template": {"spec": spec}},
    }
    claim = {"kind": "PersistentVolumeClaim", "metadata": {"name": "c"}}
    without = Followed(standing=[pod], events=[RecordedChange(1, "ADDED", job)])
    without.leave_out_claims()
    assert without.standing[0]["spec"]["volumes"] == volumes[1:]
    template = without.events[0].object["spec"]["template"]
    assert template["spec"]["volumes"] == volumes[1:]
    (said,) = notes_on(without, None, RERUN, "x.qrec")
    assert said.startswith("x.qrec: pods claim volumes that were not recorded")
    having = Followed(standing=[pod, claim])
    having.leave_out_claims()
    assert having.standing == [pod, claim]
    assert notes_on(having, None, RERUN, "x.qrec") == []


def test_pods_of_a_recording_without_volumes_or_slices_wait_for_no_claim():
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
    spec = {"containers": [], "volumes": volumes, "resourceClaims": [{"name": "g"}]}
    pod = {"kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    bound = {"kind": "PersistentVolumeClaim", "spec": {"volumeName": "disk"}}
    device = {"kind": "ResourceClaim", "spec": {}}
    few = Followed(standing=[pod, bound, device, {"kind": "DeviceClass"}])
    few.leave_out_claims()
    assert few.standing[0]["spec"] == {"containers": [], "volumes": []}
    rest = [{"kind": "PersistentVolume"}, {"kind": "ResourceSlice"}]
    all_of_it = Followed(standing=[*few.standing[1:], pod, *rest])
    all_of_it.leave_out_claims()
    assert pod in all_of_it.standing
