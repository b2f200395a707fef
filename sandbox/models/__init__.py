"""Rows: what a sandbox is made of, and what happened to it."""

from __future__ import annotations

from sandbox.models.access import (
    Audit,
    Follower,
    Grant,
    Guess,
    Identity,
    Lesson,
    ShareLink,
    Token,
)
from sandbox.models.cluster import (
    ClusterQueue,
    Cohort,
    ImportReport,
    ImportTry,
    Job,
    LocalQueue,
    Node,
    OtherObject,
    Pod,
    PriorityClass,
    RecordedTick,
    ResourceFlavor,
    StoredObject,
    Workload,
    WorkloadPriorityClass,
)
from sandbox.models.experiment import Experiment, Run
from sandbox.models.forecast import ForecastPart, KeptForecast
from sandbox.models.history import Checkpoint, Diff, Event, Revision, Sample
from sandbox.models.question import Question
from sandbox.models.sandbox import Answer, Member, Sandbox, Stored
from sandbox.models.whatif import KeptWhatIf

#: Kind -> its table; every other kind is in OtherObject.
TABLES: dict[str, type[StoredObject]] = {
    table.__name__: table
    for table in (
        ResourceFlavor,
        Cohort,
        ClusterQueue,
        LocalQueue,
        WorkloadPriorityClass,
        PriorityClass,
        Node,
        Workload,
        Pod,
        Job,
    )
}


ALL_TABLES: tuple[type[StoredObject], ...] = (*TABLES.values(), OtherObject)


def table_of(kind: str) -> type[StoredObject]:
    """Return the table that holds objects of this kind."""
    return TABLES.get(kind, OtherObject)
