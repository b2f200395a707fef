"""How many small changes of the code are noticed: `./dev mutate [COUNT] [SEED] [PART...]`.

mutmut makes every change that `[tool.mutmut]` in pyproject.toml allows, one place of
the code each. A sample, drawn by a seed, says enough about the share of those that
nothing notices: each is run against the tests that reach it (`mutation/plugin.py`).
A PART is the beginning of a module's name: `scheduler.engine.kueue`, or `sandbox.world.commits`.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

from mutmut.__main__ import create_mutants
from mutmut.configuration import config
from mutmut.mutation.trampoline import set_mutant_under_test
from mutmut.utils.file_utils import copy_also_copy_files, copy_src_dir

COUNT, SEED = 100, 1
MOST_SURVIVORS = 0.03
#: Processor time for the tests of one change; 60 where MUTANT_SECONDS is not set.
SECONDS = os.environ.get("MUTANT_SECONDS", "60")
COPY = Path("mutants")
UNNOTICED = {"survived", "unreached", "cut"}


def main(words: list[str]) -> int:
    """Print each survivor as a diff, then the share; 1 when it is too large."""
    numbers = [int(word) for word in words[:2]]
    count, seed = [*numbers, *(COUNT, SEED)[len(numbers) :]]
    names = [name for name in make() if name.startswith(tuple(words[2:]) or "")]
    chosen = random.Random(seed).sample(names, min(count, len(names)))
    found = run(chosen)
    survivors = [name for name in chosen if found[name] in UNNOTICED]
    for name in survivors:
        print(f"\n{name}: {found[name]}", flush=True)
        subprocess.run([sys.executable, "-m", "mutmut", "show", name], check=True)
    for name in (COPY / "failed.txt").read_text().splitlines():
        print(f"Left out, since it fails without a change: {name}")
    verdicts = dict(Counter(found.values()))
    print(f"\n{len(chosen)} of {len(names)} mutants, seed {seed}: {verdicts}")
    print(
        f"{len(survivors) / len(chosen):.1%} survived, before those are sorted out that"
    )
    print("change nothing that can be seen: a default that no call leaves out, a")
    print("bound that a later check holds too.")
    return int(len(survivors) > MOST_SURVIVORS * len(chosen))


def make() -> list[str]:
    """Write the changed code to `mutants/`, as far as it is new; return every name."""
    set_mutant_under_test("mutant_generation")
    COPY.mkdir(exist_ok=True)
    shutil.rmtree(COPY / "tests", ignore_errors=True)
    copy_src_dir()
    copy_also_copy_files()
    create_mutants(os.cpu_count() or 1)
    kept = (json.loads(path.read_text()) for path in COPY.rglob("*.meta"))
    return sorted(name for one in kept for name in one["exit_code_by_key"])


def run(names: list[str]) -> dict[str, str]:
    """Return the verdict on each; what `mutants/verdicts.jsonl` says stays there."""
    verdicts = COPY / "verdicts.jsonl"
    verdicts.unlink(missing_ok=True)
    (COPY / "chosen.txt").write_text("\n".join(names))
    environment = {
        **os.environ,
        "MUTANTS": "chosen.txt",
        "VERDICTS": "verdicts.jsonl",
        "MUTANT_SECONDS": SECONDS,
    }
    tests = config().pytest_add_cli_args_test_selection
    options = ["-q", "-s", "-p", "tests.mutation.plugin", *config().pytest_add_cli_args]
    command = [sys.executable, "-m", "pytest", *options, *tests]
    subprocess.run(command, cwd=COPY, env=environment, check=True)
    lines = map(json.loads, verdicts.read_text().splitlines())
    return {line["mutant"]: line["verdict"] for line in lines}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
