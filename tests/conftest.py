"""What every test shares: the services, and how properties are searched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from hypothesis import HealthCheck, settings

from api.generating.page import make_missing

# Tests look into the engine: without a word they run the sources, not what was compiled.
os.environ.setdefault("QUOTALAB_COMPILED", "no")
make_missing()  # where ./dev did not run

pytest_plugins = [
    "tests.services.bus",
    "tests.services.postgres",
    "tests.services.migrated",
    "tests.services.default_run",
    "tests.services.provider",
    "tests.services.extender",
    "tests.services.server",
    "tests.services.passwords",
    "tests.services.order",
    "tests.services.garbage",
    "tests.services.threads",
]


def pytest_configure() -> None:
    """Let who asks for an answer work it out: tests of one process have no worker.

    Nor do they read files of the page, which each client would look up: 12 ms a test.
    """
    django_settings.ANSWER_INLINE = True
    django_settings.WHITENOISE_USE_FINDERS = False


#: What runs threads, sockets, workers and browsers has a second try; what only decides,
#: or looks for races and faults, has none.
TRIED_TWICE = [
    Path(__file__).parent / part for part in ("api", "sandbox", "e2e", "whole")
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each test of those folders a second try, which the summary names."""
    for item in items:
        if any(item.path.is_relative_to(folder) for folder in TRIED_TWICE):
            item.add_marker(pytest.mark.flaky(reruns=1))


# The same examples at every run, so that a red run can be had again.
settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("search", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
