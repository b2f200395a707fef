"""An answer as Markdown: what a team sends to its users."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scheduler.analysis.advice.answer import AdviceAnswer, AdviceEdit
from scheduler.analysis.experiments.results import Interval

_HEADS = {
    "improved": "Improved",
    "no improvement found": "No improvement found",
    "unmet": "The constraints cannot all be kept",
}


def markdown_of(answer: AdviceAnswer, title: str) -> str:
    """Return the report of an answer."""
    parts = [f"# {title}", f"**{_HEADS[answer.verdict]}.** {answer.summary}"]
    if answer.edits:
        head = "What to change" if answer.patches else "What the search came to"
        parts += [f"## {head}", _edits(answer.edits)]
    parts += ["## Before and after", _rows(answer)]
    if answer.constraints:
        parts += ["## Constraints, on seeds that the search did not use", _held(answer)]
    if answer.sensitivity:
        parts += ["## Settings next to it", _near(answer)]
    if answer.patches:
        parts += ["## To apply", _fenced(answer.patches)]
    parts += ["## How it was found", how(answer)]
    return "\n\n".join(parts) + "\n"


def how(answer: AdviceAnswer) -> str:
    """Return how much was tried, and what is measured on what."""
    return (
        f"{answer.tried} of {answer.settings} settings tried in {answer.runs} runs; "
        f"{answer.dropped} stopped before their last seed. {answer.proof_runs} more runs "
        f"made the change smaller, left each edit out and proved the answer. Seeds of "
        f"the search: {_span(answer.seeds)}; held out: {_span(answer.held_out)}. "
        "Intervals are 95%, differences are taken seed by seed."
    )


def _span(seeds: Sequence[int]) -> str:
    if len(seeds) > 3 and list(seeds) == list(range(seeds[0], seeds[-1] + 1)):
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))


def _edits(edits: Sequence[AdviceEdit]) -> str:
    rows = [
        (
            f"`{edit.object}`",
            edit.field,
            edit.before,
            f"**{edit.after}**",
            effect_of(edit),
        )
        for edit in edits
    ]
    return _table(("object", "field", "now", "then", "left out alone"), rows)


def effect_of(edit: AdviceEdit) -> str:
    """Return what leaving one edit out does to the first measure that it changes."""
    name = next((n for n, found in edit.effect.items() if found.mean), None)
    text = (
        "nothing changes"
        if name is None
        else f"{name} {difference(name, edit.effect[name])}"
    )
    return f"{text}; a constraint is missed" if edit.needed else text


def _rows(answer: AdviceAnswer) -> str:
    rows = [
        (
            f"`{row.measure}`",
            mean(row.measure, row.before),
            mean(row.measure, row.after),
            mean(row.measure, row.held_before),
            mean(row.measure, row.held_after),
            difference(row.measure, row.held_difference),
        )
        for row in answer.rows
    ]
    head = (
        "measure",
        "before",
        "after",
        "before, held out",
        "after, held out",
        "difference, held out",
    )
    return _table(head, rows)


def _held(answer: AdviceAnswer) -> str:
    words = {True: "kept", False: "missed"}
    rows = [
        (one.text, words[one.held_before], words[one.held_after])
        for one in answer.constraints
    ]
    return _table(("constraint", "before", "after"), rows)


def _near(answer: AdviceAnswer) -> str:
    rows = [
        (one.text, f"{one.change:+.1%}", "kept" if one.holds else "missed")
        for one in answer.sensitivity
    ]
    return _table(("instead", "objectives", "constraints"), rows)


def _fenced(text: str) -> str:
    return f"```yaml\n{text}```"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


# ------------------------------------------------------------------------
# Values of an answer as people read them.


def value(measure: str, number: float | None) -> str:
    """Return a number of a measure with its unit."""
    if number is None:
        return "–"
    if measure.endswith("Ms"):
        return f"{number / 1000:.4g} s"
    if measure.startswith(("utilisation", "goodput")):
        return f"{number:.1%}"
    return f"{number:.4g}"


def mean(measure: str, found: Interval | None) -> str:
    """Return a mean with half of its interval."""
    if found is None:
        return "–"
    text = value(measure, found.mean)
    if found.high is None or found.high == found.mean:
        return text
    return f"{text} ± {value(measure, found.high - found.mean)}"


def difference(measure: str, found: Interval | None) -> str:
    """Return a difference with its sign and its interval."""
    if found is None:
        return "–"
    sign = "+" if found.mean > 0 else ""
    text = sign + value(measure, found.mean)
    if found.low is None or found.high is None:
        return text
    return f"{text} [{value(measure, found.low)}, {value(measure, found.high)}]"


def worse(measure: str, better: str, found: Interval | None) -> bool:
    """Return whether a difference is for the worse, and its interval is sure of it."""
    if found is None or found.low is None or found.high is None or not better:
        return False
    return found.low > 0 if better == "low" else found.high < 0
