"""Which corrections of decisions a world follows: those that were there before it.

A stored world goes on by the decisions that it was made with, so that what it did
can be done again. The level stands in its header; what a correction changes asks
for its own number here.

Why: docs/decisions/worlds-keep-their-decisions.md.
"""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from scheduler.model.errors import SchedulerError
from scheduler.model.problems import FileProblem

#: A finished Workload has the reason and the sentence that Kueue takes from the job.
FINISHED_BY_JOB = 1
#: The status of a Job counts the completions of each round of its pods.
COUNTED_BY_ROUND = 2
#: Jobs, pods and what is in use are reconciled as a control plane was seen to do it.
RECONCILED = 3
#: Applications, groups and removed queues of YuniKorn are as its scheduler showed them,
#: and a change of the policy leaves what objects know of their jobs.
AS_SEEN = 4
#: What a script showed that was played on a control plane and a sandbox: checks that are
#: not ready start nothing, pods of a group agree on its size, served pods count once.
PROVED = 5
#: The level of a new world: the highest of those above.
NEWEST = PROVED


def read_level(stored: int | UnsetType) -> int:
    """Return the level of a stored world; 0 where none is stored.

    Raises SchedulerError for one of a later version.
    """
    level = 0 if stored is UNSET else stored
    if level > NEWEST:
        raise SchedulerError(FileProblem.LEVEL.said(most=NEWEST, given=level))
    return level


def stored_level(level: int) -> int | UnsetType:
    """Return how a level is stored: 0 is not, so worlds keep the hash they had."""
    return level or UNSET
