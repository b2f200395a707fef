"""A check as a comment in Markdown: short, and safe whatever objects are called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scheduler.analysis.check.changes import Change
from scheduler.analysis.check.faults import Fault
from scheduler.analysis.check.judging import Comparison, Verdict
from scheduler.analysis.check.outcome import BY_QUEUE, Outcome
from scheduler.analysis.check.terms import shown, unit_of
from scheduler.analysis.experiments.intervals import Interval
from scheduler.model import durations

#: By this line a pipeline finds the comment that it wrote before.
MARK = "<!-- quotalab check -->"
_MOST = 30


def markdown_of(outcome: Outcome) -> str:
    """Return the comment, at most some 30 rows of everything."""
    parts = [
        MARK,
        f"### Policy check: {_headline(outcome)}",
        "",
        *_verdicts(outcome.verdicts),
        *_changes(outcome),
        *_measures(outcome.measures),
        *_queues(outcome.queues),
        *_closing(outcome),
    ]
    return "\n".join(parts) + "\n"


def faults_markdown(faults: Sequence[Fault]) -> str:
    """Return the comment of a check whose input cannot be taken."""
    rows = [f"- {code(str(f.place))}: {_plain(f.problem)}" for f in faults[:_MOST]]
    more = [f"- and {len(faults) - _MOST} more"] if len(faults) > _MOST else []
    head = f"### Policy check: nothing was run, {len(faults)} faults in the input"
    return "\n".join([MARK, head, "", *rows, *more]) + "\n"


def _headline(outcome: Outcome) -> str:
    count = len(outcome.verdicts)
    failed = sum(not verdict.holds for verdict in outcome.verdicts)
    if not failed:
        return f"passed ({count} of {count} assertions hold)"
    return f"failed ({failed} of {count} assertions do not hold)"


def _verdicts(verdicts: Sequence[Verdict]) -> Iterator[str]:
    yield "| | assertion | expected | base | changed |"
    yield "| --- | --- | --- | --- | --- |"
    for verdict in verdicts:
        base, changed = (
            shown(v, verdict.unit) for v in (verdict.base, verdict.changed)
        )
        word = "ok" if verdict.holds else "**FAIL**"
        yield f"| {word} | {_about(verdict)} | {verdict.bound} | {base} | {changed} |"
    yield ""


def _about(verdict: Verdict) -> str:
    text = _plain(verdict.name)
    if verdict.why:
        return f"{text} ({_plain(verdict.why)})"
    if verdict.failed_queues:
        names = ", ".join(code(name) for name in verdict.failed_queues[:5])
        more = len(verdict.failed_queues) - 5
        text += f" (worst {code(verdict.queue)}; failed: {names}"
        text += f" and {more} more)" if more > 0 else ")"
    elif verdict.queue and verdict.queue not in verdict.name:
        text += f" (worst {code(verdict.queue)})"
    if not verdict.holds and verdict.on_base is False:
        text += " (does not hold on the base either)"
    return text


def _changes(outcome: Outcome) -> Iterator[str]:
    found = outcome.changes
    yield f"**What changed** ({len(found)})" if found else "**Nothing changed.**"
    yield ""
    for change in found[:_MOST]:
        yield f"- {_change(change)}"
    if len(found) > _MOST:
        yield f"- and {len(found) - _MOST} more"
    if found:
        yield ""
    if found and outcome.same:
        yield "Every run is the same as on the base, bit for bit."
        yield ""


def _change(change: Change) -> str:
    place = f"{code(f'{change.file}:{change.line}')} " if change.file else ""
    if change.what != "changed":
        return f"{place}{code(change.object)} {change.what}"
    before = code(change.before) if change.before else "nothing"
    after = code(change.after) if change.after else "nothing"
    return f"{place}{code(change.object)} {code(change.field)}: {before} → {after}"


def _measures(found: Sequence[Comparison]) -> Iterator[str]:
    yield "| measure | base | changed | difference (95%) |"
    yield "| --- | --- | --- | --- |"
    for one in found:
        if one.base is None and one.changed is None:
            continue
        base, changed = (_mean(v, one.measure) for v in (one.base, one.changed))
        yield f"| {one.measure} | {base} | {changed} | {_difference(one)} |"
    yield ""


def _mean(value: Interval | None, measure: str) -> str:
    return shown(value.mean if value else None, unit_of(measure) or "count")


def _difference(one: Comparison) -> str:
    found, unit = one.difference, unit_of(one.measure) or "count"
    if found is None:
        return "-"
    text = f"{'+' if found.mean > 0 else ''}{shown(found.mean, unit)}"
    if found.low is None or found.high is None or found.low == found.high:
        return text
    return f"{text} ({shown(found.low, unit)} to {shown(found.high, unit)})"


def _queues(found: Sequence[Comparison]) -> Iterator[str]:
    rows: dict[str, dict[str, Comparison]] = {}
    for one in found:
        rows.setdefault(one.queue, {})[one.measure] = one
    names = ("mean", "p50", "p95", "longest", "never started")
    yield f"| wait by queue, base → changed | {' | '.join(names)} |"
    yield "| --- " * (len(names) + 1) + "|"
    worst = sorted(rows, key=lambda queue: (-_growth(rows[queue]), queue))
    for queue in worst[:_MOST]:
        cells = " | ".join(_both(rows[queue][name]) for name in BY_QUEUE)
        yield f"| {code(queue)} | {cells} |"
    if len(rows) > _MOST:
        yield f"| and {len(rows) - _MOST} more " + "| " * len(names) + "|"
    yield ""


def _both(one: Comparison) -> str:
    base, changed = (_mean(value, one.measure) for value in (one.base, one.changed))
    return base if base == changed else f"{base} → {changed}"


def _growth(row: dict[str, Comparison]) -> float:
    found = row["waitP95"].difference
    return found.mean if found is not None else 0.0


def _closing(outcome: Outcome) -> Iterator[str]:
    seeds = len(outcome.seeds)
    plural = "s" if seeds > 1 else ""
    lasting = durations.duration_text(outcome.horizon_ms)
    text = f"{outcome.arrived} workloads, {seeds} seed{plural}, horizon {lasting}; "
    text += "both sides had the same work and the same random numbers."
    if outcome.unfinished:
        text += f" {outcome.unfinished} of {2 * seeds} runs were cut at the horizon."
    if outcome.left_out:
        kinds = ", ".join(f"{count} {kind}" for kind, count in outcome.left_out.items())
        text += (
            f" Left out of the folders of policy, as it comes with the work: {kinds}."
        )
    yield text


def code(text: str) -> str:
    """Return a text as code that cannot leave its cell, mention or link."""
    flat = " ".join(text.split()).replace("`", "'").replace("|", "¦")
    return f"`{flat[:200]}`" if flat else "``"


def _plain(text: str) -> str:
    """Return a text of the input without what Markdown or HTML would act on."""
    flat = " ".join(text.split())[:300]
    for sign in "\\`*_[]<>|":
        flat = flat.replace(sign, f"\\{sign}")
    return flat.replace("@", "@\u200b").replace("#", "\\#")
