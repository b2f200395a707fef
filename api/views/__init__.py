"""Thin views: parse, call one function of the sandbox, answer."""

from __future__ import annotations
