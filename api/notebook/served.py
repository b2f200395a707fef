"""The same objects of a server: what is done here is seen on its page."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import msgspec

from api.client import Client
from api.notebook.local import HORIZON, Change, Why, Would
from api.notebook.verdicts import Lines, Table, WhatIf
from scheduler.cli.files import read_paths
from scheduler.input.manifests.chosen_run_times import chosen
from scheduler.model import durations

_PAGE = 5_000
_MOST_SAMPLES = 20_000
_WAIT_S = 60


def connect(url: str = "http://127.0.0.1:8000", token: str = "") -> Server:
    """Return a server, asked as whoever the token is of."""
    return Server(Client(url, token=token))


class Server:
    """A server of Quotalab. Every call raises ApiError when it is refused."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def open(
        self,
        *paths: str | Path,
        scenario: str = "",
        policy: Mapping[str, Any] | None = None,
        seed: int | None = None,
        title: str = "",
    ) -> ServedSandbox:
        """Return a new sandbox of files and folders, or of a scenario of the library."""
        made = self.client.create(
            files=read_paths(paths),
            scenario=scenario,
            policy=policy,
            seed=seed,
            title=title,
        )
        return ServedSandbox(self.client, made["id"])

    def sandbox(self, name: str) -> ServedSandbox:
        """Return the sandbox with an id."""
        self.client.read(name)
        return ServedSandbox(self.client, name)

    def sandboxes(self) -> Table:
        """Return the sandboxes that the user may see."""
        rows: Any = self.client.sandboxes()
        return Table(rows)


class ServedSandbox:
    """A sandbox of a server."""

    def __init__(self, client: Client, name: str) -> None:
        self.client, self.id = client, name

    @property
    def tick(self) -> int:
        """Return how many ticks were made."""
        return self.client.read(self.id)["tick"]

    @property
    def seconds(self) -> float:
        """Return the virtual time."""
        return self.client.read(self.id)["tMs"] / 1000

    def step(self, ticks: int = 1, *, until: str = "") -> Self:
        """Make ticks, or tick to a virtual time such as "10m"; return the sandbox."""
        if until:
            now = self.client.read(self.id)
            left = durations.span_ms(until) - now["tMs"]
            ticks = max(0, -(-left // now["tickMs"]))
        if ticks:
            self.client.step(self.id, ticks)
        return self

    def workloads(self) -> Table:
        """Return a row per Workload; without Kueue, per pod."""
        if self.client.read(self.id)["stack"] == "kueue":
            return Table(map(_workload, self._table("workloads")))
        return Table(map(_pod, self._table("pods")))

    def _table(self, name: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        while len(rows) % _PAGE == 0:
            page = self.client.table(self.id, name, limit=_PAGE, offset=len(rows))
            if not page:
                break
            rows += page
        return rows

    def events(self) -> Table:
        """Return what was decided, oldest first."""
        rows: Any = self.client.events(self.id)
        return Table(rows)

    def shares(self) -> Lines:
        """Return the weighted share of each queue, tick by tick.

        Of more than 20,000 ticks evenly spaced ones.
        """
        found: dict[str, list[tuple[float, float | None]]] = {}
        found_in = self.client.operations.samples_read(self.id, limit=_MOST_SAMPLES)
        for sample in found_in["items"]:
            for queue in sample["queues"]:
                points = found.setdefault(queue["queue"], [])
                points.append((sample["tMs"] / 1000, queue["share"]))
        return Lines("Weighted share", found)

    def why(self, name: str = "") -> Why:
        """Return why anything is as it is, as `LocalSandbox.why`."""
        found: Any = self.client.operations.waiting_read(
            self.id, about=name or None, tried=bool(name) or None
        )
        return Why(found)

    def would(
        self,
        *manifests: Mapping[str, Any],
        horizon: str = "24h",
        run_times: Sequence[str] = (),
    ) -> Would:
        """Return whether work would start, as `LocalSandbox.would`."""
        body: Any = {"objects": manifests, "horizonMs": durations.span_ms(horizon)}
        if run_times:
            body["runTimes"] = {"rules": msgspec.to_builtins(chosen(run_times).rules)}
        found: Any = self.client.operations.would_create(self.id, body)
        return Would(found)

    def move(self, name: str, queue: str) -> Self:
        """Move a Workload, or that of a job, to a LocalQueue; return the sandbox.

        Raises LookupError for what does not exist, ApiError for what cannot be moved.
        """
        row = self._row(name)
        body: Any = {"workload": f"{row['namespace']}/{row['name']}", "to": queue}
        self.client.operations.move(self.id, body)
        return self

    def _row(self, name: str) -> Mapping[str, Any]:
        wanted = name.removeprefix("job/")
        part = wanted.rpartition("/")[2]
        for row in self.client.table(self.id, "workloads", search=part, limit=_PAGE):
            owner = str(row.get("owner") or "").rpartition("/")[2]
            names = {row["name"], owner}
            if wanted in names | {f"{row['namespace']}/{one}" for one in names}:
                return row
        raise LookupError(f"Workload {name} is not in sandbox {self.id}")

    def what_if(
        self,
        *changes: Change,
        policy: Mapping[str, Any] | None = None,
        horizon: str = HORIZON,
        seeds: Sequence[int] = (),
    ) -> WhatIf:
        """Return what changes made now would do up to a horizon, per seed.

        Changes are those of `quotalab.LocalSandbox.what_if`. It is listed on the page
        once the verdict is asked for. What is kept goes on from here; what came after is
        a fork then.
        """
        given = [*changes, *([{"policy": {"spec": policy}}] if policy else [])]
        ask, state = self.client.operations, dict[str, Any]()
        body: Any = {
            "at": self.tick,
            "changes": given,
            "horizonMs": durations.span_ms(horizon),
            "seeds": list(seeds),
        }

        def verdict() -> Mapping[str, Any]:
            state.update(self.client.what_if(self.id, body))
            found: Mapping[str, Any] = state["verdict"]
            return found

        def keep() -> None:
            if not state:
                verdict()
            ask.what_ifs_keep(self.id, state["id"])

        return WhatIf(verdict, keep)

    def experiment(self, spec: Mapping[str, Any]) -> Table:
        """Run an experiment from the present tick; return a row per run.

        Raises RuntimeError where it failed or was cancelled.
        """
        ask = self.client.operations
        base = {"sandbox": self.id, "tick": self.tick}
        document = {
            "apiVersion": "quotalab.dev/v1",
            "kind": "Experiment",
            "spec": {"base": base, **spec},
        }
        made: Any = ask.experiments_create({"document": document}, wait=_WAIT_S)
        while made["state"] == "running":
            made = ask.experiments_read(made["id"], wait=_WAIT_S)
        if made["state"] != "done":
            raise RuntimeError(f"experiment {made['id']} is {made['state']}")
        rows: dict[str, dict[str, Any]] = {}
        for line in csv.DictReader(
            io.StringIO(ask.experiments_results_csv(made["id"]))
        ):
            row = rows.setdefault(
                line["run"], {"variant": line["variant"], "seed": int(line["seed"])}
            )
            if line["error"]:
                row["error"] = line["error"]
            if line["measure"]:
                row[line["measure"]] = float(line["value"])
        return Table(rows.values())

    def _repr_html_(self) -> str:
        html = self.workloads()._repr_html_()
        return f"<p>{self.id}, tick {self.tick}</p>{html}"


def _workload(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of the page's table under the names that rows have here."""
    found = {
        "namespace": row["namespace"],
        "name": row["name"],
        "job": str(row["owner"] or "").rpartition("/")[2],
        "queue": row["clusterQueue"],
        "state": _STATES.get(row["phase"], "Pending"),
    }
    return found | {name: row[name] for name in _SAME}


_STATES = {"finished": "Finished", "admitted": "Admitted", "reserved": "QuotaReserved"}
_SAME = ("priority", "createdMs", "admittedMs", "finishedMs", "evictions")


def _pod(row: Mapping[str, Any]) -> dict[str, Any]:
    names = ("namespace", "name", "phase", "node")
    return {name: row[name] or "" for name in names}
