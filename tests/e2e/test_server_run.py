"""The server run in a browser: sign in, create, share, run, sign out."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator

import psycopg
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from sandbox.models.access import TOKEN_PREFIX
from tests.e2e.board import MANIFESTS
from tests.load.asking import with_token
from tests.services.default_run import wait_for
from tests.services.provider import Provider
from tests.services.server import ServerRun

PASSWORD = "a long pass phrase"
Visitor = Callable[[], Page]


@pytest.fixture
def visit(browser: Browser, server_run: ServerRun) -> Iterator[Visitor]:
    """Return a function that opens a fresh browser on the server's first page."""
    contexts = []

    def fresh() -> Page:
        context = browser.new_context(
            base_url=server_run.url, viewport={"width": 1440, "height": 900}
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(45_000)
        return page

    yield fresh
    for context in contexts:
        pause_all(context)
        context.close()
    assert "Traceback" not in server_run.says()
    assert TOKEN_PREFIX not in server_run.says()  # of every token and link


def pause_all(context: BrowserContext) -> None:
    """Pause what this person left playing: it would take the processor from all others."""
    answer = context.request.get("/api/v1/sandboxes").json()
    for one in answer.get("items", []):
        if one["playing"]:
            url = f"/api/v1/sandboxes/{one['id']}/actions/pause"
            assert context.request.post(url).status in (200, 403)  # may only look


def sign_in(page: Page, name: str, target: str = "/") -> None:
    page.goto(target)
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def opened(page: Page, scenario: str = "Play") -> str:
    """Open the first scenario and let it run; return its address."""
    page.get_by_role("button", name=scenario).first.click()
    page.wait_for_url("**/s/*/**")
    expect(page.get_by_test_id("tick")).not_to_have_text("–")
    return page.url


def test_a_sandbox_is_made_shared_by_a_link_and_followed(visit: Visitor) -> None:
    olga, vera = visit(), visit()
    sign_in(olga, "olga")
    address = opened(olga)
    tick = olga.get_by_test_id("tick")
    expect(tick).not_to_have_text("0")  # it plays: web, worker, clock and bus

    sign_in(vera, "vera", address)
    expect(
        vera.get_by_text("belongs to somebody who has not shared it")
    ).to_be_visible()

    olga.get_by_role("button", name="Share", exact=True).click()
    olga.get_by_role("button", name="Make a link").click()
    link = olga.get_by_test_id("share-link").input_value()
    vera.goto(link)
    vera.wait_for_url("**/s/*/**")
    expect(vera.get_by_test_id("tick")).not_to_have_text("–")
    late = visit()
    sign_in(late, "vera", link)  # the way to it leads over the sign-in
    late.wait_for_url("**/s/*/**")

    olga.get_by_role("button", name="Take the link back").click()
    expect(vera.get_by_text("Not there", exact=True)).to_be_visible()


def test_somebody_let_in_by_name_is_let_out_again(visit: Visitor) -> None:
    olga = visit()
    sign_in(olga, "olga")
    opened(olga)
    olga.get_by_role("button", name="Share", exact=True).click()
    dialog = olga.get_by_role("dialog")
    dialog.get_by_label("Name of somebody here").fill("nobody")
    dialog.get_by_role("button", name="Let in").click()
    expect(olga.get_by_text("expected the name of somebody else").first).to_be_visible()
    dialog.get_by_label("Name of somebody here").fill("vera")
    dialog.get_by_role("button", name="Let in").click()
    dialog.get_by_label("Role of vera").select_option("editor")
    dialog.get_by_role("button", name="Let vera out").click()
    expect(dialog.get_by_label("Role of vera")).to_have_count(0)


def test_a_token_is_made_used_and_revoked_on_the_page(visit: Visitor) -> None:
    vera = visit()
    sign_in(vera, "vera", "/account")
    expect(vera.get_by_text("You are signed in as vera.")).to_be_visible()
    vera.get_by_label("Name", exact=True).fill("ci")
    vera.get_by_role("button", name="Make a token").click()
    secret = vera.get_by_test_id("new-token").input_value()
    bearer = {"Authorization": f"Bearer {secret}", "Cookie": ""}
    asked = vera.context.browser.new_context(base_url=vera.url)  # type: ignore[union-attr]
    assert asked.request.get("/api/v1/me", headers=bearer).json()["scope"] == "read"
    vera.get_by_role("button", name="Revoke ci").click()
    expect(vera.get_by_role("button", name="Revoke ci")).to_have_count(0)
    assert asked.request.get("/api/v1/me", headers=bearer).status == 401
    asked.close()


def test_files_that_the_browser_keeps_go_when_somebody_signs_out(
    visit: Visitor,
) -> None:
    vera = visit()
    sign_in(vera, "vera", "/")
    vera.locator("input[type=file]").set_input_files(MANIFESTS / "two-teams.yaml")
    vera.wait_for_url("**/s/*/**")
    vera.wait_for_function(
        "() => localStorage['quotalab.files']?.includes('two-teams')"
    )
    vera.goto("/account")
    vera.get_by_role("button", name="Sign out").click()
    expect(vera.get_by_role("button", name="Sign in")).to_be_visible()
    assert vera.evaluate("localStorage['quotalab.files']") == "[]"


def test_by_the_provider_in_and_out(visit: Visitor, organisation: Provider) -> None:
    page = visit()
    page.goto("/account")
    page.get_by_role("link", name="Sign in at Example Works").click()
    page.get_by_role("link", name="I am Ada").click()
    page.wait_for_url("**/account")
    expect(page.get_by_text("You are signed in as ada.")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("link", name="Sign out at Example Works too").click()
    expect(page.get_by_role("heading", name="Bye")).to_be_visible()
    page.get_by_role("link", name="on").click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()


def test_a_wrong_password_is_reported(visit: Visitor) -> None:
    page = visit()
    page.goto("/")
    page.get_by_label("Name").fill("olga")
    page.get_by_label("Password").fill("guess")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("do not fit")


def test_workers_keep_their_connections_from_tick_to_tick(
    server_run: ServerRun,
) -> None:
    one = with_token(server_run, secrets.token_hex(4))
    made = one.post("/api/v1/sandboxes", {"scenario": "strict-fifo"})
    path = f"/api/v1/sandboxes/{made['id']}"
    one.post(f"{path}/actions/play", {"speed": 4})
    asked = "SELECT sessions FROM pg_stat_database WHERE datname = current_database()"
    with psycopg.connect(server_run.variables["DATABASE_URL"], autocommit=True) as look:

        def after(tick: int) -> int:
            wait_for(lambda: one.get(path)["tick"] >= tick, f"tick {tick}", 120)
            row = look.execute(asked).fetchone()
            assert row is not None
            return int(row[0])

        before = after(5)
        opened_since = after(45) - before
    one.post(f"{path}/actions/pause", {})
    assert opened_since < 20
