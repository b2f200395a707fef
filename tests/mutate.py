"""How many small changes of the code are noticed: `./dev mutate [COUNT] [SEED] [PART...]`.

mutmut changes one place of the code at a time and runs the tests that reach it,
as `[tool.mutmut]` in pyproject.toml says. There are thousands; a sample, drawn by
a seed, says enough about the share of those that nothing notices. A PART is the
beginning of a module's name: `scheduler.kueue`, or `sandbox.world.commits`.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter

COUNT, SEED = 100, 1
MOST_SURVIVORS = 0.03
#: Running any one of them first makes them all, and finds which tests reach which.
PROBE = "scheduler.kueue.queue.requeue.x_backoff_over__mutmut_1"
MUTMUT = [sys.executable, "-m", "mutmut"]


def main(words: list[str]) -> int:
    """Print each survivor as a diff, then the share; 1 when it is too large."""
    numbers = [int(word) for word in words[:2]]
    count, seed = [*numbers, *(COUNT, SEED)[len(numbers) :]]
    run(PROBE)
    parts = tuple(words[2:]) or ""
    names = sorted(name for name in results() if name.startswith(parts))
    chosen = random.Random(seed).sample(names, min(count, len(names)))
    run(*chosen)
    found = {name: verdict for name, verdict in results().items() if name in chosen}
    survivors = [name for name in chosen if found[name] in {"survived", "no tests"}]
    for name in survivors:
        subprocess.run([*MUTMUT, "show", name], check=True)
    verdicts = dict(Counter(found.values()))
    print(f"\n{len(chosen)} of {len(names)} mutants, seed {seed}: {verdicts}")
    print(
        f"{len(survivors) / len(chosen):.1%} survived, before those are sorted out that"
    )
    print("change nothing that can be seen: a default that no call leaves out, a")
    print("bound that a later check holds too.")
    return int(len(survivors) > MOST_SURVIVORS * len(chosen))


def run(*names: str) -> None:
    """Test these mutants; mutmut keeps what comes of it in mutants/."""
    subprocess.run([*MUTMUT, "run", *names], check=True)


def results() -> dict[str, str]:
    """Return the verdict on every mutant by its name."""
    done = subprocess.run(
        [*MUTMUT, "results", "--all", "true"],
        capture_output=True,
        text=True,
        check=True,
    )
    pairs = (line.strip().rpartition(": ") for line in done.stdout.splitlines())
    return {name: verdict for name, _, verdict in pairs if name}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
