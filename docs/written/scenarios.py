"""The pages of the library: its scenarios, and the texts statement by statement."""

from __future__ import annotations

from collections.abc import Iterator

from sandbox.base import library
from scheduler.model.scenario import TEXTS, ListedStatement, ScenarioSpec
from tests.mutation.changes import changes

_HEAD = """# Scenarios

Each is a folder of `sandbox/scenarios/`: manifests, and a `scenario.yaml` with the
policy, what arrives when, the questions of the lesson, and what must happen. Run one
without a database: `python -m scheduler run sandbox/scenarios/NAME`. A test runs every
one to its horizon. This page is written by `python -m docs.written`.

## Writing one

- Texts (`title`, `summary`, and of a checkpoint `say`, `ask`, `answer`, `choices`) are
  given as `en`, `zh-Hans` and `zh-Hant`; `right` is the index of the right choice.
- A checkpoint's `at` is the end of a tick before what it asks about is decided: the board
  shows the whole tick, and would show the answer.
- Objects come at their annotation `quotalab.dev/arrival` ([annotations.md](annotations.md)), or many of one kind by
  `arrivals` ([loads.md](loads.md)): `at`, `interval`, `poisson` and `week` (from the seed), `swf` (a trace file in the
  folder). A generator file of Kueue's performance tests is read as it is.
- What is done to an object later is a `Change` (`apiVersion: quotalab.dev/v1`) with an
  arrival: `spec.target` and one of `patch` (a merge patch; `status.reclaimablePods`
  too), `delete: true`, or for a Node `node: cordon | uncordon | drain | fail | recover`.
  A patch of YuniKorn's `queues.yaml` in its ConfigMap applies at that instant; what a scheduler reads when it starts alone is refused.
- An object with the annotation `quotalab.dev/cluster: NAME` lives in that worker cluster
  ([MultiKueue](semantics/kueue-multikueue.md)); decisions name it `NAME:object`. A patch of
  the `status.conditions` of its MultiKueueCluster (Active) loses it or reaches it again.
- `expect` names decisions by `type`, `subject`, `by`, `reason`, `node`, a part of
  `message` and the work `lost` (`27s`), at a time or at any; with `never` they must not
  be taken, with `most` not more often than that.
- With `twin` its sandbox shows a recording of its run, to the horizon, as a real cluster's.
  Beside `expect` it claims what no decision shows: how many decisions agree (`shadow`), bands
  and what came (`forecasts`), how often they were right (`record`), what a fork does
  (`forks`). A test runs each claim, and holds every number and name of the texts to them.
- A checkpoint may run the same moment under other policies, `beside` the run: each has a
  `title`, a `policy` (merge patch of the policy's spec), what it `expect`s and what it alone
  `reports`; a lesson that the released core decides otherwise has one of it. They run to
  `until`. `switch` is the path of a setting that the stop is about, which the page opens.
- `reports` has parts of what loading and the run report: a refused `Change`, a value that
  is not taken. What is reported beside that fails the test.
- `shows` names statements of the texts that happen here ([texts](texts.md)): `text`,
  `statement` in one's own words, and `at`, the time of an expectation that shows it.
- What an extender answers is given by `policy.simulation.extenders`: `refuse` and
  `scores` by node, or an `error`, and `latencyMs`; a scenario calls nobody.
"""
_STACKS = {
    "kueue": "Kueue",
    "kube": "kube-scheduler alone",
    "yunikorn": "YuniKorn",
}


def scenarios_page() -> str:
    """Return the text of `docs/scenarios.md`: a table per stack, in the library's order."""
    found = [(name, library.scenario_named(name).spec) for name in library.names()]
    parts = [_HEAD]
    for stack, title in _STACKS.items():
        specs = [(n, s) for n, s in found if s.policy.get("stack", "kueue") == stack]
        parts.append("\n".join([f"## {title} ({len(specs)})", "", *_table(specs)]))
    return "\n".join(f"{part.rstrip()}\n" for part in parts)


def _table(specs: list[tuple[str, ScenarioSpec]]) -> Iterator[str]:
    yield "| name | what it shows |"
    yield "| --- | --- |"
    for name, spec in specs:
        yield f"| `{name}` | **{spec.title['en']}** · {spec.summary['en']} |"


_TEXTS_HEAD = """# The texts, statement by statement

Where a statement of the texts behind this product happens: the scenario, the time at
which its board shows it, and the test that holds it. *expected* is
`test_what_is_expected_happens[SCENARIO]` of `tests/scheduler/test_scenarios.py`, which
runs the scenario and holds it to what it expects then; another test beside it holds
what no decision shows. A *mutant* is a change of the engine that breaks the statement; the
*killer* fails under it, which `./dev mutate texts [WORD...]` tries and CI in part. A row
without one is not shown to be able to fail. This page is written by `python -m docs.written`
from `sandbox/scenarios/texts.yaml`, `tests/mutation/texts.yaml` and `shows` of the scenarios.
"""


_UNSHOWN = """## Not shown yet

| statement | why no scenario shows it |
| --- | --- |
| Data near tasks makes them faster | a run time is that of the work, whatever node it has; a score can place it (`kube-data-near`) |
| Local and implicit coscheduling let fragments run | both divide the time of a node's CPUs between processes that already run there; a pod here is placed once and runs without a break, and minMember says how large a fragment may be (`kube-gang-fragments`) |
"""


def texts() -> str:
    """Return the page of the texts: a row per statement, in the order of the list."""
    shown: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for name in library.names():
        for one in library.scenario_named(name).spec.shows:
            places = shown.setdefault((one.text, one.statement), [])
            places.append((name, one.at or "the whole run"))
    parts = [_TEXTS_HEAD]
    for text, listed in library.statements().items():
        rows = [_row(one, shown.get((text, one.statement), [])) for one in listed]
        head = "| statement | scenario | at | test | mutant | killer |"
        title = f"## {TEXTS[text]} ({len(rows)})"
        parts.append("\n".join([title, "", head, "| --- " * 6 + "|", *rows]))
    parts += [_UNSHOWN, "\n".join(_mutants())]
    return "\n".join(f"{part.rstrip()}\n" for part in parts)


def _row(listed: ListedStatement, places: list[tuple[str, str]]) -> str:
    scenarios = ", ".join(f"`{name}`" for name, _ in places)
    times = ", ".join(at for _, at in places)
    own = f"`{listed.test.split('::')[-1]}` ({listed.test.split('::')[0]})"
    expected = ["expected"] if places else []
    held = " · ".join([*expected, own] if listed.test else expected)
    killer = "the test" if listed.killer else "expected"
    broken = f"`{listed.mutant}` | {killer}" if listed.mutant else "none yet |"
    return f"| {listed.statement} | {scenarios} | {times} | {held} | {broken} |"


def _mutants() -> Iterator[str]:
    known = changes()
    yield f"## Mutants ({len(known)})\n"
    yield "| mutant | function | what it says | what the mutant says |"
    yield "| --- | --- | --- | --- |"
    for name, one in known.items():
        where = f"`{one.function()}` of `{one.file}`"
        pairs = {one.replace: one.by, **one.also}
        sides = (pairs, pairs.values())
        texts = (" … ".join(" ".join(text.split()) for text in side) for side in sides)
        said = " | ".join(f"`{text.replace('|', chr(92) + '|')}`" for text in texts)
        yield f"| `{name}` | {where} | {said} |"
