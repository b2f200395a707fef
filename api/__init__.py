"""HTTP: routes, views and documents over the rooms below."""

from __future__ import annotations
