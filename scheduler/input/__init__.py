"""Texts to objects: manifests, files, traces, arrivals."""

from __future__ import annotations
