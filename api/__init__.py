"""HTTP: routes, views and documents over the packages below."""

from __future__ import annotations
