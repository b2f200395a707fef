"""The arguments of tools, each with its bounds: what is beyond them is never sent on."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from api.command.reading import TableName as TableName

SandboxId = Annotated[
    str, Field(pattern=r"^[0-9A-Za-z-]{1,64}$", description="id; see list_sandboxes")
]
Name = Annotated[
    str,
    Field(
        pattern=r"^[^/\x00-\x20]{1,253}/[^/\x00-\x20]{1,253}$",
        description="NAMESPACE/NAME, of a Workload or of its Job; see list_objects",
    ),
]
MaybeName = Annotated[
    str,
    Field(
        pattern=r"^$|^[^/\x00-\x20]{1,253}/[^/\x00-\x20]{1,253}$",
        description='NAMESPACE/NAME; "" = all',
    ),
]
Tick = Annotated[
    int | None, Field(ge=0, le=2**31, description="as it was then; now when left out")
]
Words = Annotated[str, Field(max_length=200, description="words in name or namespace")]
Title = Annotated[str, Field(max_length=200)]
Rows = Annotated[int, Field(ge=1, le=100)]
Minutes = Annotated[float, Field(gt=0, le=1440, description="of virtual time")]
Futures = Annotated[int, Field(ge=1, le=200)]
Ticks = Annotated[int, Field(ge=1, le=100_000)]
About = Annotated[
    str,
    Field(
        max_length=600,
        description="a Workload, job, pod, gang, application, queue, cohort or node, with "
        'its namespace or kind before it, if need be; "" = all that waits',
    ),
]
Manifest = Annotated[
    str, Field(max_length=100_000, description="YAML of one job, Workload or pod")
]
RunTimeRules = Annotated[
    list[Annotated[str, Field(max_length=300)]] | None,
    Field(
        max_length=20,
        description="how long work takes that does not say it: `5m`, or "
        "`name=train-*:exp(10m)`; terms: kind, namespace, name, queue, image, label",
    ),
]
Phase = Annotated[
    Literal[
        "",
        "waiting",
        "pending",
        "inadmissible",
        "reserved",
        "admitted",
        "finished",
        "inactive",
    ],
    Field(description="of workloads alone; waiting = pending or inadmissible"),
]
EventType = Annotated[str, Field(max_length=60, pattern=r"^[A-Za-z,]*$")]
Subject = Annotated[
    str, Field(max_length=600, description='e.g. "Workload/default/job-a"')
]


class Edit(BaseModel):
    """A JSON merge patch of one object; kind Policy patches the policy document."""

    model_config = ConfigDict(extra="forbid")

    kind: Annotated[str, Field(pattern=r"^[A-Za-z]{1,63}$")]
    namespace: Annotated[str, Field(max_length=253, pattern=r"^[^/\x00-\x20]*$")] = ""
    name: Annotated[str, Field(max_length=253, pattern=r"^[^/\x00-\x20]*$")] = ""
    patch: dict[str, Any]


MaybeChanges = Annotated[
    list[dict[str, Any]] | None,
    Field(
        max_length=20,
        description="changes of every sort, each an object with one key: patch {kind, namespace, name, body: a "
        "JSON merge patch}, apply {a whole object}, yaml (whole objects as a text), "
        "delete {kind, namespace, name}, policy {a merge patch, e.g. spec}, release "
        "{kueue: 0.16.4}, move {kind, namespace, name, to: {kind, namespace, name}}, pin "
        "{namespace, name, node}, node {name, change: add, cordon, uncordon, drain, fail "
        "or recover; like, labels, allocatable of a new one}, cluster {name, change: lose "
        "or recover}",
    ),
]


class File(BaseModel):
    """A file of YAML, JSON or a trace."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(max_length=200)]
    text: Annotated[str, Field(max_length=2_000_000)]


Files = Annotated[list[File], Field(min_length=1, max_length=50)]
MaybeEdits = Annotated[list[Edit] | None, Field(max_length=20)]
MaybeSandboxId = Annotated[
    str, Field(pattern=r"^[0-9A-Za-z-]{0,64}$", description='"" = a new sandbox')
]

ExperimentId = Annotated[
    str, Field(pattern=r"^[0-9A-Za-z-]{1,64}$", description="id; see start_search")
]
BaseSandbox = Annotated[
    str,
    Field(pattern=r"^[0-9A-Za-z-]{0,64}$", description='as it is now; or "" = files'),
]
BaseFiles = Annotated[list[File] | None, Field(max_length=50)]


class Objective(BaseModel):
    """A measure to be had low or high, e.g. preemptions or queues.NAME.p95Ms."""

    model_config = ConfigDict(extra="forbid")

    measure: Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x20]+$")]
    better: Literal["low", "high"] = "low"


class Goal(BaseModel):
    """What may change and what must hold, as in quotalab://docs/advisor.

    `change` has entries such as {"quota": {"flavor": "f", "resource": "cpu",
    "step": 2}} or {"preemption": {}}; `constraints` are sentences such as "queue a p95 wait
    under 30 s". Without objectives it is the smallest change that keeps them.
    """

    model_config = ConfigDict(extra="forbid")

    change: Annotated[list[dict[str, Any]], Field(min_length=1, max_length=20)]
    constraints: Annotated[
        list[Annotated[str, Field(max_length=200)]], Field(max_length=20)
    ] = []
    objectives: Annotated[list[Objective], Field(max_length=5)] = []
    seeds: Annotated[int, Field(ge=1, le=50)] = 3
    held_out: Annotated[int, Field(ge=2, le=50)] = 6
    runs: Annotated[int, Field(ge=2, le=2000, description="at most, to search")] = 120
    horizon: Annotated[
        str,
        Field(
            pattern=r"^([0-9.]{1,9}(ms|s|m|h|d|w)){0,4}$", description="e.g. 30m, 2d"
        ),
    ] = ""
