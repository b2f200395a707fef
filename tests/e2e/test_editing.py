"""Editing: a quota by its field, a workload added by hand, a manifest."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.board import Board


@pytest.fixture
def loaded(board: Board) -> Board:
    """A board of two teams, nothing has run."""
    return board.begin("two-teams.yaml")


def test_a_quota_is_set_in_its_field_and_a_wrong_one_is_said_there(
    loaded: Board,
) -> None:
    page = loaded.page
    page.goto(page.url.split("?")[0] + "?sel=ClusterQueue//alpha&tab=fields")
    quota = page.get_by_role("form", name="Fields").get_by_label("nominal")
    quota.fill("many")
    expect(page.get_by_text("expected a quantity such as")).to_be_visible()
    apply = page.get_by_role("button", name="Apply", exact=True)
    expect(apply).to_be_disabled()
    quota.fill("6")
    apply.click()
    expect(loaded.verdict()).to_contain_text("plain · cpu · nominal: 4 → 6")
    loaded.keep()
    loaded.agrees()


def test_a_workload_added_by_hand_runs(loaded: Board) -> None:
    page = loaded.page
    page.keyboard.press("n")
    form = page.get_by_role("dialog", name="Add by hand")
    form.get_by_label("Name", exact=True).fill("mine")
    form.get_by_label("Queue", exact=True).select_option("teams/to-beta")
    form.get_by_role("button", name="Add it").click()
    loaded.keep()
    loaded.play()
    loaded.sees("beta", "mine", "Admitted")
    loaded.agrees()


def test_a_manifest_that_is_wrong_says_where_and_one_that_is_warned_of_is_applied_when_asked_again(
    loaded: Board,
) -> None:
    page = loaded.page
    page.goto(page.url.split("?")[0] + "?sel=ClusterQueue//alpha&tab=yaml")
    manifest = page.get_by_label("Manifest")
    expect(manifest).to_have_value(re.compile("name: plain"))
    text = manifest.input_value()
    manifest.fill(text.replace("nominalQuota", "nominalQouta", 1))
    page.get_by_role("button", name="Apply", exact=True).click()
    expect(page.get_by_text(re.compile(r"line \d+: .*nominalQouta"))).to_be_visible()
    manifest.fill(text.replace("name: plain", "name: other", 1))
    page.get_by_role("button", name="Apply", exact=True).click()
    expect(page.get_by_text("ResourceFlavor other doesn't exist")).to_be_visible()
    page.get_by_role("button", name="Apply all the same").click()
    loaded.keep()
    expect(page.get_by_text("Inactive").first).to_be_visible()


def asked_for(page: Page, amount: str) -> Board:
    """Ask in the open board what another quota of alpha would do."""
    page.goto(page.url.split("?")[0] + "?sel=ClusterQueue//alpha&tab=fields")
    form = page.get_by_role("form", name="Fields")
    form.get_by_label("nominal").fill(amount)
    page.get_by_role("button", name="Apply", exact=True).click()
    board = Board(page, page.url)
    expect(board.verdict()).to_contain_text(f"nominal: 4 → {amount}")
    return board


@pytest.mark.parametrize(("choice", "left"), [("Take theirs", "7"), ("Keep mine", "6")])
def test_who_was_overtaken_sees_what_the_other_changed_and_chooses(
    loaded: Board, browser: Browser, choice: str, left: str
) -> None:
    mine = loaded.page
    theirs = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    theirs.goto(mine.url)
    asked_for(mine, "6")
    asked_for(theirs, "7").keep()
    mine.get_by_role("button", name="Keep", exact=True).click()
    dialog = mine.get_by_role("dialog", name="Another person changed this meanwhile")
    expect(dialog).to_contain_text("keeps what-if")
    expect(dialog).to_contain_text(re.compile(r"- +nominalQuota: .?7"))
    expect(dialog).to_contain_text(re.compile(r"\+ +nominalQuota: .?6"))
    dialog.get_by_role("button", name=choice).click()
    expect(mine.get_by_test_id("verdict")).to_have_count(0)
    for page in (mine, theirs):
        page.goto(page.url.split("?")[0] + "?sel=ClusterQueue//alpha&tab=fields")
        quota = page.get_by_role("form", name="Fields").get_by_label("nominal")
        expect(quota).to_have_value(left)
    theirs.context.close()
