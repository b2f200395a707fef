"""The files of the page as the server sends them."""

from __future__ import annotations

import gzip
import re
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

#: What the whole first view of a sandbox may take on its way: scripts and styles.
FIRST_VIEW = 110_000
GZIP = {"Accept-Encoding": "br;q=0, gzip, deflate"}


@pytest.fixture(autouse=True)
def _files(settings: Any, db: None) -> None:
    """Clients are given the files of the build, which other tests do without."""
    settings.WHITENOISE_USE_FINDERS = True


def first_view() -> list[str]:
    html = (settings.PAGE_FOLDER / "index.html").read_text()
    return re.findall(r'(?:src|href)="(/static/[^"]+\.(?:js|css))"', html)


def body_of(path: str, headers: dict[str, str]) -> bytes:
    response = Client().get(path, headers=headers)
    return b"".join(response) if response.streaming else response.content


def test_the_first_view_travels_small() -> None:
    sent = {path: len(body_of(path, GZIP)) for path in first_view()}
    assert sum(sent.values()) <= FIRST_VIEW, sent


def test_a_file_is_the_same_packed_and_plain() -> None:
    for path in first_view():
        for _ in ("made", "kept"):
            assert gzip.decompress(body_of(path, GZIP)) == body_of(path, {})


def test_a_part_of_a_file_and_an_answer_to_head_are_not_packed() -> None:
    path = first_view()[-1]
    part = Client().get(path, headers=GZIP | {"Range": "bytes=0-9"})
    head = Client().head(path, headers=GZIP)
    assert [one.headers.get("Content-Encoding") for one in (part, head)] == [None, None]
    assert len(b"".join(part)) == 10


def test_what_is_answered_about_a_sandbox_is_not_packed() -> None:
    answer = Client().get("/api/v1/sandboxes", headers=GZIP)
    assert "Content-Encoding" not in answer.headers
