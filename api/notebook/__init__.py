"""Worlds in Python: opened from files, stepped, changed and compared, without a server.

    import quotalab

    sb = quotalab.open("queues/", "jobs.yaml")
    sb.step(until="10m")
    sb.workloads().frame()
    sb.what_if(policy={"kueue": {"fairSharing": {}}}, seeds=[1, 2, 3]).verdict()
    grid = {"simulation.defaultRuntime": ["1m", "5m"]}
    quotalab.sweep(sb, grid, seeds=5).frame()

What arrives is a load: `open(..., load=[quotalab.week(job, per_day=40, hours="9-18")])`,
or fitted to a trace, `load=quotalab.fit("log.swf", queue="main")`.

`connect` gives the same objects of a server. Frames need pandas, plots matplotlib, the
progress bar tqdm: the extra `notebook` installs them. In the wheel this package is
`quotalab`.
"""

from __future__ import annotations

from api.notebook.loads import arrivals, fit, week
from api.notebook.local import LocalSandbox, open_files
from api.notebook.served import ServedSandbox, Server, connect
from api.notebook.sweeping import Sweep, sweep
from api.notebook.verdicts import Lines, Table, Verdict, WhatIf

open = open_files

__all__ = [
    "Lines",
    "LocalSandbox",
    "ServedSandbox",
    "Server",
    "Sweep",
    "Table",
    "Verdict",
    "WhatIf",
    "arrivals",
    "connect",
    "fit",
    "open",
    "sweep",
    "week",
]
