"""The page of releases, from the tables."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.model.releases.kueue_gates import KUEUE_GATES
from scheduler.model.releases.release import (
    API_VERSIONS,
    FOLLOWED_FROM,
    KNOWN,
    NEWEST,
    TITLES,
    UNRELEASED,
    Release,
    Scheduler,
    known,
    kueue_gates,
    older,
    parsed,
)
from scheduler.model.releases.rules import (
    RECOVERS,
    RULES,
    WAITS,
    Rule,
    waiting_defaults,
)

_HEAD = """# Releases

A world names the release of each scheduler that decides in it. A new one that names none gets the newest release of
each; where `featureGates` are given with which the newest Kueue does not start, the newest that does, and that is said.
Recordings that name none decide as Kueue's default branch
({unreleased}), which `main` names. This page is written by `python -m docs.written` from the tables of
`scheduler/model/releases/`.

```
release: {{kueue: 0.19.2, kubernetes: 1.36.3, yunikorn: 1.9.0}}   # `spec` of a Scenario, `spec` of a Policy
python -m scheduler run FILES --release kueue=0.19.2 --release kubernetes=1.35.4
POST /api/v1/sandboxes {{"files": [...], "release": {{"kueue": "0.19.2"}}}}
```

`quotalab plan --release 0.16.4 --against 0.19.2 --on WORK` runs the same work as both decide on it (`WORK` is a recording,
a scenario, a folder of YAML or a trace): who starts earlier, later or no more, which reasons differ, which
change does it, found by turning each back alone, the gate that turns it back, and with `--smallest FOLDER` the smallest
work that still shows it; `--workers` processes share the runs. Then it lists the changes that this work may notice and
that runs do not tell apart, with the objects that they concern, and counts the others. It says that nothing differs only
where nothing could. `--fail-on differs` or `--fail-on could` ends with 1, for a pipeline. A what-if takes
`{{"release": {{"kueue": "0.19.2"}}}}` as a change: that release decides from its instant on.

It is part of the policy: an edit, an undo, a what-if and an archive take it along, and hashes hold it. `0.19` is the last patch of its branch. What a cluster's dump says of its controllers (image tags, the label
`app.kubernetes.io/version`) is taken, and reported; so is `kueue_build_info` in a file of metrics (`metrics*.txt`, `*.prom`).
The twin of a cluster takes what its API server says of itself and the tag of Kueue's manager, where the pods of `kueue-system` may be
listed. `quotalab record` writes both into the recording, and whatever goes on from it (`incident`, `plan`, a played recording and its forks)
decides so; an older recording says it by its controllers' pods, a folder by its metrics.

A change is followed *from* a release where all releases from there on have it: older ones decide so, too. Devices
(dynamic resource allocation) are the same in all releases; fields of theirs that are not followed are reported on import.

Gates that `featureGates` gives count more than the release; one that the release does not know, or that it has locked,
is refused as Kueue refuses to start. What is asked for and not followed is named: on the page, in the first lines of
`run`, and below.

| scheduler | taken | followed from | newest |
| --- | --- | --- | --- |
"""
_RULES = """## Changes

The ledger has {count} changes that can be seen from outside. `first patch` is of each branch; `yes` of a release is that
it has the change. *Followed*: each release decides as itself; *alike*: runs decide alike for every release, and a report
of an upgrade says that it could differ; *not examined*: the same, and nobody has read its source yet. *Recorded* is
played on the real one, *read* is read in its source, *told* is told by its changelog. `concerns` is what a world must have
to notice it; what changes statuses, messages, answers or metrics alone, and what needs an edit, a restart, chance or a
gate that no policy gives, says so there. *Held* has a test that fails when the row is turned over.

| scheduler | changes | followed | of these held | alike | not examined | of these decisions of undisturbed runs |
| --- | --- | --- | --- | --- | --- | --- |
{counts}
"""
_CHECKED = """## How far it was checked

118 scripts were played on a real control plane (Kubernetes 1.36.3) of Kueue 0.17.0, 0.18.6 and 0.19.1 each, beside other work, and on a
sandbox of that release; what differed there was played once more. Equal in what stands at each look, events and metrics set
aside: 115, 115 and 116; in the first play alone 111, 108 and 117. What differs: a pod group whose Workload a person moves, before its pods put it back; by chance
which of equal heads is served and which pod of a group gets which host; a Job that ended late; and on 0.17.0 an edit that
its webhook answers with a panic (500, 403 here). `tests/truth/releases/` keeps a part of those that are equal in all;
`bench_releases.py` says how many scripts that differ between two releases a play of both names ([benchmarks](benchmarks.md)).

Not checked: the other patches have not been played. Rows that are *alike* are found by what they concern and not by what they
do. Kubernetes and YuniKorn have been played in one release each.
"""
_DEFAULTS = """## waitForPodsReady, where a Configuration leaves it out

| apiVersion | since | no section | timeout | recoveryTimeout | blockAdmission |
| --- | --- | --- | --- | --- | --- |
"""


def releases_page() -> str:
    """Return the text of `docs/releases.md`."""
    parts = [
        _HEAD.format(unreleased=UNRELEASED) + "\n".join(_schedulers()),
        _RULES.format(count=len(RULES), counts="\n".join(_counts())).rstrip(),
        *(_table(scheduler) for scheduler in TITLES),
        _DEFAULTS + "\n".join(_defaults()),
        _CHECKED,
        "\n".join(_gates()),
    ]
    return "\n".join(f"{part.rstrip()}\n" for part in parts)


def _schedulers() -> Iterator[str]:
    for scheduler, title in TITLES.items():
        cells = (known(scheduler), FOLLOWED_FROM[scheduler], NEWEST[scheduler])
        yield f"| {title} | {' | '.join(cells)} |"


def _counts() -> Iterator[str]:
    for scheduler, title in TITLES.items():
        rows = [rule for rule in RULES if rule.scheduler == scheduler]
        followed = [rule for rule in rows if rule.followed]
        unread = [rule for rule in rows if not rule.examined]
        counts = (
            len(rows),
            len(followed),
            sum(bool(rule.test) for rule in followed),
            len(rows) - len(followed) - len(unread),
            len(unread),
            sum(rule.in_runs for rule in unread),
        )
        yield f"| {title} | {' | '.join(map(str, counts))} |"


def _columns(scheduler: Scheduler) -> list[str]:
    """Return the last patch of each branch that is followed."""
    shown = [f"{minor}.{most or 0}" for minor, most in KNOWN[scheduler].items()]
    newer = [v for v in shown if not older(v, FOLLOWED_FROM[scheduler])]
    return [*newer, UNRELEASED] if scheduler == "kueue" else newer


def _table(scheduler: Scheduler) -> str:
    columns = _columns(scheduler)
    heads = [one.removesuffix("-devel").rpartition(".")[0] for one in columns]
    lines = [
        f"### {TITLES[scheduler]}",
        "",
        f"| change | since then | before | concerns | gate, or first patch | {' | '.join(heads)} | followed | known |",
        f"| --- | --- | --- | --- | --- |{' --- |' * (len(columns) + 2)}",
    ]
    for rule in RULES:
        if rule.scheduler == scheduler:
            has = [
                "yes" if rule.holds(Release(**{scheduler: one})) else "no"
                for one in columns
            ]
            lines.append(f"| {' | '.join(_cells(rule, has))} |")
    return "\n".join(lines)


def _cells(rule: Rule, has: list[str]) -> list[str]:
    since = f"`{rule.gate}`" if rule.gate else rule.since.replace(" ", ", ")
    number = f"#{rule.pull}" if rule.pull else rule.issue
    name = f"`{rule.id}` {number}".rstrip()
    return [name, rule.now, rule.before, _concerns(rule), since, *has, _followed(rule), rule.known]  # fmt: skip


def _concerns(rule: Rule) -> str:
    asked = [group.replace("|", " or ") for group in rule.concerns]
    if rule.section:
        asked.append(f"`{rule.section}`")
    if rule.without:
        asked.append(f"no `{rule.without}`")
    said = "; ".join(asked) or "any"
    for more in (rule.when, "" if rule.shows == "decisions" else f"{rule.shows} alone"):
        said += f" ({more})" if more else ""
    return said


def _followed(rule: Rule) -> str:
    if rule.followed:
        return "yes"
    if not rule.examined:
        return "not examined"
    first = FOLLOWED_FROM[rule.scheduler]
    if rule.holds(Release(**{rule.scheduler: first})):
        return f"from {first}"
    return "alike"


def _defaults() -> Iterator[str]:
    """Yield a row per apiVersion and release from which its defaults are others."""
    changes = {RECOVERS.since, WAITS.since}
    for version, first in API_VERSIONS:
        before = None
        for since in sorted({first, *changes}, key=parsed):
            if older(since, first):
                continue
            row = waiting_defaults(version, Release(kueue=since))
            if row == before:
                continue
            before = row
            minutes = row.timeout_ms and row.timeout_ms // 60_000
            cells = (
                version,
                since,
                "on" if row.on else "off",
                f"{minutes} m" if minutes else "required",
                "the timeout" if row.recovers else "none",
                "true" if row.blocks else "false",
            )
            yield f"| {' | '.join(cells)} |"


def _gates() -> Iterator[str]:
    """Yield the gates of Kueue as the last patch of each branch has them."""
    columns = _columns("kueue")
    heads = [one.removesuffix("-devel").rpartition(".")[0] for one in columns]
    yield "## Gates of Kueue"
    yield ""
    yield "In the last patch of each branch: on or off, its stage; `-` is unknown there, *locked* cannot be turned."
    yield ""
    yield f"| gate | {' | '.join(heads)} |"
    yield f"| --- |{' --- |' * len(columns)}"
    tables = [kueue_gates(one) for one in columns]
    for name in KUEUE_GATES:
        if any(name in table for table in tables):
            yield f"| `{name}` | {' | '.join(_gate(name, one) for one in columns)} |"


def _gate(name: str, release: str) -> str:
    gate = kueue_gates(release).get(name)
    if gate is None:
        return "-"
    locked = ", locked" if gate.locked else ""
    return f"{'on' if gate.on else 'off'}, {gate.stage}{locked}"
