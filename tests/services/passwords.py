"""A quick hash of passwords, in the tests' own processes alone.

What a server run stores is hashed as Django does it, a third of a second each.
"""

from __future__ import annotations

from django.conf import settings


def pytest_configure() -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
