"""An answer as one HTML file: no scripts, nothing from elsewhere, ready to print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from scheduler.analysis.advice.answer import AdviceAnswer, AdviceRow
from scheduler.analysis.advice.reports.markdown import (
    difference,
    effect_of,
    how,
    mean,
    value,
    worse,
)
from scheduler.analysis.experiments.results import Interval

_STYLE = """
:root{color-scheme:light dark;--ink:#1d2433;--dim:#6b7489;--line:#d9deea;--new:#1769d2;--old:#8a93a8;--bad:#b3261e}
@media screen and (prefers-color-scheme:dark){:root{--ink:#e7ebf4;--dim:#9aa4ba;--line:#333c50;--new:#6aaefc;--old:#8a93a8;--bad:#ff8a80}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);max-width:60rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid var(--line)}
th{color:var(--dim);font-weight:500}.bad{color:var(--bad)}.verdict{font-size:1.15rem}
pre{overflow:auto;border:1px solid var(--line);border-radius:6px;padding:.8rem}
svg{width:100%;max-width:44rem}svg text{font-size:12px;fill:var(--dim)}
.trail{fill:none;stroke:var(--new);stroke-width:2}
line.before,line.after{stroke-width:3}line.before{stroke:var(--old)}line.after{stroke:var(--new)}
circle.before{fill:var(--old)}circle.after{fill:var(--new)}
@media screen and (max-width:40rem){table{display:block;overflow-x:auto}}
@media print{body{margin:0;max-width:none;font-size:12px}pre{white-space:pre-wrap}h2{break-after:avoid}
tr,svg{break-inside:avoid}table{font-size:10px}th,td{padding:.2rem .3rem;overflow-wrap:anywhere}}
"""


def html_of(answer: AdviceAnswer, title: str) -> str:
    """Return the report as one file."""
    parts = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="verdict">{escape(answer.summary)}</p>',
    ]
    if answer.edits:
        parts += ["<h2>What to change</h2>", _edits(answer)]
    parts += [
        "<h2>Before and after</h2>",
        "<p>Grey before, blue after, on seeds that the search did not use.</p>",
        interval_chart(answer),
        _rows(answer),
    ]
    if answer.constraints:
        parts += ["<h2>Constraints</h2>", _held(answer)]
    if answer.sensitivity:
        parts += ["<h2>Settings next to it</h2>", _near(answer)]
    if trail := trail_chart(answer):
        parts += ["<h2>How the search went</h2>", trail]
    parts.append(f"<p>{escape(how(answer))}</p>")
    if answer.patches:
        parts += ["<h2>To apply</h2>", f"<pre>{escape(answer.patches)}</pre>"]
        parts += ["<h2>To undo</h2>", f"<pre>{escape(answer.undo)}</pre>"]
    return page(title, "\n".join(parts))


def page(title: str, body: str) -> str:
    """Return a whole file of this title and body, without scripts."""
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n{body}\n</html>\n"
    )


def _edits(answer: AdviceAnswer) -> str:
    rows = [[e.object, e.field, e.before, e.after, effect_of(e)] for e in answer.edits]
    return table(["object", "field", "now", "then", "left out alone"], rows)


def _rows(answer: AdviceAnswer) -> str:
    head = [
        "measure",
        "before",
        "after",
        "before, held out",
        "after, held out",
        "difference",
    ]
    rows = [
        [
            row.measure,
            mean(row.measure, row.before),
            mean(row.measure, row.after),
            mean(row.measure, row.held_before),
            mean(row.measure, row.held_after),
            difference(row.measure, row.held_difference),
        ]
        for row in answer.rows
    ]
    bad = [worse(r.measure, r.better, r.held_difference) for r in answer.rows]
    return table(head, rows, bad)


def _held(answer: AdviceAnswer) -> str:
    words = {True: "kept", False: "missed"}
    rows = [
        [c.text, words[c.held_before], words[c.held_after]] for c in answer.constraints
    ]
    bad = [not one.held_after for one in answer.constraints]
    return table(["constraint", "before, held out", "after, held out"], rows, bad)


def _near(answer: AdviceAnswer) -> str:
    words = {True: "kept", False: "missed"}
    rows = [[n.text, f"{n.change:+.1%}", words[n.holds]] for n in answer.sensitivity]
    return table(["instead", "objectives", "constraints"], rows)


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], bad: Sequence[bool] = ()
) -> str:
    """Return a table; `bad` marks its rows that are worse."""
    lines = [_line(head, "th")]
    for n, row in enumerate(rows):
        lines.append(_line(row, "td", bad=bool(bad) and bad[n]))
    return f"<table>{''.join(lines)}</table>"


def _line(cells: Sequence[str], tag: str, *, bad: bool = False) -> str:
    inner = "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells)
    return f'<tr class="bad">{inner}</tr>' if bad else f"<tr>{inner}</tr>"


# ------------------------------------------------------------------------
# Charts of an answer as SVG, drawn without scripts.


WIDE, _HIGH = 640, 150
_ROW, _LEFT = 34, 190


def trail_chart(answer: AdviceAnswer) -> str:
    """Return the best objective by number of runs, as steps; "" for a single point."""
    points = [(runs, loss) for runs, missed, loss in answer.trail if missed == 0]
    if len(points) < 2:
        return ""
    most = max(runs for runs, _ in points) or 1
    low, high = min(loss for _, loss in points), max(loss for _, loss in points)
    span = (high - low) or 1.0

    def x(runs: int) -> float:
        return 50 + (WIDE - 70) * runs / most

    def y(loss: float) -> float:
        return 20 + (_HIGH - 50) * (high - loss) / span

    path = f"M{x(points[0][0]):.1f} {y(points[0][1]):.1f}"
    path += "".join(f"H{x(runs):.1f}V{y(loss):.1f}" for runs, loss in points[1:])
    texts = [
        text(44, y(high) + 4, f"{high:+.0%}", "end"),
        text(44, y(low) + 4, f"{low:+.0%}", "end"),
        text(WIDE - 20, _HIGH - 8, f"{most} runs", "end"),
        text(50, _HIGH - 8, "0"),
    ]
    body = f'<path class="trail" d="{path}"/>' + "".join(texts)
    return svg(_HIGH, body, "Best objectives by number of runs, as a share of the base")


def interval_chart(answer: AdviceAnswer) -> str:
    """Return before and after on held-out seeds, a mean with its interval per row."""
    rows = [row for row in answer.rows if row.held_before and row.held_after]
    body = "".join(_row(row, n) for n, row in enumerate(rows))
    return svg(len(rows) * _ROW + 10, body, "Before and after with 95% intervals")


def _row(row: AdviceRow, n: int) -> str:
    top = n * _ROW + 10
    found = [one for one in (row.held_before, row.held_after) if one is not None]
    most = max((one.high or one.mean for one in found), default=0) or 1.0
    bars = [
        _bar(one, most, top + 5 + 11 * place, kind, row.measure)
        for place, (one, kind) in enumerate(
            zip(found, ("before", "after"), strict=True)
        )
    ]
    return text(_LEFT - 10, top + 14, row.measure, "end") + "".join(bars)


def _bar(found: Interval, most: float, y: float, kind: str, measure: str) -> str:
    wide = WIDE - _LEFT - 90

    def x(number: float) -> float:
        return _LEFT + wide * max(0.0, number) / most

    low, high = found.low, found.high
    line = ""
    if low is not None and high is not None:
        line = f'<line class="{kind}" x1="{x(low):.1f}" x2="{x(high):.1f}" y1="{y}" y2="{y}"/>'
    dot = f'<circle class="{kind}" cx="{x(found.mean):.1f}" cy="{y}" r="4"/>'
    right = x(found.mean if high is None else high) + 8
    return line + dot + text(right, y + 4, value(measure, found.mean))


def text(x: float, y: float, text: str, anchor: str = "start") -> str:
    """Return a text at a place of a picture."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def svg(high: int, body: str, label: str) -> str:
    """Return a picture of the usual width, with what it shows in words."""
    return (
        f'<svg viewBox="0 0 {WIDE} {high}" role="img" aria-label="{escape(label)}">'
        f"{body}</svg>"
    )
