"""Ticks committed per second: 10,000 workloads on 1,000 nodes, on each database.

Run `./dev bench tests/bench/bench_ticks.py`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.size import sized
from tests.services.postgres import server_environment

ROOT = Path(__file__).resolve().parents[2]
#: workloads, nodes, ticks
SIZE = sized((10_000, 1_000, 100), (30, 5, 12))

_PROGRAM = """
import json, statistics, sys, time
import django
django.setup()
from django.core.management import call_command
from sandbox import actions
from sandbox.base.memory import collect_seldom
from sandbox.world import commits, history, leases, worlds
from sandbox.models import Sandbox
from sandbox.access.people import local_user
from tests.bench.worlds import crowded

WORKLOADS, NODES, TICKS = map(int, sys.argv[1:])
call_command("migrate", verbosity=0)
collect_seldom()  # as the processes of a worker do
commits._publish = lambda *_: None  # the bus is measured elsewhere
person = local_user()
begun = time.perf_counter()
sandbox = actions.do_create(person, files=crowded(workloads=WORKLOADS, nodes=NODES)).sandbox
made = time.perf_counter() - begun
actions.do_play(person, sandbox.pk)
times, spent = [], []
for _ in range(TICKS):
    claim = leases.take(sandbox.pk)
    begun, cpu = time.perf_counter(), time.process_time()
    actions.do_tick(claim)
    times.append(time.perf_counter() - begun)
    spent.append(time.process_time() - cpu)
    leases.release(claim)
row = Sandbox.objects.get(pk=sandbox.pk)
begun = time.perf_counter()
same = worlds.fresh(row).hash() == row.hash
read = time.perf_counter() - begun
scrub = []
for tick in (TICKS // 10, TICKS // 2, TICKS - 1):
    history._pages.clear()
    begun = time.perf_counter()
    history.page_at(row, history.revision_at(row, tick))
    scrub.append(time.perf_counter() - begun)
print(json.dumps({
    "ticks_per_s": len(times) / sum(times),
    "cpu_ms": sum(spent) / len(spent) * 1000,
    "p50_ms": statistics.median(times) * 1000,
    "p95_ms": sorted(times)[TICKS * 94 // 100] * 1000,
    "create_s": made,
    "read_world_s": read,
    "scrub_ms": max(scrub) * 1000,
    "same_hash": same,
}))
"""


def measure(environment: dict[str, str]) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *map(str, SIZE)],
        cwd=ROOT,
        env={**environment, "DJANGO_SETTINGS_MODULE": "sandbox.settings"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def report(name: str, found: dict[str, float]) -> None:
    numbers = ", ".join(f"{key} {value:.3g}" for key, value in found.items())
    sys.stdout.write(f"\n{name}: {numbers}\n")


@pytest.mark.bench
def test_ticks_on_sqlite(tmp_path):
    variables = {"PATH": os.environ["PATH"], "QUOTALAB_DATA": str(tmp_path)}
    found = measure(variables)
    report("SQLite", found)
    assert found["same_hash"]


@pytest.mark.bench
def test_ticks_on_postgresql(postgres):
    url = postgres.database("bench_ticks")
    found = measure(server_environment(url, "redis://unused"))
    report("PostgreSQL", found)
    assert found["same_hash"]
