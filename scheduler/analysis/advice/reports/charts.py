"""Charts of an answer as SVG, drawn without scripts."""

from __future__ import annotations

from html import escape

from scheduler.analysis.advice.answer import AdviceAnswer, AdviceRow
from scheduler.analysis.advice.reports.values import value
from scheduler.analysis.experiments.intervals import Interval

_WIDE, _HIGH = 640, 150
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
        return 50 + (_WIDE - 70) * runs / most

    def y(loss: float) -> float:
        return 20 + (_HIGH - 50) * (high - loss) / span

    path = f"M{x(points[0][0]):.1f} {y(points[0][1]):.1f}"
    path += "".join(f"H{x(runs):.1f}V{y(loss):.1f}" for runs, loss in points[1:])
    texts = [
        _text(44, y(high) + 4, f"{high:+.0%}", "end"),
        _text(44, y(low) + 4, f"{low:+.0%}", "end"),
        _text(_WIDE - 20, _HIGH - 8, f"{most} runs", "end"),
        _text(50, _HIGH - 8, "0"),
    ]
    body = f'<path class="trail" d="{path}"/>' + "".join(texts)
    return _svg(
        _HIGH, body, "Best objectives by number of runs, as a share of the base"
    )


def interval_chart(answer: AdviceAnswer) -> str:
    """Return before and after on held-out seeds, a mean with its interval per row."""
    rows = [row for row in answer.rows if row.held_before and row.held_after]
    body = "".join(_row(row, n) for n, row in enumerate(rows))
    return _svg(len(rows) * _ROW + 10, body, "Before and after with 95% intervals")


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
    return _text(_LEFT - 10, top + 14, row.measure, "end") + "".join(bars)


def _bar(found: Interval, most: float, y: float, kind: str, measure: str) -> str:
    wide = _WIDE - _LEFT - 90

    def x(number: float) -> float:
        return _LEFT + wide * max(0.0, number) / most

    low, high = found.low, found.high
    line = ""
    if low is not None and high is not None:
        line = f'<line class="{kind}" x1="{x(low):.1f}" x2="{x(high):.1f}" y1="{y}" y2="{y}"/>'
    dot = f'<circle class="{kind}" cx="{x(found.mean):.1f}" cy="{y}" r="4"/>'
    right = x(found.mean if high is None else high) + 8
    return line + dot + _text(right, y + 4, value(measure, found.mean))


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(high: int, body: str, label: str) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDE} {high}" role="img" aria-label="{escape(label)}">'
        f"{body}</svg>"
    )
