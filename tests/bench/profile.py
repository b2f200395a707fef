"""Where the time of a named case goes: samples of its stack, as a table and a flame graph.

`./dev bench --profile [NAME [SIZE]]`; without a name the cases are listed. The graph is
written to `docs/flames/NAME.svg`. The stack is looked at every few milliseconds of processor
time, which costs little and counts the C code that a line of Python calls to that line.
"""

from __future__ import annotations

import gc
import signal
import sys
import time
from collections import Counter
from html import escape
from pathlib import Path
from types import FrameType

from tests.bench.cases import CASES, Act

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "flames"
EVERY_S = 0.001
MOST_LINES = 24
WIDTH, HEIGHT, NARROWEST = 1200, 16, 6.0  # of the graph, of a bar, of the least bar
COLOURS = {"scheduler": "#8fb8de", "sandbox": "#f2b880", "api": "#e8998d"}

Stack = tuple[str, ...]


def main(arguments: list[str]) -> int:
    """Profile a case and print where its time went."""
    if not arguments or arguments[0] not in CASES:
        sys.stdout.write(f"cases: {', '.join(CASES)}\n")
        return 2 if arguments else 0
    name, size = arguments[0], int(arguments[1]) if arguments[1:] else 4
    act = CASES[name](size)
    gc.freeze()
    samples, spent = sample(act)
    sys.stdout.write(f"{name} at size {size}: {spent:.2f} CPU-s\n{table(samples)}")
    FOLDER.mkdir(exist_ok=True)
    target = FOLDER / f"{name}.svg"
    target.write_text(graph(f"{name} at size {size}", samples), encoding="utf-8")
    sys.stdout.write(f"{target.relative_to(ROOT)}\n")
    return 0


def sample(act: Act) -> tuple[Counter[Stack], float]:
    """Return how often each stack was seen, outermost first, and the CPU seconds."""
    samples: Counter[Stack] = Counter()
    here = sys._getframe()

    def look(_: int, frame: FrameType | None) -> None:
        names = []
        while frame is not None and frame is not here:
            names.append(name_of(frame))
            frame = frame.f_back
        samples[tuple(reversed(names))] += 1

    before = signal.signal(signal.SIGPROF, look)
    began = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, EVERY_S, EVERY_S)
    try:
        act()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return samples, time.process_time() - began


def name_of(frame: FrameType) -> str:
    """Return module:function of a frame."""
    return f"{frame.f_globals.get('__name__', '?')}:{frame.f_code.co_qualname}"


def table(samples: Counter[Stack]) -> str:
    """Return the functions with the largest shares, with what they call and alone."""
    whole, alone = Counter[str](), Counter[str]()
    for stack, count in samples.items():
        alone[stack[-1]] += count
        for name in set(stack):
            whole[name] += count
    total = samples.total() or 1
    lines = ["in all  alone  function\n"]
    for name, count in whole.most_common():
        if len(lines) <= MOST_LINES and name.startswith(tuple(COLOURS)):
            shares = f"{count / total:6.1%} {alone[name] / total:6.1%}"
            lines.append(f"{shares}  {name}\n")
    return "".join(lines)


def graph(title: str, samples: Counter[Stack]) -> str:
    """Return the flame graph: one bar per call, as wide as its share."""
    total = samples.total() or 1
    level = [(0.0, (), samples)]
    bars, depth = [f'<text x="4" y="12">{escape(title)}</text>'], 1
    while level:
        below: list[tuple[float, Stack, Counter[Stack]]] = []
        for left, _, stacks in level:
            for x, name, inside in parts(left, stacks, total):
                bars.append(bar(x, depth, name, inside.total() / total))
                below.append((x, (), inside))
        level, depth = below, depth + 1
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
        f'height="{depth * HEIGHT}" font-family="monospace" font-size="10">'
    )
    return "\n".join([head, *bars, "</svg>", ""])


def parts(
    left: float, stacks: Counter[Stack], total: int
) -> list[tuple[float, str, Counter[Stack]]]:
    """Return the outermost calls: where each begins, its name, what is inside."""
    inside: dict[str, Counter[Stack]] = {}
    for stack, count in stacks.items():
        if stack:
            inside.setdefault(stack[0], Counter())[stack[1:]] += count
    found = []
    for name in sorted(inside):
        width = inside[name].total() / total * WIDTH
        if width >= NARROWEST:
            found.append((left, name, inside[name]))
        left += width
    return found


def bar(x: float, depth: int, name: str, share: float) -> str:
    """Return one bar with its name cut to its width."""
    width, y = share * WIDTH, depth * HEIGHT
    colour = COLOURS.get(name.split(".")[0].split(":")[0], "#d9d9d9")
    short = name.rsplit(".", 1)[-1][: int(width / 6.2)]
    text = f'<text x="{x + 2:.0f}" y="{y + 11}">{escape(short)}</text>' * (width > 20)
    return (
        f'<g><title>{escape(name)} {share:.1%}</title><rect x="{x:.1f}" y="{y}" '
        f'width="{width:.1f}" height="{HEIGHT - 1}" fill="{colour}"/>{text}</g>'
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
