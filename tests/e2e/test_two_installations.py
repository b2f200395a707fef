"""A lesson made by playing on one installation opens on another one, and is equal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.bench.size import sized
from tests.e2e.board import prepared
from tests.services.default_run import DefaultRun, wait_for

#: A scenario of each scheduler, and the tick to which it is played.
PLAYED = {"classical-reclaim": 40, "kube-gang-in-turns": 40, "yunikorn-who-may-go": 60}


@pytest.fixture(scope="module")
def installations(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[DefaultRun, DefaultRun]]:
    """Two servers, each with a database, workers and a port of its own."""
    folders = [tmp_path_factory.mktemp(name) for name in ("here", "there")]
    with DefaultRun(folders[0]) as here, DefaultRun(folders[1]) as there:
        yield here, there


def _decisions(run: DefaultRun, made: str) -> list[dict[str, Any]]:
    """Return all that was decided, without what people did and the revision it is in."""
    found: list[dict[str, Any]] = []
    place, goes_on = "", True
    while goes_on:
        page = run.get(f"/api/v1/sandboxes/{made}/events?limit=500{place}")
        found += page["items"]
        place, goes_on = f"&after={page.get('next')}", bool(page.get("next"))
    kept = [one for one in found if one["type"] != "Edit"]
    return [{n: v for n, v in one.items() if n != "revision"} for one in kept]


@pytest.mark.parametrize("scenario", PLAYED)
def test_a_lesson_made_by_playing_is_equal_on_another_installation(
    installations: tuple[DefaultRun, DefaultRun],
    browser: Browser,
    tmp_path: Path,
    scenario: str,
) -> None:
    here, there = installations
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.set_default_timeout(120_000)
    last = PLAYED[scenario]
    made = prepared(context.request, here.url, {"scenario": scenario}, last)

    page.goto(f"{here.url}/s/{made}/board?write=1&tick=20")
    panel = page.get_by_test_id("write-lesson")
    panel.get_by_role("button", name="Mark this moment").last.click()
    panel.get_by_label("To say").fill("Twenty seconds have passed.")
    panel.get_by_label("The question").fill("Who comes next?")
    for number, words in enumerate(("somebody", "nobody"), 1):
        panel.get_by_role("button", name="Add a choice").click()
        panel.get_by_label(f"Choice {number}", exact=True).fill(words)
    panel.get_by_label("Choice 1 is right").check()
    panel.get_by_label("The answer", exact=True).fill("Somebody.")
    panel.get_by_role("button", name="Save", exact=True).click()
    with page.expect_download() as file:
        panel.get_by_role("link", name="File").click()
    lesson = tmp_path / "lesson.yaml"
    file.value.save_as(lesson)

    page.goto(there.url)
    page.locator("input[type=file]").set_input_files(lesson)
    page.wait_for_url("**/s/*/*")
    other = page.url.split("/s/")[1].split("/")[0]
    there.post(f"/api/v1/sandboxes/{other}/actions/step", {"untilTick": last})
    path = f"/api/v1/sandboxes/{other}"
    wait_for(lambda: there.get(f"{path}/hash")["tick"] >= last, f"tick {last}")

    own = f"/api/v1/sandboxes/{made}"
    stops, hash_ = here.get(f"{own}/script")["checkpoints"], here.get(f"{own}/hash")
    decided = _decisions(here, made)
    assert there.get(f"{path}/script")["checkpoints"] == stops
    assert there.get(f"{path}/hash")["hash"] == hash_["hash"]
    assert _decisions(there, other) == decided
    assert decided
    page.goto(f"{there.url}/s/{other}/board?stage=1")
    expect(page.get_by_test_id("lesson-stage")).to_be_visible()
    context.close()


def _boards(run: DefaultRun, lesson: str) -> Iterator[object]:
    """Yield a lesson's texts, and what each board of its stops and answers is drawn of."""
    made = run.post("/api/v1/sandboxes", {"scenario": lesson})
    path, tick_ms = f"/api/v1/sandboxes/{made['id']}", made["tickMs"]
    script = run.get(f"{path}/script")
    yield script
    times = [
        stop[name] for stop in script["checkpoints"] for name in ("atMs", "shownMs")
    ]
    ticks = [-(-time // tick_ms) for time in times if time is not None]
    run.post(f"{path}/actions/speed", {"speed": 0})
    run.post(f"{path}/actions/step", {"untilTick": max(1, *ticks)})
    now = wait_for(
        lambda: (found := run.get(f"{path}/hash"))["tick"] >= max(ticks) and found,
        f"the last stop of {lesson}",
    )
    yield now
    for tick in ticks:
        state = run.get(f"{path}/state?tick={min(tick, now['tick'])}")
        yield [row for row in state["rows"] if row["kind"] != "Sandbox"]


def test_every_stop_of_a_lesson_is_equal_on_two_servers(
    installations: tuple[DefaultRun, DefaultRun],
) -> None:
    """It plays every twelfth lesson; each one without QUOTALAB_BENCH=tiny."""
    here, there = installations
    names = [one["name"] for one in here.get("/api/v1/scenarios")["items"]]
    for name in names[:: sized(1, 12)]:
        pairs = zip_longest(_boards(here, name), _boards(there, name))
        for number, (own, other) in enumerate(pairs):
            assert own == other, f"{name}, {number}"
            assert own
