"""What a trace says, whatever its format: jobs, nodes, and which lines are left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler.input.manifests.effects import Effect
from scheduler.input.manifests.loading.loaded import Finding
from scheduler.model.errors import SourceLocation
from scheduler.model.sentence import Sentence
from scheduler.words.traces import LeftOut

#: Beyond it a number of pods is a slip.
MOST_PODS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceJob:
    """One job of a trace; times in seconds since its begin, None for the unknown."""

    line: int
    name: str  # a number or a name, as the trace has it
    submit_s: float
    run_s: float | None
    start_s: float | None = None
    limit_s: float | None = None
    pods: int | None = None
    requests: Mapping[str, str] = field(default_factory=dict)  # of a pod
    user: str = ""
    queue: str = ""  # by its name in the trace
    priority: int | None = None
    models: tuple[str, ...] = ()  # of GPU cards, any of which will do
    values: Mapping[str, str] = field(default_factory=dict)  # column -> value
    manifest: Mapping[str, Any] | None = None  # where the trace holds whole objects


@dataclass(slots=True, kw_only=True)
class Trace:
    """What a trace file says, and which of its lines are left out."""

    file: str
    format: str = ""
    jobs: list[TraceJob] = field(default_factory=list)
    documents: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    left_out: list[Finding] = field(default_factory=list)
    said: list[Sentence] = field(default_factory=list)  # defaults that were taken
    size: dict[str, str] = field(default_factory=dict)  # of the machine, by a header
    epoch_s: float | None = (
        None  # Unix time of its second 0, by a header or by its dates
    )
    columns: list[str] = field(default_factory=list)  # what a queue may be chosen by
    fields: dict[str, str] = field(default_factory=dict)  # field -> its column
    header: list[str] = field(default_factory=list)  # every column of a table
    lacks: list[str] = field(default_factory=list)  # fields that no column gives

    def leave_out(self, line: int, part: Sentence | str, why: Sentence) -> None:
        """Note a line that is no job, and why."""
        self.left_out.append(
            Finding(
                "unsupported",
                SourceLocation(file=self.file, line=line),
                LeftOut.LINE.said(part=part, why=why),
                sort=LeftOut.LINES.said(why=why),
                effect=Effect.FEWER_JOBS,
            )
        )


def cut(trace: Trace, most: int) -> Iterator[Finding]:
    """Keep the first `most` jobs; yield what is said of the others, if any."""
    over = trace.jobs[most:]
    if not over:
        return
    del trace.jobs[most:]
    yield Finding(
        "warning",
        SourceLocation(file=trace.file, line=over[0].line),
        LeftOut.MOST.said(over=len(over), jobs=len(over) + most, most=most),
        effect=Effect.FEWER_JOBS,
    )
