"""Real services for tests: PostgreSQL, a bus, the whole house, a browser."""

from __future__ import annotations
