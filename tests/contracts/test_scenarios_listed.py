"""The documents list every scenario of the library."""

from __future__ import annotations

from django.core.management import call_command


def test_the_page_of_scenarios_is_what_the_library_says():
    call_command("listscenarios", check=True)


def test_the_page_of_releases_is_what_the_tables_say():
    call_command("listreleases", check=True)
