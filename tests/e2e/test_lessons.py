"""A lesson in a room: one presenter, two who follow, on three screens."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, Page, expect

from tests.e2e.board import Board


def follow(browser: Browser, url: str, code: str) -> Page:
    """Join by the code, as somebody else's browser does."""
    page = browser.new_context().new_page()
    page.goto(f"{url}/join")
    page.get_by_label("Code of the lesson").fill(code)
    page.get_by_role("button", name="Join", exact=True).click()
    page.wait_for_url(re.compile(r"/lessons"))
    expect(page.get_by_test_id("lesson-bar")).to_contain_text("presenter")
    return page


def test_two_follow_guess_and_are_led_on(board: Board, browser: Browser) -> None:
    page = board.page
    page.goto(board.url)
    page.get_by_role("button", name="Play Friday rush").click()
    page.wait_for_url(re.compile(r"/s/\w+/board"))
    page.get_by_role("button", name="Pause", exact=True).click()
    page.get_by_role("button", name="Speed").click()
    page.get_by_role("button", name="20 ticks/s").click()
    page.get_by_role("link", name="Lessons", exact=True).click()
    page.get_by_role("button", name="Hold this lesson").click()
    code = page.get_by_test_id("lesson-code").inner_text()

    ada, ben = follow(browser, board.url, code), follow(browser, board.url, code)
    bar = page.get_by_test_id("lesson-bar")
    expect(bar).to_contain_text("2 follow")
    ada.get_by_role("radio", name="etl").check()
    ben.get_by_role("radio", name="training").check()
    answered = page.get_by_test_id("answered")
    expect(answered).to_have_text("2 of 2 answered")
    ben.get_by_role("radio", name="etl").check()
    expect(page.get_by_text("2 · 100")).to_have_count(0)

    page.get_by_role("button", name="Run to").click()
    reveal = page.get_by_role("button", name="Show the answer")
    reveal.click(timeout=90_000)
    for screen in (page, ada, ben):
        expect(screen.get_by_text("etl. One of its runs is preempted")).to_be_visible()
    expect(ben.get_by_role("radio", name="etl")).to_be_disabled()
    expect(page.get_by_text("2 · 100")).to_be_visible()

    page.get_by_role("link", name="Board", exact=True).click()
    ada.wait_for_url(re.compile(r"/board"))
    slider = page.get_by_role("slider", name="Tick shown")
    slider.focus()
    slider.press("Home")
    expect(ben.get_by_test_id("tick")).to_have_text("0")
    expect(ada.get_by_role("button", name="Step one tick")).to_be_disabled()
    expect(ada.get_by_role("button", name="Fork to try")).to_be_visible()

    bar.get_by_role("button", name="End the lesson").click()
    expect(ada.get_by_text("The presenter ended the lesson")).to_be_visible()
    ada.goto(f"{board.url}/join?code={code.replace(' ', '')}")
    ada.get_by_role("button", name="Join", exact=True).click()
    expect(ada.get_by_text("no lesson has this code").first).to_be_visible()
    for screen in (ada, ben):
        screen.context.close()
