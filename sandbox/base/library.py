"""The library of scenarios: one folder each under `sandbox/scenarios/`."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from sandbox.base.errors import NotFoundError
from sandbox.base.refusals import Absent
from scheduler.input.manifests.documents import read_documents
from scheduler.model.errors import SchedulerError
from scheduler.model.problems import Problem
from scheduler.model.scenario import ListedStatement, Scenario, read_scenario

logger = logging.getLogger(__name__)

FOLDER = Path(__file__).parents[1] / "scenarios"
_FILE = "scenario.yaml"
_READ = (".yaml", ".yml", ".json", ".swf", ".txt")


@lru_cache(maxsize=1)
def names() -> tuple[str, ...]:
    """Return the names of the scenarios, by their place in the library.

    One that cannot be read is left out, and named in the log.
    """
    if not FOLDER.is_dir():
        return ()
    found = []
    for path in FOLDER.iterdir():
        if (path / _FILE).is_file():
            try:
                found.append((scenario_named(path.name).spec.order, path.name))
            except (NotFoundError, ValueError):
                logger.exception("%s cannot be read", path)
    return tuple(name for _, name in sorted(found))


@lru_cache(maxsize=1)
def statements() -> dict[str, list[ListedStatement]]:
    """Return the statements of each text, in their order.

    Raises SchedulerError, msgspec.ValidationError for a list that is not one.
    """
    path = FOLDER / "texts.yaml"
    [document] = read_documents(path.read_text(encoding="utf-8"), file=path.name)
    return msgspec.convert(document.data, dict[str, list[ListedStatement]])


@lru_cache(maxsize=1)
def courses() -> dict[str, tuple[str, ...]]:
    """Return of each text the scenarios with stops, in the order of its statements."""
    shown: dict[tuple[str, str], list[str]] = {}
    for name in names():
        spec = scenario_named(name).spec
        for one in spec.shows if spec.checkpoints else ():
            shown.setdefault((one.text, one.statement), []).append(name)
    return {
        text: tuple(
            dict.fromkeys(
                name for one in listed for name in shown.get((text, one.statement), ())
            )
        )
        for text, listed in statements().items()
    }


@lru_cache(maxsize=256)
def scenario_named(name: str) -> Scenario:
    """Return what the scenario says of itself; NotFoundError when there is none."""
    path = _folder(name) / _FILE
    try:
        documents = read_documents(path.read_text(encoding="utf-8"), file=path.name)
        found = [d for d in documents if d.kind == "Scenario"]
        return read_scenario(found[0].data)
    except (IndexError, SchedulerError) as error:
        raise NotFoundError(Problem.SCENARIO.said(name=name, problem=error)) from error


def files_of(name: str) -> list[tuple[str, str]]:
    """Return the scenario's files as (name, text)."""
    folder = _folder(name)
    return [
        (path.name, path.read_text(encoding="utf-8"))
        for path in sorted(folder.iterdir())
        if path.suffix in _READ
    ]


def known_files(name: str) -> list[tuple[str, str]] | None:
    """Return the same, and None when there is no such scenario."""
    try:
        return files_of(name)
    except NotFoundError:
        return None


def _folder(name: str) -> Path:
    folder = FOLDER / name
    if not name.replace("-", "").isalnum() or not (folder / _FILE).is_file():
        near = difflib.get_close_matches(name, names())
        if near:
            raise NotFoundError(
                Absent.SCENARIO_NEAR.said(name=f"{name!r}", near=near[0])
            )
        raise NotFoundError(Absent.SCENARIO.said(name=f"{name!r}"))
    return folder


# ------------------------------------------------------------------------
# The script of a lesson: what of a scenario a sandbox keeps of its own.


#: What a script has of a scenario's spec.
PARTS = ("title", "summary", "checkpoints", "expect")


def script_of(own: Mapping[str, Any], scenario: str) -> Scenario | None:
    """Return a lesson: a sandbox's `own` script, else the library's; None without one."""
    if own:
        return read_script(own)
    return scenario_named(scenario) if scenario else None


def script_part(scenario: Scenario) -> dict[str, Any]:
    """Return of a scenario what a script keeps; nothing where it has no stops.

    A script has no horizon: a stop says itself how far what is run beside it goes.
    """
    if not scenario.spec.checkpoints:
        return {}
    spec: dict[str, Any] = msgspec.to_builtins(scenario.spec)
    for stop in spec["checkpoints"]:
        if stop["beside"]:
            stop["until"] = stop["until"] or scenario.spec.horizon
    return {name: spec[name] for name in PARTS}


def read_script(script: Mapping[str, Any]) -> Scenario:
    """Return a script as a scenario. Raises PolicyError."""
    return read_scenario(
        {"apiVersion": "quotalab.dev/v1", "kind": "Scenario", "spec": dict(script)}
    )
