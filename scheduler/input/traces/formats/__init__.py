"""Formats of traces: one file each, enrolled in the family `trace`."""

from __future__ import annotations

from typing import Protocol

from scheduler.input.traces.options import Trace, TraceOptions
from scheduler.model import registry
from scheduler.model.errors import ManifestError
from scheduler.model.problems import RequestProblem


class TraceFormat(Protocol):
    """How traces of one format are recognised and read."""

    name: str

    @staticmethod
    def recognises(file: str, text: str) -> bool:
        """Return whether a file is of this format, by its name and its first lines."""

    @staticmethod
    def read(text: str, file: str, options: TraceOptions) -> Trace:
        """Return the trace. Raises ManifestError when nothing is of the format."""


def find(file: str, text: str) -> TraceFormat | None:
    """Return the format of a file; None for what is no trace."""
    found = (entry.value for entry in registry.entries("trace"))
    return next((one for one in found if one.recognises(file, text)), None)


def read(text: str, file: str, options: TraceOptions) -> Trace:
    """Return the trace in a file that is one, in the format that is asked for, if any.

    Raises ManifestError for a text that is not of its format, UnknownNameError for
    a format that nobody reads.
    """
    chosen: TraceFormat | None
    if options.format:
        chosen = registry.lookup("trace", options.format)
    else:
        chosen = find(file, text)
    if chosen is None:
        raise ManifestError(RequestProblem.UNKNOWN_FORMAT.said(file=file))
    trace = chosen.read(text, file, options)
    trace.format = chosen.name
    return trace
