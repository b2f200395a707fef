"""No number of requests takes more connections than PostgreSQL was said to give."""

from __future__ import annotations

import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg

from tests.services.default_run import wait_for
from tests.services.postgres import Postgres
from tests.services.server import running_server

POOL, AT_ONCE = 3, 60
OURS = (
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE datname = current_database() AND application_name LIKE 'quotalab web 3 %'"
)


def test_more_requests_at_once_than_connections_are_all_answered(
    postgres: Postgres, tmp_path: Path
):
    with running_server(
        postgres, tmp_path, processes=["web"], DATABASE_POOL=str(POOL)
    ) as web:

        def asked(_: int) -> int:
            with urllib.request.urlopen(f"{web.url}/readyz", timeout=120) as answer:
                return int(answer.status)

        with (
            psycopg.connect(web.variables["DATABASE_URL"], autocommit=True) as look,
            ThreadPoolExecutor(AT_ONCE) as pool,
        ):
            asking = [pool.submit(asked, number) for number in range(AT_ONCE)]
            seen = set()
            while not all(one.done() for one in asking):
                seen.add(look.execute(OURS).fetchone()[0])
        assert {one.result() for one in asking} == {200}
        assert 0 < max(seen) <= POOL, seen


def test_a_process_with_more_connections_than_there_are_says_what_to_set(
    postgres: Postgres, tmp_path: Path
):
    with running_server(
        postgres, tmp_path, processes=["web"], DATABASE_POOL="1000"
    ) as web:
        said = wait_for(
            lambda: "max_connections" in web.says() and web.says(), "a word"
        )
    assert "may open 1000 connections" in said
    assert "lower DATABASE_POOL" in said
