"""What a page says of an open what-if, and what REST has of the same pair at the same tick."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator
from typing import Any

from tests.e2e.facts import ghost, lives
from tests.e2e.figures import bare, unit_of

Row = dict[str, Any]

#: Every text of the pair: strip, bill, bars, lives, names at the ends of shares, handle.
READ = f"""() => {{
  const all = (where, within = document) =>
    [...within.querySelectorAll(where)].filter((node) => node.checkVisibility());
  const said = (node) => node?.innerText.replace(/\\s+/g, ' ').trim() ?? '';
  const one = (where) => said(all(where)[0]);
  const pair = all('.scrub .handle')[0];
  return {{
    since: one('[data-testid=verdict] .head .whole'),
    to: one('[data-testid=verdict] .ahead .tiny'),
    pays: one('[data-testid=pays]'),
    handle: pair?.ariaValueNow ?? '',
    flag: document.querySelector('.scrub .look text')?.textContent ?? '',
    ticks: [...all('[data-testid=ghost-at], [data-at]'), ...all('.ghost.numbers small')]
      .map((node) => /tick ([\\d,]+)/.exec(said(node))?.[1] ?? said(node)),
    cells: all('[data-testid=verdict] > .cells:not(.beside) [data-cell]').map((cell) => [cell.dataset.cell,
      said(cell.querySelector('b')), cell.querySelector('.third.small').title,
      [...cell.querySelectorAll('.notes > span')].map(said).join(', '),
      said(cell.querySelector('[data-sure]'))]),
    sums: one('[data-testid=bill] header .sub'),
    teams: all('[data-team]').map((team) => [team.dataset.team, said(team.querySelector('[data-later]')),
      [...team.querySelectorAll('.says > span')].map(said).join('; ')]),
    bars: all('.bars > li').map((bar) => [bar.querySelector('.name > [title]').title,
      ...['b', 's', '.amounts > .second'].map((part) => said(bar.querySelector(part)))]),
    lives: ({lives.READ})(),
    ends: all('svg text.end').map((end) => [end.querySelector('title').textContent,
      end.textContent.replace(end.querySelector('title').textContent, '').trim(),
      end.getAttribute('y') > 200]),
  }};
}}"""


def wrong(
    seen: Row, ghosts: Row, found: Row, rows: dict[str, Row], look: int | None
) -> Iterator[str]:
    """Yield what a page says of a pair and REST does not.

    `seen`: what READ found; `ghosts`: what truth.READ found; `found`: the what-if over
    REST; `rows`: of the tick shown; `look`: the tick that the handle was put to.
    """
    verdict, run = found["verdict"], rows["Sandbox//sandbox"]
    at_ms = instant(verdict, run["tMs"] if look is None else look * run["tickMs"])
    tick = math.ceil(at_ms / run["tickMs"])
    apart = any(one["without"] != one["changed"] for one in verdict["lines"])
    yield from ghost.wrong(ghosts, verdict, rows, at_ms)
    shown = [one for one in seen["ticks"] if one != f"{tick:,}"]
    yield from (f"a number of tick {one}, not {tick}" for one in shown)
    if apart and seen["handle"] != str(tick) and seen["handle"] != "":
        yield f"handle at {seen['handle']}, not {tick}"
    if seen["flag"] and seen["flag"] != f"tick {seen['handle']}, both sides":
        yield f"flag {seen['flag']!r} at {seen['handle']}"
    yield from _texts("strip", seen["since"], [f"Since tick {found['at']}"])
    end = math.ceil(verdict["toMs"] / run["tickMs"])
    yield from _texts("strip", seen["to"], ["", f"to tick {end:,}"])
    yield from _wrong_cells(seen["cells"], verdict, rows)
    yield from _wrong_bill(seen, verdict)
    for queue, *sides in seen["bars"]:
        expected = [*_bars(queue, verdict["lines"], at_ms)]
        if sides not in expected:
            yield f"bar of {queue}: {sides}, not {expected}"
    yield from lives.wrong(seen["lives"], verdict, run["tickMs"])
    if any(one["without"] != one["changed"] for one in _lines(verdict, "share")):
        numbers = [text for name, text, _ in seen["ends"] if text[:1].isdigit()]
        named = tuple(name[0] for name, *_ in seen["ends"])
        yield from (f"end of a line: {n!r}" for n in numbers if n[0] not in named)


def wrong_ends(seen: Row, rows: dict[str, Row]) -> Iterator[str]:
    """Yield the shares at the lines' ends, without a pair, that are not those of the tick."""
    for name, text, lower in seen["ends"]:
        row = rows.get(f"ClusterQueue//{name}")
        if not lower or row is None:
            continue
        share = row["share"]
        expected = "∞" if share is None else f"{math.ceil(float(share) - 1e-9):,}"
        yield from _texts(f"end of {name}", text.split(" ")[0], [expected])


def instant(verdict: Row, at_ms: int) -> int:
    """Return the instant that ghosts are of: the one asked for within the pair.

    Outside it the first at which what all queues use differs most, each in parts of its most.
    """
    if verdict["fromMs"] < at_ms <= verdict["toMs"]:
        return at_ms
    lines = [one for one in _lines(verdict, "used") if one["queue"]]
    lines = [one for one in lines if one["without"] != one["changed"]]
    steps = sorted({ms for o in lines for s in SIDES for ms in o[s]["atMs"]})

    def gap(ms: int) -> float:
        return sum(
            abs((ghost.value_at(o["changed"], ms) or 0) - (ghost.value_at(o["without"], ms) or 0))
            / max(1, *o["changed"]["values"], *o["without"]["values"])
            for o in lines
        )  # fmt: skip

    furthest = max(steps, key=gap, default=None)
    return verdict["toMs"] if furthest is None or not gap(furthest) else furthest


SIDES = ("changed", "without")


def _lines(verdict: Row, of: str) -> list[Row]:
    return [one for one in verdict["lines"] if one["of"] == of]


def _texts(place: str, text: str, expected: list[str]) -> Iterator[str]:
    if text not in expected:
        yield f"{place}: {text!r}, not {expected}"


def _bars(queue: str, lines: list[Row], at_ms: int) -> Iterator[list[str]]:
    for one in lines:
        if (one["of"], one["queue"]) == ("used", queue):
            sides = [int(ghost.value_at(one[side], at_ms) or 0) for side in SIDES]
            resource = one["resource"]
            yield [*(bare(resource, value) for value in sides), unit_of(resource)]


def _wrong_cells(
    cells: list[list[str]], verdict: Row, rows: dict[str, Row]
) -> Iterator[str]:
    """Yield what cells of the strip say: number, the one without, notes, the seeds."""
    first = verdict["seeds"][0]
    both, totals = first["verdict"], [first["verdict"][side] for side in SIDES]
    groups: dict[str, list[Row]] = {}
    for row in both["workloads"]:
        groups.setdefault(ghost.group_of(row), []).append(row)
    lost = [one["workLostMs"] for one in totals]
    left = len(groups.get("other", []))
    shares = [first[side] for side in SIDES]
    for name, value, was, notes, sure in cells:
        mine = groups.get(name, [])
        spans = [lives.shift(row) for row in mine if row["laterMs"]]
        expected = [f"{len(mine):,}", "", "nobody"]
        if name == "earlier":
            expected[1] = f"of {totals[0]['units']:,}"
        if name in ("earlier", "later") and mine:
            word = "best" if name == "earlier" else "worst"
            expected[2] = _middle(spans, word)
        elif name == "never" and mine:
            more = f", and {len(mine) - 1} more" if len(mine) > 1 else ""
            furthest = max(mine, key=lambda row: abs(row["laterMs"]))
            expected[2] = lives.name(furthest["subject"]) + more
        elif name == "preemptions":
            counts = [f"{one['preemptions']:,}" for one in totals]
            spent = [ghost.written_span(one) if one else "0" for one in lost]
            told = f"lost {spent[0]}, was {spent[1]}" if sum(lost) else ""
            expected = [counts[0], f"was {counts[1]}", told]
        elif name == "idle":
            expected = [*_idle(shares, 1), _others(left, both["pods"])]
        elif name == "fairness":
            expected = _fairness(shares, rows)
        shown = [value, was, notes]
        if shown != expected:
            yield f"cell {name}: {shown}, not {expected}"
        if name in ("later", "never", "preemptions"):
            known = verdict["sums"][name]["values"] if len(verdict["seeds"]) > 1 else []
            written = signed if name == "preemptions" else "{:,.0f}".format
            yield from _texts(f"seeds of {name}", sure, [_range(known, written)])


def signed(value: float) -> str:
    """Return a count with its sign."""
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{abs(value):,.0f}"


def _range(values: list[float], written: Callable[[float], str]) -> str:
    if not values:
        return ""
    low, high = written(min(values)), written(max(values))
    return f"{low} in all" if low == high else f"{low} to {high}"


def _middle(spans: list[tuple[int, bool]], word: str) -> str:
    """Return "median 1:25, best 2:00"; "≥" where a side does not end before the horizon."""
    if not spans:
        return ""
    middle = statistics.median(ms for ms, _ in spans)
    upper = sorted(ms for ms, _ in spans)[len(spans) // 2]
    open_ = any(least and ms <= upper for ms, least in spans)
    most = max(spans)
    return f"median {lives.at_least(middle, open_)}, {word} {lives.at_least(*most)}"


def _idle(sides: list[Row], digits: int) -> list[str]:
    names = [name for name in sides[0]["idleHours"] if name not in ("pods", "memory")]
    special = [name for name in names if "/" in name]
    name = (special or ["cpu"])[0]
    after, before = (one["idleHours"].get(name) for one in sides)
    text = ["–" if v is None else _number(v, digits) for v in (after, before)]
    return [text[0], "" if before is None else f"was {text[1]}"]


def _number(value: float, digits: int) -> str:
    text = f"{math.floor(value * 10**digits + 0.5) / 10**digits:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if digits else text


def _others(left: int, pods: int) -> str:
    told = [f"{left} other{'s differ' if left > 1 else ' differs'}"] if left else []
    told += [f"{pods:,} pod{'s differ' if pods > 1 else ' differs'}"] if pods else []
    return ", ".join(told)


def _fairness(sides: list[Row], rows: dict[str, Row]) -> list[str]:
    after, before = sides
    if not (after["largestShareQueue"] or before["largestShareQueue"]) or not _fair(
        rows
    ):
        text = [
            "–" if one["jain"] is None else _number(one["jain"], 2) for one in sides
        ]
        waits = f"{after['waiting']:,} still wait, was {before['waiting']:,}"
        was = "" if before["jain"] is None else f"was {text[1]}"
        return [text[0], was, waits]
    digits = 2 if any(key.startswith("Queue/") for key in rows) else 0

    def share(one: Row) -> str:
        if not one["largestShareQueue"]:
            return "0"
        value = one["largestShare"]
        return "∞" if value is None else _number(value, digits)

    who = after["largestShareQueue"]
    told = f"{who}, on top for {ghost.written_span(after['largestShareMs'])}"
    return [share(after), f"was {share(before)}", told if who else ""]


def _fair(rows: dict[str, Row]) -> bool:
    yunikorn = any(key.startswith("Queue/") for key in rows)
    return yunikorn or bool(rows["Sandbox//sandbox"].get("fairSharing"))


def _wrong_bill(seen: Row, verdict: Row) -> Iterator[str]:
    """Yield what the bill says, and who pays by the strip, and should not."""
    groups = verdict["seeds"][0]["verdict"]["by"]["queue"]
    payer = next((one for one in groups if one["laterMs"] > 0), None)
    pays = payer and f"{payer['name']} pays {ghost.written_span(payer['laterMs'])}"
    yield from _texts("who pays", seen["pays"], ["", pays or ""])
    by_name = {one["name"]: one for one in groups}
    for name, amount, said in seen["teams"]:
        group = by_name[name]
        later = group["laterMs"]
        word = "later" if later > 0 else "earlier"
        span = ghost.written_span(abs(later))
        yield from _texts(f"bill of {name}", amount, [f"{span} {word}" if later else "0:00"])  # fmt: skip
        for count, words in ((group["never"], "never run"), (group["equal"], "within")):
            if count and f"{count} {words}" not in said:
                yield f"bill of {name}: {said!r} without {count} {words}"
    if seen["teams"]:
        if [one[0] for one in seen["teams"]] != [one["name"] for one in groups]:
            yield f"bill: {[one[0] for one in seen['teams']]}"
        sums = [
            sum(max(0, sign * ((g["laterMs"] + 500) // 1000 * 1000)) for g in groups)
            for sign in (1, -1)
        ]
        later, earlier = map(ghost.written_span, sums)
        text = f"{later} later against {earlier} earlier, worst first"
        yield from _texts("bill", seen["sums"], [text])
