"""A decision as a film: step, bet, and no verdict in sight before it."""

from __future__ import annotations

import re
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect

from tests.e2e.board import Board

Row = dict[str, Any]


def opened(board: Board, step: int = 1) -> Row:
    """Open the film of the first preemption at a step; return what REST has of it."""
    page = board.page
    api = page.url.split("?")[0].replace("/s/", "/api/v1/sandboxes/")
    api = api.removesuffix("/board")
    found = page.request.get(f"{api}/events?type=Preempt&limit=1").json()["items"][0]
    place = f"{found['revision']}.{found['seq']}"
    film: Row = page.request.get(f"{api}/events/{place}/film").json()
    page.goto(f"{page.url.split('?')[0]}?film={place}&step={step}")
    expect(page.get_by_test_id("film-words")).to_be_visible()
    return film


def _whole(page: Page) -> str:
    """Return all that the page holds: texts, labels, titles, what is out of sight."""
    return str(page.evaluate("document.documentElement.outerHTML"))


def _at(page: Page, step: int) -> str:
    """Return what the film says at a step, once it is there."""
    words = page.locator(f"[data-testid=film-words][data-fact='said frames|{step}']")
    expect(words).to_be_visible()
    return words.locator("p").last.inner_text()


def test_no_verdict_is_in_the_page_before_the_bet(played: Board) -> None:
    page = played.page
    frames = opened(played)["frames"]
    said: list[str] = []
    for step in range(len(frames)):
        said.append(_at(page, step))
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Home")
    for step, frame in enumerate(frames):
        _at(page, step)
        whole = _whole(page)
        later = set(said[step + 1 :]) - set(said[: step + 1])
        assert [text for text in later if text in whole] == []
        if frame["bet"] is not None:
            stage = page.get_by_test_id("stage").inner_html()
            assert not re.search(r">(true|false)<", stage)
        page.keyboard.press("ArrowRight")


def test_a_bet_is_counted_when_its_answer_is_there(played: Board) -> None:
    page = played.page
    film = opened(played)
    at = next(i for i, frame in enumerate(film["frames"]) if frame["bet"])
    film = opened(played, at + 1)
    bet = film["frames"][at]["bet"]
    choice = bet["choices"][bet["right"]]["text"]
    page.get_by_role("button", name=choice, exact=True).click()
    expect(page.get_by_text("Guessed right.")).to_have_count(0)
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("Guessed right.")).to_be_visible()
    expect(page.get_by_test_id("film-score")).to_have_text("1 of 1 right")


def test_the_other_strategy_stands_beside_it(played: Board) -> None:
    page = played.page
    opened(played)
    page.get_by_role("button", name="The other strategy").click()
    expect(page.get_by_test_id("stage")).to_have_count(2)


def test_nothing_flies_for_who_asks_for_less_motion(played: Board) -> None:
    page = played.page
    page.emulate_media(reduced_motion="reduce")
    moves = """() => [...document.querySelectorAll('[data-testid=stage] *')].filter(
      (one) => !/^0s(, 0s)*$/.test(getComputedStyle(one).transitionDuration)).length"""
    for step in range(len(opened(played)["frames"])):
        _at(page, step)
        assert page.evaluate(moves) == 0
        assert page.evaluate("document.getAnimations().length") == 0
        page.keyboard.press("ArrowRight")


def test_a_screen_reader_hears_each_step_and_no_drawing(played: Board) -> None:
    page = played.page
    said = ""
    for step in range(len(opened(played)["frames"])):
        _at(page, step)
        region = page.get_by_test_id("film-words")
        expect(region).to_have_attribute("aria-live", "polite")
        assert region.inner_text().strip() not in ("", said)
        said = region.inner_text().strip()
        expect(page.get_by_test_id("stage")).to_have_attribute("aria-hidden", "true")
        page.keyboard.press("ArrowRight")


def test_a_film_is_saved_as_a_still_and_as_an_animation(played: Board) -> None:
    page = played.page
    opened(played, 3)
    with page.expect_download() as still:
        page.get_by_role("button", name="SVG").click()
    assert still.value.path().read_text().startswith("<svg ")
    with page.expect_download() as moving:
        page.get_by_role("button", name="APNG").click()
    bytes_of_it = moving.value.path().read_bytes()
    assert bytes_of_it.startswith(b"\x89PNG")
    assert b"acTL" in bytes_of_it


def test_a_mark_of_the_timeline_opens_the_film_of_its_tick(played: Board) -> None:
    page = played.page
    api = page.url.replace("/s/", "/api/v1/sandboxes/").removesuffix("/board")
    found = page.request.get(f"{api}/events?type=Preempt&limit=1").json()["items"][0]
    page.goto(f"{page.url}?tick={found['tick']}")
    page.get_by_role("link", name="Watch the decision").first.click()
    expect(page.get_by_test_id("theatre")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("theatre")).to_have_count(0)


def test_a_link_shows_a_decision_in_the_page_of_somebody_else(
    played: Board, browser: Browser, tmp_path: Path
) -> None:
    page = played.page
    context = page.context
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened(played)
    page.get_by_role("button", name="Embed").click()
    expect(page.get_by_test_id("announcer")).to_contain_text("embeds it is copied")
    html = page.evaluate("navigator.clipboard.readText()")
    other = browser.new_context().new_page()
    (tmp_path / "index.html").write_text(f"<p>Docs</p>{html}")
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    # Another origin at this machine: a browser keeps pages of others from it.
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as docs:
        threading.Thread(target=docs.serve_forever, daemon=True).start()
        other.goto(f"http://127.0.0.1:{docs.server_port}/")
        frame = other.frame_locator("iframe")
        expect(frame.get_by_test_id("film-words")).to_be_visible()
        frame.get_by_role("button", name="Next").click()
        expect(frame.get_by_text("2 of")).to_be_visible()
        docs.shutdown()
    other.context.close()


#: What of a film's drawing a class cannot read: small letters, what leaves its card.
UNREAD = """() => {
  const found = [];
  const stage = document.querySelector('[data-testid=stage]');
  const scale = stage.getBoundingClientRect().width / 1280;
  for (const text of stage.querySelectorAll('text')) {
    const size = scale * Number(text.getAttribute('font-size'));
    if (size < 13.95) found.push(`${size.toFixed(1)} px: ${text.textContent}`);
    const card = text.parentElement.dataset.group.startsWith('card')
      && text.parentElement.querySelector('rect').getBoundingClientRect();
    if (card && text.getBoundingClientRect().right > card.right + 1) found.push(`leaves its card: ${text.textContent}`);
  }
  const end = document.querySelector('.controls').getBoundingClientRect().bottom;
  if (end > innerHeight) found.push(`the controls end at ${end} px`);
  return found;
}"""


def test_a_film_fills_a_projector_and_every_letter_has_fourteen_px(
    played: Board,
) -> None:
    page = played.page
    page.set_viewport_size({"width": 1280, "height": 720})
    page.emulate_media(reduced_motion="reduce")
    frames = opened(played)["frames"]
    unread: list[str] = []
    for step in range(len(frames)):
        _at(page, step)
        unread += [f"{step}: {one}" for one in page.evaluate(UNREAD)]
        page.keyboard.press("ArrowRight")
    assert unread == []
