"""One cluster in time: the schedulers, and everything that runs beside them."""

from __future__ import annotations
