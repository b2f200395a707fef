"""A long history of 10,000 workloads: any tick of it shown, let go, exported, imported.

Run `./dev bench tests/bench/bench_history.py`. Ticks are really made, for as long as
BENCH_HISTORY_S says (240 s), at most 10,000. Times are CPU
seconds of one process: waiting for a busy machine is not in them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.size import sized

ROOT = Path(__file__).resolve().parents[2]
BUDGET_S = os.environ.get("BENCH_HISTORY_S", sized("240", "2"))
WORKLOADS = sized(10_000, 50)

_PROGRAM = """
import json, random, statistics, sys, time
import django
django.setup()
from django.core.management import call_command
from sandbox import actions
from sandbox.live import pages
from sandbox.retention import archives, disk
from sandbox.worker import tasks
from sandbox.world import commits, history, leases, worlds
from sandbox.models import Sandbox
from sandbox.access.people import local_user
from tests.bench.worlds import crowded

clock = time.process_time  # others share the cores: what counts is what it costs

def timed(doing, *args):
    begun = clock()
    found = doing(*args)
    return clock() - begun, found

call_command("migrate", verbosity=0)
commits._publish = lambda *_: None  # the bus is measured elsewhere
person = local_user()
sandbox = actions.do_create(person, files=crowded(workloads=int(sys.argv[2]), nodes=max(2, int(sys.argv[2]) // 10), runtime_s=(2000, 997))).sandbox
actions.do_play(person, sandbox.pk)
begun = clock()
until = time.monotonic() + float(sys.argv[1])
while time.monotonic() < until:
    claim = leases.take(sandbox.pk, lease_s=60)
    for _ in range(20):
        actions.do_tick(claim)
    leases.release(claim)
    row = Sandbox.objects.get(pk=sandbox.pk)
    if row.tick >= 10_000:
        break
per_tick = (clock() - begun) / row.tick * 1000

def shown(low, high):
    draw, times = random.Random(1), []
    for _ in range(20):
        tick = draw.randint(low, high)
        history._pages.clear()
        times.append(timed(lambda: history.page_at(row, history.revision_at(row, tick)))[0])
    return {"p50": statistics.median(times) * 1000, "p95": sorted(times)[18] * 1000}

page = history.page_at(row, row.revision)
size = disk.use_of([row])[row.pk]
found = {"tick_ms": per_tick, "ticks": row.tick, "page_rows": len(page), "bytes": size.total, "parts": size.parts}
found["early"], found["late"] = shown(1, row.tick // 10), shown(row.tick * 9 // 10, row.tick)
history._pages.clear()
found["whole_answer_ms"] = timed(lambda: pages.page_state(row, history.revision_at(row, row.tick // 2)))[0] * 1000
found["export_s"], file = timed(archives.write, row.pk)
found["file_bytes"] = len(file)
worlds.forget_all()
found["import_s"], again = timed(actions.do_restore, person, file)
found["same_hash"] = worlds.fresh(again).hash() == row.hash
then = row.tick // 3
found["same_past"] = (
    history.page_at(again, history.revision_at(again, then)).keys()
    == history.page_at(row, history.revision_at(row, then)).keys()
)
found["archive_s"] = timed(actions.do_archive, person, again.pk)[0]
found["unarchive_s"] = timed(actions.do_unarchive, person, again.pk)[0]
actions.do_set_retention(person, row.pk, ticks=max(1, row.tick // 2))
begun, rows = clock(), 0
while gone := tasks.tidy():
    rows += gone
found["tidy_s"], found["tidied_rows"] = clock() - begun, rows
print(json.dumps(found))
"""


@pytest.mark.bench
def test_any_tick_of_a_long_history_is_shown_at_once(tmp_path):
    variables = {"PATH": os.environ["PATH"], "QUOTALAB_DATA": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, BUDGET_S, str(WORKLOADS)],
        cwd=ROOT,
        env={**variables, "DJANGO_SETTINGS_MODULE": "sandbox.settings"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    sys.stdout.write(f"\nSQLite, load {os.getloadavg()[0]:.0f}: {json.dumps(found)}\n")
    assert found["same_hash"]
    assert found["same_past"]
