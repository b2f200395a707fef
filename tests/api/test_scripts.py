"""A lesson that was made by playing is one file, which plays the same elsewhere."""

from __future__ import annotations

import json

import msgspec
import pytest
from django.contrib.auth.models import User

from api.renderers import dump_all
from sandbox import actions
from sandbox.actions.lessons import lesson_file
from sandbox.base import library
from sandbox.base.errors import ConflictError
from sandbox.base.library import script_of
from sandbox.models import Event, Sandbox
from scheduler.analysis.expectations import judge_all
from scheduler.assembly import assemble
from scheduler.engine.tick import simulate
from scheduler.model.durations import span_ms
from tests.sandbox.conftest import tick

pytestmark = [pytest.mark.django_db]

SCRIPT = {
    "title": {"en": "Who goes?"},
    "checkpoints": [
        {
            "at": "4s",
            "shown": "8s",
            "say": {"en": "The lender wants its cores back."},
            "ask": {"en": "Who goes?"},
            "choices": [{"en": "b1"}, {"en": "nobody"}],
            "right": 0,
            "answer": {"en": "b1."},
            "spot": ["ClusterQueue//a"],
        }
    ],
}


def as_written(stop):
    """Return a stop that was read as it is sent when nobody changed it."""
    names = ("say", "ask", "choices", "right", "answer", "notes", "spot", "beside")
    shown = {} if stop["shownMs"] is None else {"shown": f"{stop['shownMs']}ms"}
    times = {"at": f"{stop['atMs']}ms", "until": f"{stop['untilMs']}ms", **shown}
    return {**times, "switch": stop["switch"], **{n: stop[n] for n in names}}


def in_full(scenario):
    """Return the stops with their times in ms, and where what runs beside them ends."""
    return [
        {
            **msgspec.to_builtins(stop),
            "at": span_ms(stop.at),
            "until": span_ms(stop.until or scenario.spec.horizon) * bool(stop.beside),
            "shown": span_ms(stop.shown) if stop.shown else None,
        }
        for stop in scenario.spec.checkpoints
    ]


def _decided(sandbox: Sandbox) -> list[tuple[object, ...]]:
    found = Event.objects.filter(sandbox=sandbox).exclude(type="Edit")
    return list(
        found.order_by("revision", "seq").values_list("t_ms", "type", "subject", "by")
    )


def test_a_lesson_made_by_playing_opens_elsewhere_and_is_equal(call, busy):
    tick(busy, 12)
    written = call("put", busy, "/script", SCRIPT)
    assert written.status_code == 200
    text = call("get", busy, "/script/file").content.decode()
    other = User.objects.create_user("elsewhere")
    made = actions.do_create(other, files=[("lesson.yaml", text)]).sandbox
    actions.do_play(other, made.pk)
    tick(made, 12)
    assert _decided(made) == _decided(Sandbox.objects.get(pk=busy.pk))
    assert made.script == Sandbox.objects.get(pk=busy.pk).script


def _opened_elsewhere(person: User, name: str) -> tuple[Sandbox, Sandbox]:
    """Return a lesson of the library, and what is made of its file."""
    made = actions.do_create(person, scenario=name).sandbox
    text = dump_all(lesson_file(made))
    other = User.objects.create_user(f"elsewhere-{name}")
    return made, actions.do_create(other, files=[("lesson.yaml", text)]).sandbox


def test_every_lesson_of_the_library_is_the_same_world_elsewhere(person):
    differs = []
    for name in library.names():
        spec = library.scenario_named(name).spec
        if not spec.checkpoints or spec.twin is not None:
            continue
        pair = _opened_elsewhere(person, name)
        for one in pair if pair[0].hash != pair[1].hash else ():
            actions.do_play(one.owner, one.pk)
            tick(one, 1)
            one.refresh_from_db()
        differs += [] if pair[0].hash == pair[1].hash else [name]
    assert differs == []


def test_a_recording_has_no_file_that_plays_by_itself(person):
    made = actions.do_create(person, scenario="team-twin").sandbox
    with pytest.raises(ConflictError, match="the archive of the sandbox has both"):
        lesson_file(made)


def test_what_happened_at_a_stop_is_expected_of_the_file(call, busy):
    tick(busy, 12)
    call("put", busy, "/script", SCRIPT)
    text = call("get", busy, "/script/file").content.decode()
    assembled = assemble([("lesson.yaml", text)])
    assert assembled.scenario is not None
    expected = assembled.scenario.spec.expect
    assert {one.event.type for one in expected} >= {"Preempt"}
    result = simulate(assembled.world, until_ms=12_000)
    assert [one for one in judge_all(expected, result.decisions) if not one.holds] == []


def test_without_a_time_of_its_own_an_answer_is_seen_at_the_next_stop(call, busy):
    tick(busy, 12)
    first = {"at": "4s", "say": SCRIPT["title"]}
    stops = [first, {**first, "at": "8s"}]
    call("put", busy, "/script", {**SCRIPT, "checkpoints": stops})
    expected = Sandbox.objects.get(pk=busy.pk).script["expect"]
    assert "Preempt" in {one["event"]["type"] for one in expected}


def test_a_run_that_somebody_changed_is_no_file(call, busy):
    tick(busy, 3)
    call("put", busy, "/script", SCRIPT)
    call("patch", busy, "/objects/ClusterQueue/-/a", {"spec": {"stopPolicy": "Hold"}})
    answer = call("get", busy, "/script/file")
    assert answer.status_code == 409
    assert "somebody changed the run" in answer.json()["message"]


def test_a_stop_keeps_what_runs_beside_it_and_its_setting(call, busy):
    fair = {"title": {"en": "Fair"}, "policy": {"kueue": {"fairSharing": {}}}}
    more = {
        "beside": [{**fair, "expect": [], "reports": ["a part"]}],
        "until": "20m",
        "switch": "kueue.fairSharing",
    }
    stop = {**SCRIPT["checkpoints"][0], **more}
    kept = call("put", busy, "/script", {**SCRIPT, "checkpoints": [stop]}).json()
    [found] = kept["checkpoints"]
    assert (found["beside"], found["switch"]) == (more["beside"], more["switch"])
    assert found["untilMs"] == 1_200_000


def test_a_lesson_of_the_library_keeps_all_when_it_is_saved(call, person):
    """Each stop is sent back as the page sends what nobody changed."""
    lost = []
    for name in library.names():
        kept = library.scenario_named(name)
        if not kept.spec.checkpoints:
            continue
        made = actions.do_create(person, scenario=name).sandbox
        read = call("get", made, "/script").json()
        stops = [as_written(stop) for stop in read["checkpoints"]]
        body = {**{n: read[n] for n in ("title", "summary")}, "checkpoints": stops}
        assert call("put", made, "/script", body).status_code == 200, name
        own = script_of(Sandbox.objects.get(pk=made.pk).script, name)
        assert own is not None
        same = in_full(own) == in_full(kept) and own.spec.expect == kept.spec.expect
        lost += [] if same else [name]
    assert lost == []


def test_what_runs_beside_a_stop_goes_as_far_as_the_file_says(person):
    beside = [{"title": {"en": "Fair"}, "policy": {"kueue": {"fairSharing": {}}}}]
    spec = {
        "title": {"en": "Who goes?"},
        "summary": {"en": "A run."},
        "horizon": "30m",
        "checkpoints": [{"at": "4s", "say": {"en": "Now."}, "beside": beside}],
    }
    document = {"apiVersion": "quotalab.dev/v1", "kind": "Scenario", "spec": spec}
    files = [("lesson.yaml", json.dumps(document))]
    made = actions.do_create(person, files=files).sandbox
    found = script_of(made.script, made.scenario)
    assert found is not None
    assert found.spec.checkpoints[0].until == "30m"


def test_a_lesson_needs_a_stop(call, busy):
    answer = call("put", busy, "/script", {**SCRIPT, "checkpoints": []})
    assert answer.status_code == 422


@pytest.mark.parametrize("right", [2, 8])
def test_the_right_choice_is_one_of_the_choices(call, busy, right):
    stop = {**SCRIPT["checkpoints"][0], "right": right}
    answer = call("put", busy, "/script", {**SCRIPT, "checkpoints": [stop]})
    assert answer.status_code == 422
    assert str(right) in answer.json()["message"]


def test_choices_of_which_none_is_right_are_no_lesson(call, busy):
    stop = {**SCRIPT["checkpoints"][0], "right": None}
    answer = call("put", busy, "/script", {**SCRIPT, "checkpoints": [stop]})
    assert answer.status_code == 422
    assert "which of the 2 choices of stop 0 is right" in answer.json()["message"]
    assert call("get", busy, "/script").status_code == 404


def test_a_sandbox_without_a_lesson_says_so(call, busy):
    assert call("get", busy, "/script").status_code == 404
