"""Tools that read: sandboxes, objects, why, what would start it, when, what differs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from msgspec import to_builtins

from api.assistants import fields, wording
from api.assistants.asking import Asker, Upstream, refusals
from api.assistants.tools import adding
from api.assistants.wording import answer, patches, plain, quoted, span
from scheduler.analysis.explain.answers import lines_of as why_lines
from scheduler.analysis.explain.would import lines_of as would_lines
from scheduler.input.manifests.chosen_run_times import chosen
from scheduler.model.errors import SchedulerError

_FIRST = ("phase", "state", "queue", "clusterQueue", "priority", "node", "message")
_MOST_BRANCHES_ROWS = 15
_SAME = ("type", "subject", "by", "reason")


def _workload_of(
    up: Upstream, context: Asker, sandbox: str, name: str, tick: int | None = None
) -> str:
    """Return "namespace/name" of the Workload of a job; a name of nothing is refused."""
    found: Any = up.client(context).operations.waiting_read(
        sandbox, about=name, tick=tick
    )
    return _about(found).removeprefix("Workload/") or name


class ReadingTools:
    """Tools that read, for one server."""

    def __init__(self, up: Upstream) -> None:
        self.up = up

    def list_sandboxes(
        self, context: Asker, search: fields.Words = "", limit: fields.Rows = 20
    ) -> str:
        """List the sandboxes you may see: id, title, tick, whether time runs."""
        with refusals():
            found: Any = self.up.client(context).sandboxes()
        rows = [one for one in found if search.lower() in one["title"].lower()]
        lines = [f"{len(rows)} sandboxes"]
        lines += [
            f"{one['id']}: {quoted(one['title'])}, tick {one['tick']} "
            f"({span(one['tMs'])}), {'playing' if one['playing'] else 'paused'}, "
            f"{plain(one['stack'])}, you are {plain(one['role'])}"
            for one in rows[:limit]
        ]
        return answer(lines, self.up.url)

    def list_objects(
        self,
        context: Asker,
        sandbox: fields.SandboxId,
        table: fields.TableName = "workloads",
        phase: fields.Phase = "",
        search: fields.Words = "",
        limit: fields.Rows = 20,
        tick: fields.Tick = None,
    ) -> str:
        """List workloads, queues, nodes or other objects of a sandbox, a line each."""
        if table == "workloads" and phase == "waiting":
            phase = "pending"
        with refusals():
            found: Any = self.up.client(context).operations.tables_read(
                sandbox,
                table,
                fields={"phase": phase} if phase else {},
                search=search or None,
                limit=limit,
                tick=tick,
            )
        rows = found["items"]
        head = f"{len(rows)} of {found['total']} {table}"
        return answer([head, *map(_row, rows)], self.up.link(sandbox))

    def explain(
        self,
        context: Asker,
        sandbox: fields.SandboxId,
        about: fields.About = "",
        tick: fields.Tick = None,
    ) -> str:
        """Say why anything is as it is, in numbers; or what waits here, and for what."""
        with refusals():
            found: Any = self.up.client(context).operations.waiting_read(
                sandbox, about=about or None, tick=tick, tried=bool(about) or None
            )
        lines = [plain(line, most=600) for line in why_lines(found)]
        return answer(lines, self.up.link(sandbox, _about(found)))

    def would_start(
        self,
        context: Asker,
        sandbox: fields.SandboxId,
        manifest: fields.Manifest,
        run_times: fields.RunTimeRules = None,
        tick: fields.Tick = None,
    ) -> str:
        """Say whether work would start if it were submitted: when, and at whose cost.

        With the smallest changes of it that start it now. Nothing is submitted.
        """
        body: Any = {"files": [{"name": "manifest.yaml", "text": manifest}]}
        if tick is not None:
            body["tick"] = tick
        if run_times:
            try:
                body["runTimes"] = {"rules": to_builtins(chosen(run_times).rules)}
            except SchedulerError as error:
                raise ToolError(plain(str(error), most=600)) from error
        with refusals():
            found: Any = self.up.client(context).operations.would_create(sandbox, body)
        lines = [plain(line, most=600) for line in would_lines(found)]
        return answer(lines, self.up.link(sandbox))

    def what_would_start(
        self,
        context: Asker,
        sandbox: fields.SandboxId,
        name: fields.Name,
        within_minutes: fields.Minutes = 10,
        tick: fields.Tick = None,
    ) -> str:
        """Find the smallest change that starts a waiting Workload within a time.

        Each change was really run on a copy; the sandbox stays as it is.
        """
        namespace, _, own = name.partition("/")
        horizon_ms = round(within_minutes * 60_000)
        with refusals():
            found: Any = self.up.client(context).operations.counterfactuals_read(
                sandbox, namespace, own, horizon_ms=horizon_ms, tick=tick
            )
        lines = lines_of(found, name)
        return answer(lines, self.up.link(sandbox, f"Workload/{name}"))

    def what_if(
        self,
        context: Asker,
        sandbox: fields.SandboxId,
        edits: fields.MaybeEdits = None,
        changes: fields.MaybeChanges = None,
        name: fields.MaybeName = "",
        within_minutes: fields.Minutes = 10,
        tick: fields.Tick = None,
    ) -> str:
        """Say who pays for changes, by team, and why; nothing is changed.

        Two copies run beside each other, with the changes and without them, and the
        page lists the what-if. `name` is the Workload that it is about; `edits` are
        merge patches, where kind Policy patches the policy, and come first.
        """
        if not edits and not changes:
            raise ToolError("expected edits or changes, got neither")
        asked: Any = {
            "at": tick,
            "changes": [*map(wording.change_of, edits or ()), *(changes or ())],
            "horizonMs": round(within_minutes * 60_000),
        }
        with refusals():
            found: Any = self.up.client(context).what_if(sandbox, asked)
            if name and not wording.of_name(found["verdict"], name):
                name = _workload_of(self.up, context, sandbox, name, tick)
        lines = wording.lines_of(found["verdict"], name)
        return answer(lines, self.up.link(sandbox) + f"?what-if={found['id']}")

    def forecast(
        self,
        context: Asker,
        sandbox: fields.SandboxId,
        name: fields.MaybeName = "",
        horizon_minutes: fields.Minutes = 60,
        futures: fields.Futures = 20,
    ) -> str:
        """Say when waiting Workloads start: p10, p50, p90 over seeded futures."""
        with refusals():
            found: Any = self.up.client(context).operations.forecast_read(
                sandbox, futures=futures, horizon_ms=round(horizon_minutes * 60_000)
            )
            waiting = {one["workload"].partition("/")[2] for one in found["starts"]}
            if name and name not in waiting:  # of a job, or of what does not wait
                name = _workload_of(self.up, context, sandbox, name)
        starts = [
            one
            for one in found["starts"]
            if name in ("", one["workload"].partition("/")[2])
        ]
        head = f"{len(starts)} wait; {found['futures']} futures"
        if not found["enough"]:
            head += ", not enough finished work to go by: the times are guesses"
        lines = [
            head,
            *(start_line(one, enough=found["enough"]) for one in starts[:30]),
        ]
        if name and not starts:
            lines = [f"{name} does not wait"]
        return answer(lines, self.up.link(sandbox, f"Workload/{name}" if name else ""))

    def compare(
        self, context: Asker, sandbox: fields.SandboxId, other: fields.SandboxId
    ) -> str:
        """Compare two branches: where they part, whose outcome differs, the totals."""
        with refusals():
            found: Any = self.up.client(context).operations.compare_read(
                sandbox, with_=other
            )
        lines = list(_comparison(found))
        return answer(lines, self.up.link(sandbox, view="compare") + f"?with={other}")

    def list_events(
        self,
        context: Asker,
        sandbox: fields.SandboxId,
        type: fields.EventType = "",
        subject: fields.Subject = "",
        limit: fields.Rows = 20,
    ) -> str:
        """List the newest decisions and edits: Admit, Preempt, Evict, Finish, ..."""
        with refusals():
            found: Any = self.up.client(context).operations.events_read(
                sandbox,
                type=type or None,
                subject=subject or None,
                limit=limit,
                newest=True,
            )
        lines = [_event(*part) for part in _runs(found["items"])]
        return answer(lines or ["no such event"], self.up.link(sandbox, view="events"))

    def list_scenarios(self, context: Asker) -> str:
        """List the scenarios of the library, each a sandbox to begin with."""
        with refusals():
            found: Any = self.up.client(context).operations.scenarios_list()["items"]
        lines = [f"{one['name']}: {quoted(one['title']['en'])}" for one in found]
        return answer(lines, f"{self.up.url}/scenarios")


def add_reading(server: MCPServer[Any], up: Upstream) -> None:
    """Add them to a server, by their names here."""
    tool, tools = adding(server, reads=True), ReadingTools(up)
    for add in (
        tools.list_sandboxes,
        tools.list_objects,
        tools.explain,
        tools.would_start,
        tools.what_would_start,
        tools.what_if,
        tools.forecast,
        tools.compare,
        tools.list_events,
        tools.list_scenarios,
    ):
        tool(add)


def _about(found: dict[str, Any]) -> str:
    """Return the one Workload or pod that an answer is about; "" for anything else."""
    about = found["answers"][0]["about"] if len(found["answers"]) == 1 else ""
    return about if about.startswith(("Workload/", "Pod/")) else ""


def _row(row: dict[str, Any]) -> str:
    name = plain(row.get("name"))
    if row.get("namespace"):
        name = f"{plain(row['namespace'])}/{name}"
    said = [
        f"{key} {plain(row[key], most=120)}"
        for key in _FIRST
        if row.get(key) not in (None, "", [], {})
    ]
    return f"{name}: {', '.join(said)}" if said else name


def start_line(one: dict[str, Any], *, enough: bool) -> str:
    """Return when a Workload starts; without enough history it is called a guess."""
    low, middle, high = (span(one[f"{p}Ms"]) for p in ("p10", "p50", "p90"))
    own = plain(one["workload"]).removeprefix("Workload/")
    where = f"{own} in {plain(one['queue'])}"
    if not enough:
        return f"{where}: a guess, {low} to {high}"
    chances = ", ".join(
        f"{one['chance']:.0%} within {span(one['withinMs'])}" for one in one["chances"]
    )
    return f"{where}: likely in {middle} (p10 {low}, p90 {high}; {chances})"


def _runs(events: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], int, int]]:
    """Yield each event that is not the one before it again, how often, and until when."""
    for _, group in groupby(events, lambda e: tuple(e[name] for name in _SAME)):
        same = list(group)
        yield same[0], len(same), same[-1]["tick"]


def _event(one: dict[str, Any], count: int, last: int) -> str:
    by = f" by {plain(one['by'])}" if one["by"] else ""
    why = f": {plain(one['reason'])}" if one["reason"] else ""
    more = f" ({count} times, to tick {last})" if count > 1 else ""
    return f"tick {one['tick']} {one['type']} {plain(one['subject'])}{by}{why}{more}"


def _comparison(found: dict[str, Any]) -> Iterator[str]:
    names = [f"{one['id']} {quoted(one['title'])}" for one in found["branches"]]
    yield f"{names[0]} and {', '.join(names[1:])}, ticks {found['fromTick']} to {found['toTick']}"
    ticks = [one["tick"] for one in found["branches"]]
    if max(ticks) > found["toTick"]:
        yield (
            f"compared up to tick {found['toTick']}, which all have; they are at "
            f"{' and '.join(map(str, ticks))}: run a fork of the other as far for more"
        )
    part = found["differences"][0] if found["differences"] else None
    yield (
        "they decide the same" if part is None else f"they part at tick {part['tick']}"
    )
    for counts in found["counts"][:1]:
        yield "workloads: " + ", ".join(f"{n} {name}" for name, n in counts.items())
    for total in found["totals"][:_MOST_BRANCHES_ROWS]:
        values = ", ".join("-" if v is None else f"{v:.4g}" for v in total["values"])
        yield f"{plain(total['measure'])}: {values}"


# ------------------------------------------------------------------------
# The smallest change that starts a workload in time, out of verdicts that were run.

_MOST_OTHERS = 3


def lines_of(found: dict[str, Any], name: str) -> Iterator[str]:
    """Yield the answer: it is admitted without a change, the smallest change, other changes, or none.

    Smallest is: the fewest objects edited, then the fewest workloads preempted for
    it, then the least work lost, then the soonest. Those after which all pods get their
    nodes come first.
    """
    horizon = span(found["horizonMs"])
    begin = found["atMs"]
    waits = [one for one in found["verdicts"] if one["kind"] == "wait"]
    if waits and waits[0]["verdict"] == "yes":
        late = span(_late(waits[0], begin))
        yield f"{name} starts by itself in {late}; nothing has to be changed for that."
    else:
        yield f"{name} does not start by itself within {horizon}."
    changes = [one for one in found["verdicts"] if _starts(one, begin, found)]
    changes.sort(key=lambda one: _size(one, begin))
    if changes:
        sooner = bool(waits) and _yes(waits[0])
        yield from _smallest(changes, begin, sooner=sooner)
    elif not (waits and _yes(waits[0])):
        yield f"No single change that was tried starts it within {horizon}."
        for one in found["verdicts"][:_MOST_OTHERS]:
            yield f"tried: {_sentence(one)}"
    yield (
        f"{found['tried']} of {found['questions']} kinds of change were tried in "
        f"{found['runs']} runs on copies; the sandbox is as it was."
    )


def _smallest(
    changes: list[dict[str, Any]], begin: int, *, sooner: bool
) -> Iterator[str]:
    first = changes[0]
    word = "Sooner" if sooner else "Smallest change"
    yield f"{word}: {_sentence(first)} It starts in {span(_late(first, begin))}."
    victims = first["outcome"]["victims"]
    if victims:
        names = ", ".join(plain(one["workload"]) for one in victims[:5])
        lost = span(first["outcome"]["workLostMs"])
        yield f"It preempts {len(victims)}: {names}; {lost} of work is lost."
    if first["outcome"]["pods"] == "pending":
        pending = plain(first["outcome"]["podsMessage"])
        yield f"But it is admitted only; its pods stay pending: {pending}"
    yield from patches(first["change"])
    for one in changes[1 : 1 + _MOST_OTHERS]:
        yield f"Also: {_sentence(one)} It starts in {span(_late(one, begin))}."


def _yes(verdict: dict[str, Any]) -> bool:
    return bool(verdict["verdict"] == "yes")


def _starts(verdict: dict[str, Any], begin: int, found: dict[str, Any]) -> bool:
    """Return whether it is a change after which the workload is admitted in time."""
    if verdict["kind"] == "wait" or verdict["verdict"] not in ("yes", "but"):
        return False
    late = _late(verdict, begin)
    return late is not None and late <= found["horizonMs"]


def _late(verdict: dict[str, Any], begin: int) -> int | None:
    at = verdict["outcome"]["atMs"]
    return None if at is None else int(at) - begin


def _size(verdict: dict[str, Any], begin: int) -> tuple[float, ...]:
    change = verdict["change"] or {"edits": [], "pause": []}
    edited = {(e["kind"], e["namespace"], e["name"]) for e in change["edits"]}
    outcome = verdict["outcome"]
    return (
        verdict["verdict"] != "yes",
        len(edited),
        len(outcome["victims"]),
        outcome["workLostMs"],
        _late(verdict, begin) or 0,
    )


def _sentence(verdict: dict[str, Any]) -> str:
    """Return what is changed and what that does, each ending in a full stop."""
    parts = [plain(verdict[key], most=400) for key in ("subject", "effect")]
    return " ".join(part.rstrip(".") + "." for part in parts if part)
