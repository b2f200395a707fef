"""A lesson in a room: the owner presents, two guests follow, each at their own machine."""

from __future__ import annotations

import re
from collections.abc import Iterator

import psutil
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.services.default_run import DefaultRun, wait_for

#: An address of this machine that stands for the one on a network.
ADDRESS = "127.0.0.2"


class LanRun(DefaultRun):
    """A run that other machines reach, at an address that they do not."""

    arguments = ("--port", "0", "--no-open", "--lan", ADDRESS)

    def owners_link(self) -> str:
        """Return the newest link that the terminal shows."""
        found = wait_for(lambda: re.findall(r"http\S+once=\S+", self.says()), "a link")
        return str(found[-1])

    def heard(self) -> set[str]:
        """Return the addresses at which its processes listen."""
        return {
            line.laddr.ip
            for process in (self.process, *self.family())
            for line in process.net_connections("inet")
            if line.status == psutil.CONN_LISTEN
        }


@pytest.fixture
def lan_run(tmp_path) -> Iterator[LanRun]:
    with LanRun(tmp_path / "lan") as running:
        yield running


def follow(browser: Browser, url: str, code: str, name: str = "") -> Page:
    """Join by the code, as somebody without an account does; under a name or none."""
    page = browser.new_context().new_page()
    page.set_default_timeout(120_000)
    page.goto(f"{url}/s/somewhere/board")
    page.get_by_label("Code of the lesson").fill(code)
    page.get_by_label("Your name, if you like").fill(name)
    page.get_by_role("button", name="Join the lesson").click()
    page.wait_for_url(re.compile(r"lesson=1"))
    expect(page.get_by_test_id("lesson-bar")).to_contain_text("presenter")
    return page


def test_guests_follow_guess_and_are_led_on(
    lan_run: LanRun, page: Page, browser: Browser
) -> None:
    assert lan_run.heard() == {ADDRESS}
    page.set_default_timeout(120_000)
    page.goto(lan_run.owners_link())
    page.get_by_role("button", name="Sign in as the owner").click()
    page.get_by_role("button", name="Open Friday rush").click()
    page.wait_for_url(re.compile(r"/s/\w+/board"))
    page.get_by_role("button", name="Speed").click()
    page.get_by_role("button", name="20 ticks/s").click()
    page.keyboard.press("g")
    page.keyboard.press("l")
    expect(page.get_by_text(f"Others come in at {ADDRESS}:")).to_be_visible()
    page.get_by_role("button", name="Hold this lesson").click()
    shown = page.get_by_test_id("stage-code")
    expect(shown).to_have_text(re.compile(r"^\w{3} \w{3}$"))
    on_stage = shown.inner_text()
    page.keyboard.press("Escape")
    expect(shown).to_have_count(0)  # the invitation; the stage behind it stays
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("lesson-stage")).to_have_count(0)
    code = page.get_by_test_id("lesson-code").inner_text()
    assert code == on_stage, "the code stays while the stage closes"
    drawn = page.get_by_role("img", name="QR code of")
    link = f"{lan_run.url}/join?code={code.replace(' ', '')}"
    expect(drawn).to_have_attribute("data-text", link)

    ada = follow(browser, lan_run.url, code, "Ada")
    ben = follow(browser, lan_run.url, code)
    bar = page.get_by_test_id("lesson-bar")
    expect(bar).to_contain_text("2 follow")
    ada.get_by_role("radio", name="etl").check()
    ben.get_by_role("radio", name="training").check()
    answered = page.get_by_test_id("answered")
    expect(answered).to_have_text("2 of 2 answered")
    expect(page.get_by_label("Ada answered this, and 1 of")).to_be_visible()
    expect(page.get_by_label("Number 2 answered this, and 1 of")).to_be_visible()
    ben.get_by_role("radio", name="etl").check()
    for screen in (page, ada, ben):
        expect(screen.get_by_role("meter")).to_have_count(0)

    reveal = page.get_by_role("button", name="Show the answer")
    reveal.click(timeout=90_000)
    for screen in (page, ada, ben):
        expect(screen.get_by_text("etl. One of its runs is preempted")).to_be_visible()
    expect(ben.get_by_role("radio", name="etl")).to_be_disabled()
    expect(page.get_by_text("2 · 100")).to_be_visible()

    page.get_by_role("link", name="Fairness", exact=True).click()
    ada.wait_for_url(re.compile(r"/fairness"))
    slider = page.get_by_role("slider", name="Tick shown")
    slider.focus()
    slider.press("Home")
    expect(ben.get_by_test_id("tick")).to_have_text("0")
    expect(ada.get_by_role("button", name="Step one tick")).to_be_disabled()
    expect(ada.get_by_role("button", name="Fork to try")).to_have_count(0)

    bar.get_by_role("button", name="End the lesson").click()
    expect(ada.get_by_text("The presenter ended the lesson")).to_be_visible()
    ada.goto(link)
    ada.get_by_role("button", name="Join the lesson").click()
    expect(ada.get_by_text("No lesson has this code")).to_be_visible()
    for screen in (ada, ben):
        screen.context.close()


def test_a_phone_with_the_notes_sees_votes_and_is_nobody_of_the_class(
    lan_run: LanRun, page: Page, browser: Browser
) -> None:
    page.set_default_timeout(120_000)
    page.goto(lan_run.owners_link())
    page.get_by_role("button", name="Sign in as the owner").click()
    page.get_by_role("searchbox", name="Find").fill("classical-reclaim")
    page.get_by_role("button", name="Reclaiming what was lent").click()
    page.get_by_role("button", name="Hold this lesson").click()
    with page.expect_popup() as opened:
        page.get_by_role("dialog").get_by_role("link", name="Your notes").click()
    opened.value.get_by_text("On your own phone").click()
    shown = opened.value.get_by_role("img", name="Your notes")
    link = shown.get_attribute("data-text")

    phone = browser.new_context(viewport={"width": 390, "height": 800}).new_page()
    phone.goto(str(link))
    phone.get_by_role("button", name="Join the lesson").click()
    notes = phone.get_by_test_id("lesson-notes")
    expect(notes).to_contain_text("Which two go?")
    code = re.search(r"code=(\w+)", str(link))[1]
    ada = browser.new_context().new_page()
    ada.goto(f"{lan_run.url}/join?code={code}")
    ada.get_by_role("button", name="Join the lesson").click()
    expect(ada.get_by_test_id("lesson-stage")).to_be_visible()
    expect(ada.get_by_text("You are number 2")).to_be_visible()
    expect(notes).to_contain_text("0 of 1 answered")
    ada.get_by_role("radio", name="second and fourth").click()
    expect(notes).to_contain_text("1 of 1 answered")
    person = notes.get_by_label("Number 2 answered this, and 1 of")
    expect(person).to_be_visible()
    for screen in (phone, ada):
        screen.context.close()
