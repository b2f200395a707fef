"""Editing: a quota by its field, a workload added by hand, a manifest."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

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
