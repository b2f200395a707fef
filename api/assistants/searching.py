"""Tools for the advisor's search: what it would take, its start, how far it is, its answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from api.assistants import fields
from api.assistants.asking import Asker, Upstream, refusals
from api.assistants.tools import adding
from api.assistants.wording import answer, plain, span
from scheduler.model.texts.values import read_values

_MOST_EDITS = 20
_MOST_MANIFESTS = 2_500  # letters of patches that are quoted


def add_search_reading(server: MCPServer[Any], up: Upstream) -> None:
    """Add the tools that estimate a search and look at one."""
    tool = adding(server, reads=True)

    @tool
    def estimate_search(
        context: Asker,
        goal: fields.Goal,
        sandbox: fields.BaseSandbox = "",
        files: fields.BaseFiles = None,
    ) -> str:
        """Say how many settings and runs a search for a goal would be; starts nothing.

        It begins from a sandbox as it is now, or from files.
        """
        body = _body(goal, sandbox, files)
        with refusals():
            found: Any = up.client(context).operations.experiments_estimate(body)
        return answer(
            [
                f"{found['settings']} settings; at most about {found['runs']} runs "
                f"of {found['secondsPerRun']} s: {found['cpuSeconds']:.0f} s of CPU"
            ]
        )

    @tool
    def look_at_search(context: Asker, experiment: fields.ExperimentId) -> str:
        """Say how far a search is or, when it has ended, what should be set and why."""
        with refusals():
            found: Any = up.client(context).operations.experiments_read(experiment)
        return _state(up, found)


def add_search_changing(server: MCPServer[Any], up: Upstream) -> None:
    """Add the tools that start a search and end one early."""
    tool = adding(server, reads=False)

    @tool
    def start_search(
        context: Asker,
        goal: fields.Goal,
        sandbox: fields.BaseSandbox = "",
        files: fields.BaseFiles = None,
        title: fields.Title = "",
    ) -> str:
        """Search for the smallest change that reaches a goal; `look_at_search` follows it.

        It begins from a sandbox as it is now, or from files, and changes neither: the
        server's workers run copies, and prove the best on seeds it was not searched with.
        """
        body = _body(goal, sandbox, files, title)
        with refusals():
            made: Any = up.client(context).operations.experiments_create(body)
        return answer([f"experiment {made['id']} has begun"], _link(up, made))

    @tool
    def take_search(context: Asker, experiment: fields.ExperimentId) -> str:
        """Stop searching: the best so far is made smaller and proven, then answered."""
        with refusals():
            operations = up.client(context).operations
            operations.experiments_take(experiment)
            found: Any = operations.experiments_read(experiment)
        return _state(up, found)


def _body(
    goal: fields.Goal, sandbox: str, files: list[fields.File] | None, title: str = ""
) -> Any:
    if bool(sandbox) == bool(files):
        raise ToolError("expected one of sandbox and files: where the search begins")
    listed = [one.model_dump() for one in files or ()]
    base: dict[str, Any] = {"sandbox": sandbox}
    if listed:
        base = {"files": [one["name"] for one in listed]}
    spec: dict[str, Any] = {
        "base": base,
        "title": title or "Advisor",
        "seeds": {"count": goal.seeds},
        "search": {
            "change": goal.change,
            "constraints": goal.constraints,
            "runs": goal.runs,
            "heldOut": {"count": goal.held_out},
        },
    }
    if goal.objectives:
        spec["objectives"] = [one.model_dump() for one in goal.objectives]
    if goal.horizon:
        spec["horizon"] = goal.horizon
    document = {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Experiment",
        "metadata": {"name": "advice"},
        "spec": spec,
    }
    return {"document": document, "files": listed}


def _state(up: Upstream, found: dict[str, Any]) -> str:
    search = found["search"]
    if search is None:
        raise ToolError(f"experiment {found['id']} is no search")
    link = _link(up, found)
    if search["answer"] is not None:
        return answer(_answer(search["answer"], up, found["id"]), link)
    if search["error"]:
        return answer([f"no answer: {plain(search['error'], most=600)}"], link)
    tried = len(found["variants"])
    doing = "searching" if search["searching"] else plain(found["state"])
    line = (
        f"experiment {found['id']}: {doing}; {found['done']} runs of {tried} settings"
    )
    return answer([line], link)


def _link(up: Upstream, found: dict[str, Any]) -> str:
    base = (found.get("document") or {}).get("spec", {}).get("base") or {}
    sandbox = base.get("sandbox")
    if not sandbox:
        return f"{up.url}/api/v1/experiments/{found['id']}"
    return f"{up.link(sandbox, view='advisor')}?run={found['id']}"


def _answer(found: dict[str, Any], up: Upstream, experiment: str) -> Iterator[str]:
    yield f"{found['verdict']}: {plain(found['summary'], most=600)}"
    yield (
        f"{found['tried']} of {found['settings']} settings tried in {found['runs']} runs; "
        f"proven in {found['proofRuns']} more, on {len(found['heldOut'])} seeds that "
        "the search did not use"
    )
    for edit in found["edits"][:_MOST_EDITS]:
        where = f"{plain(edit['object'])} {plain(edit['field'])}"
        needed = "; needed" if edit["needed"] else ""
        yield f"set {where}: {plain(edit['before'])} -> {plain(edit['after'])}{needed}"
    for one in found["constraints"]:
        word = "kept" if one["heldAfter"] else "MISSED"
        values = f"{_number(one['text'], one['before'])} -> {_number(one['text'], one['after'])}"
        yield f"{word}: {plain(one['text'])} ({values})"
    for row in found["rows"]:
        if row["better"] and row["heldDifference"] is not None:
            yield f"{plain(row['measure'])}: {_difference(row)}"
    yield from _manifests(found["patches"])
    if found["patches"]:
        yield f"kubectl apply -f {up.url}/api/v1/experiments/{experiment}/patches.yaml"


def _difference(row: dict[str, Any]) -> str:
    one = row["heldDifference"]
    name = row["measure"]
    text = f"{_number(name, one['mean'])} on held-out seeds"
    if one["low"] is not None:
        low, high = (_number(name, one[end]) for end in ("low", "high"))
        text += f" (95%: {low} to {high})"
    return text


def _number(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    if name.endswith("Ms"):
        return f"-{span(-value)}" if value < 0 else span(value)
    return f"{value:.4g}"


def _manifests(text: str) -> Iterator[str]:
    """Yield the manifests to apply, one a line, when they are few."""
    if 0 < len(text) <= _MOST_MANIFESTS:
        for one in read_values(text):
            yield f"manifest: {json.dumps(one, sort_keys=True, ensure_ascii=False)}"
