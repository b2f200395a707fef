"""The commands of the engine: run, experiment, convert, reproduce."""

from __future__ import annotations
