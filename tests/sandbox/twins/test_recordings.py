"""A sandbox that plays a recording: it shows what was, refuses edits, and is forked."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from sandbox import actions
from sandbox.actions import ticks
from sandbox.base.errors import ConflictError, ForbiddenError, InvalidError
from sandbox.explain.explaining import explain_event
from sandbox.models import Event, Sandbox
from sandbox.page import rows
from sandbox.page.rows import workloads
from sandbox.twins.ticks import last_tick
from sandbox.world import history, leases, worlds
from scheduler.model.decisions import Admit, Finish, Preempt
from scheduler.model.durations import stamp_us
from scheduler.model.objects import Key
from tests.sandbox.conftest import check_rows, job, row, text_of, tick
from tests.sandbox.twins.conftest import TICKS, Played, _conditions

pytestmark = pytest.mark.django_db


@pytest.fixture
def twin(person, played: Played) -> Sandbox:
    sandbox = actions.do_play_recording(person, [("prod.qrec", played.file())])
    actions.do_play(person, sandbox.pk, speed=0)
    return sandbox


def state_of(sandbox: Sandbox) -> dict[str, object]:
    world = worlds.fresh(row(sandbox))
    return {
        str(key): _conditions(world.get(key).status) for key in world.keys("Workload")
    }


def test_each_tick_shows_the_cluster_as_it_was(twin, played) -> None:
    for number in range(1, TICKS + 1):
        assert tick(twin), number
        assert state_of(twin) == played.states[number]
        if number % 8 == 0:
            check_rows(twin)


def test_ticks_of_a_recording_at_full_speed_share_a_commit(
    twin, played, monkeypatch
) -> None:
    monkeypatch.setattr(ticks, "WATCHED_S", 60.0)
    monkeypatch.setattr(ticks, "UNWATCHED_S", 60.0)
    claim = leases.take(twin.pk)
    assert claim is not None
    made = actions.do_ticks(claim, most=8)
    assert [step.tick for step in made] == list(range(1, 9))
    assert state_of(twin) == played.states[8]


def test_its_events_are_the_decisions_that_the_cluster_took(twin, played) -> None:
    tick(twin, TICKS)
    taken = Counter(
        (type(one).__name__, str(one.subject))
        for one in played.decisions
        if isinstance(one, Admit | Preempt | Finish)
        if one.subject.kind == "Workload"
    )
    shown = Event.objects.filter(sandbox=twin, type__in=["Admit", "Preempt", "Finish"])
    found = Counter(shown.values_list("type", "subject"))
    assert {k: n for k, n in found.items() if k[1].startswith("Workload/")} == taken


def test_it_stops_where_the_recording_ends(twin) -> None:
    assert len(tick(twin, TICKS + 10)) == row(twin).source["lastTick"]
    assert not row(twin).playing


def test_a_past_tick_is_scrubbed_like_any_other(twin, played) -> None:
    tick(twin, 20)
    world = history.world_at(row(twin), history.revision_at(row(twin), 7))
    shown = {str(k): _conditions(world.get(k).status) for k in world.keys("Workload")}
    assert shown == played.states[7]


def test_nothing_edits_it(twin, person) -> None:
    before = row(twin)
    for edit in (
        lambda: actions.do_import(person, twin.pk, [("j.yaml", text_of(job("x")))]),
        lambda: actions.do_delete(person, twin.pk, [Key("ClusterQueue", "", "a")]),
        lambda: actions.do_policy(person, twin.pk, {}, patch=True, dry_run=True),
        lambda: actions.do_rewind(person, twin.pk, tick=0),
        lambda: actions.do_undo(person, twin.pk),
        lambda: actions.do_node(person, twin.pk, "n", "cordon"),
    ):
        with pytest.raises(ForbiddenError, match="shows a real cluster"):
            edit()
    assert row(twin).hash == before.hash


def test_its_title_and_clock_are_its_owners(twin, person) -> None:
    actions.do_rename(person, twin.pk, "Production")
    actions.do_pause(person, twin.pk)
    assert (row(twin).title, row(twin).playing) == ("Production", False)


def test_a_fork_knows_what_arrived_afterwards(twin, person, played) -> None:
    tick(twin, 3)
    fork = actions.do_fork(person, twin.pk)
    assert not fork.is_real
    assert (
        state_of(fork).items()
        >= {key: value for key, value in played.states[3].items() if value}.items()
    )
    actions.do_play(person, fork.pk, speed=0)
    tick(fork, 100)
    check_rows(fork)
    finished = {
        key for key, value in state_of(fork).items() if ("Finished", "True") in value
    }
    assert len(finished) == len(played.states[-1])


def test_a_fork_is_edited_as_any_sandbox(twin, person) -> None:
    tick(twin, 5)
    fork = actions.do_fork(person, twin.pk, tick=2)
    actions.do_import(person, fork.pk, [("j.yaml", text_of(job("x", queue="a-queue")))])
    check_rows(fork)


def test_a_real_preemption_is_not_explained_as_if_it_were_ours(twin) -> None:
    tick(twin, TICKS)
    event = Event.objects.filter(sandbox=twin, type="Preempt").first()
    assert event is not None
    with pytest.raises(ConflictError, match="real cluster"):
        explain_event(row(twin), event.revision, event.seq)


@pytest.mark.parametrize("data", [b"", b"QREC 1\n", b"what: ever", b"QREC 1\nabc"])
def test_what_is_no_recording_is_refused(data, person) -> None:
    with pytest.raises(InvalidError):
        actions.do_play_recording(person, [("x.qrec", data)])
    assert not Sandbox.objects.exists()


def test_a_page_says_that_it_is_real(twin) -> None:
    found = rows.page_of(worlds.fresh(row(twin)), row(twin))[rows.SANDBOX_KEY]
    assert (found["source"], found["sourceName"]) == ("recording", "prod.qrec")
    assert leases.take(twin.pk) is not None


def test_a_recording_says_what_it_leaves_out(person) -> None:
    queue = {"kind": "ClusterQueue", "apiVersion": "kueue.x-k8s.io/v1beta2"}
    queue |= {"metadata": {"name": "q"}, "spec": {}}
    event = {"at": "2026-01-01T00:00:00Z", "type": "ADDED", "object": queue}
    files = [
        ("snapshot-0.json", b'{"items": []}'),
        ("watch.jsonl", json.dumps(event).encode()),
    ]
    problem = actions.do_play_recording(person, files).problem
    assert "no Configuration of Kueue in it" in problem
    assert "no Node in it: no node is shown" in problem


@pytest.mark.parametrize("given", ["snapshot-0.json", "config.yaml"])
def test_a_folder_without_its_watch_is_refused_by_its_name(person, given) -> None:
    with pytest.raises(InvalidError, match=r"watch\.jsonl: expected it with"):
        actions.do_play_recording(person, [(given, b"{}")])


def test_a_scenario_of_a_twin_is_shown_as_a_recording_of_its_run(person) -> None:
    twin = actions.do_create(person, scenario="team-twin").sandbox
    assert twin.is_real
    assert (twin.scenario, twin.source["name"]) == ("team-twin", "team-twin.qrec")
    assert last_tick(twin) == 480
    with pytest.raises(ForbiddenError, match="shows a real cluster"):
        actions.do_undo(person, twin.pk)


def test_finished_work_ran_as_long_as_its_conditions_say(twin) -> None:
    tick(twin, TICKS)
    world = worlds.fresh(row(twin))
    ended = [
        obj
        for key in world.keys("Workload")
        if (obj := world.get(key)).status.get("conditions", [])[-1:]
        and any(one["type"] == "Finished" for one in obj.status["conditions"])
    ]
    assert ended
    for obj in ended:
        obj.state["twin"] = {"version": "7"}  # as a server counts what it stores
        card = workloads.row(world, obj)
        seen = {
            one["type"]: world.context.ms(stamp_us(one["lastTransitionTime"]))
            for one in obj.status["conditions"]
            if one["status"] == "True"
        }
        begun = seen.get("PodsReady", seen["Admitted"])
        assert (card.ready_ms, card.runtime_ms) == (begun, seen["Finished"] - begun)
        assert card.finished_ms == seen["Finished"]
