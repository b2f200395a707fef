"""A plan as a comment in Markdown: short, and safe whatever objects are called."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from scheduler.analysis.experiments.results import Interval
from scheduler.analysis.measures import bill
from scheduler.analysis.plan.assertions import shown, unit_of
from scheduler.analysis.plan.changes import Change
from scheduler.analysis.plan.counterexample import Counterexample
from scheduler.analysis.plan.faults import Fault
from scheduler.analysis.plan.judging import Comparison, Verdict
from scheduler.analysis.plan.outcome import BY_QUEUE, Outcome
from scheduler.model import durations

#: By this line a pipeline finds the comment that it wrote before.
MARK = "<!-- quotalab plan -->"
_MOST = 30
_NAMED = 5
_LONGEST_FILE = 6_000


def markdown_of(outcome: Outcome) -> str:
    """Return the comment, at most some 30 rows of everything."""
    parts = [
        MARK,
        f"### Policy plan: {_headline(outcome)}",
        "",
        *(f"**{_plain(one)}.**\n" for one in outcome.proposals),
        *_verdicts(outcome.verdicts),
        *_changes(outcome),
        *_starts(outcome),
        *_bill(outcome),
        *_measures(outcome.measures),
        *_queues(outcome.queues),
        *_counterexamples(outcome.counterexamples),
        *_closing(outcome),
    ]
    return "\n".join(parts) + "\n"


def faults_markdown(faults: Sequence[Fault]) -> str:
    """Return the comment of a plan whose input cannot be taken."""
    rows = [f"- {code(str(f.place))}: {_plain(f.problem)}" for f in faults[:_MOST]]
    more = [f"- and {len(faults) - _MOST} more"] if len(faults) > _MOST else []
    plural = "s" if len(faults) != 1 else ""
    head = f"### Policy plan: nothing was run, {len(faults)} fault{plural} in the input"
    return "\n".join([MARK, head, "", *rows, *more]) + "\n"


def _headline(outcome: Outcome) -> str:
    count = len(outcome.verdicts)
    if not count:
        one = outcome.starts[0]
        moved = one.earlier, one.later, one.never, one.only
        if not any(moved):
            return "nobody starts at another time"
        words = zip(moved, ("earlier", "later", "no more", "only then"), strict=True)
        return ", ".join(f"{n} start {word}" for n, word in words if n)
    failed = sum(not verdict.holds for verdict in outcome.verdicts)
    if not failed:
        return f"passed ({count} of {count} assertions hold)"
    return f"failed ({failed} of {count} assertions do not hold)"


def _verdicts(verdicts: Sequence[Verdict]) -> Iterator[str]:
    if not verdicts:
        return
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


def _starts(outcome: Outcome) -> Iterator[str]:
    """Say who starts earlier, later, no more and only with the change."""
    if outcome.same:
        return
    first = outcome.starts[0]
    yield "| starts | workloads | by (median, most) | who, with the first seed |"
    yield "| --- | --- | --- | --- |"
    for start, title in _TITLES.items():
        who = [one.subject for one in outcome.verdict.workloads if one.start == start]
        counts = [int(getattr(one, start)) for one in outcome.starts]
        if not any(counts):
            continue
        by = "-"
        if start in ("earlier", "later"):
            middle, most = (
                getattr(first, f"{start}_{which}_ms") for which in ("median", "most")
            )
            by = f"{shown(middle, 'time')}, {shown(most, 'time')}" if who else "-"
        yield f"| {title} | {_range(counts)} | {by} | {_who(who)} |"
    for title, side in (("never, on the base", 0), ("never, on the changed side", 1)):
        yield f"| {title} | {_range([one.waiting[side] for one in outcome.starts])} | - | |"
    yield ""


def _bill(outcome: Outcome) -> Iterator[str]:
    """Say which team pays, and why those lose that lose most; with the first seed."""
    found = outcome.verdict
    if outcome.same or not found.differs:
        return
    by, teams = bill.teams_of(found)
    yield f"**Who pays**: job time {bill.shift_text(found.later_ms)} in all"
    yield ""
    yield f"| {by} | job time | waiting | work lost | evictions | later | earlier | never run |"
    yield "| --- " * 8 + "|"
    for one in teams[:_MOST]:
        spans = " | ".join(_more(ms) for ms in (one.waiting_ms, one.lost_ms))
        counts = f"{one.evictions:+d} | {one.later} | {one.earlier} | {one.never}"
        name = code(one.name) if one.name else "(none)"
        yield f"| {name} | {bill.shift_text(one.later_ms)} | {spans} | {counts} |"
    if len(teams) > _MOST:
        yield f"| and {len(teams) - _MOST} more " + "| " * 7 + "|"
    yield ""
    for row in bill.losers_of(found):
        yield f"- {code(row.subject)}: {_plain(bill.row_text(row))}"
        yield from (f"  - {_plain(one)}" for one in bill.link_texts(found, row))
    yield ""


def _more(span_ms: int) -> str:
    return f"{'+' if span_ms > 0 else ''}{shown(span_ms, 'time')}"


_TITLES = {
    "earlier": "earlier",
    "later": "later",
    "only": "on the changed side alone",
    "never": "on the base alone",
}


def _range(counts: Sequence[int]) -> str:
    least, most = min(counts), max(counts)
    return str(least) if least == most else f"{least} to {most}"


def _who(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(code(name) for name in names[:_NAMED]) + more


def _counterexamples(found: Sequence[Counterexample]) -> Iterator[str]:
    for one in found:
        yield (
            f"<details><summary>Smallest world found in which "
            f"“{_plain(one.assertion)}” fails: {one.objects} of {one.before} objects"
            f"</summary>"
        )
        for name, text in one.files.items():
            if len(text) > _LONGEST_FILE:
                text = f"# {len(text)} characters: --counterexamples writes this file\n"
            fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
            yield f"\n{name}\n\n{fence}yaml\n{text}{fence}"
        yield "</details>"
        yield ""


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
    for one in outcome.assumed:
        yield f"\n{_plain(one[:1].upper() + one[1:])}."


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
