"""What is profiled, compared and counted: named pieces of work at any size.

Each case prepares itself in `make(size)` and gives back the act to be measured. Size 1
is quick; the named sizes of `docs/benchmarks-history.md` are multiples of it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from scheduler.analysis.experiments.bases import FileBase
from scheduler.analysis.experiments.document import read_experiment
from scheduler.analysis.experiments.runs import plan, run
from scheduler.analysis.explain.counterfactuals import counterfactuals
from scheduler.analysis.explain.workloads import explain
from scheduler.analysis.pairs import compare_pair
from scheduler.assembly import prepare
from scheduler.cli.recording_file import history_of, read_file, settings_of
from scheduler.engine.kube.stage import KubeStage
from scheduler.engine.stage import Context
from scheduler.engine.tick import run_tick
from scheduler.engine.world import World
from scheduler.model.objects import Key, Object
from scheduler.model.policy import Policy, PolicySpec
from scheduler.recorded.followed import configuration
from scheduler.recorded.shadow.compare import Judge
from scheduler.recorded.twin.played import recording_of
from tests.bench.worlds import crowded, four_teams
from tests.builders import cluster_queue, node

Act = Callable[[], Any]
Make = Callable[[int], Act]

#: Ticks of the demo at size 1: 600 in `docs/benchmarks-history.md`, which is size 10.
DEMO_TICKS = 60
CROWDED_TICKS = 60


def demo_world() -> World:
    """Return the world that the page opens with."""
    from sandbox.base import library

    return prepare(library.files_of("friday-rush")).assemble().world


def ticking(world: World, ticks: int) -> Act:
    """Return the engine's ticks alone, with the journal read as a commit does."""

    def act() -> None:
        for _ in range(ticks):
            run_tick(world)
            world.take()

    return act


def demo_engine(size: int) -> Act:
    """The demo without a database: what whole ticks are held against."""
    return ticking(demo_world(), DEMO_TICKS * size)


def crowded_world(size: int) -> World:
    """Return `size` x 625 workloads and 62 nodes: 10,000 and 1,000 at 16."""
    files = crowded(workloads=625 * size, nodes=125 * size // 2)
    return prepare(files).assemble().world


def crowded_engine(size: int) -> Act:
    """Ticks of a crowded world without a database."""
    return ticking(crowded_world(size), CROWDED_TICKS)


def _committing(ticks: int, **source: Any) -> Act:
    from api.command.local import make_ticks
    from sandbox import actions
    from sandbox.access.people import local_user
    from sandbox.models import Sandbox

    key = actions.do_create(local_user(), **source).sandbox.pk

    def act() -> None:
        for _ in make_ticks(key, ticks):
            pass
        assert Sandbox.objects.get(pk=key).tick == ticks

    return act


def demo_ticks(size: int) -> Act:
    """The demo at full speed, every tick committed to SQLite."""
    database()
    return _committing(DEMO_TICKS * size, scenario="friday-rush")


def crowded_ticks(size: int) -> Act:
    """Ticks of a crowded world at full speed, each committed to SQLite."""
    database()
    files = crowded(workloads=625 * size, nodes=125 * size // 2)
    return _committing(CROWDED_TICKS, files=files)


def quiet_ticks(size: int) -> Act:
    """Ticks, each committed, of a world of 300 objects x size in which nothing changes."""
    database()
    from api.command.local import make_ticks
    from sandbox import actions
    from sandbox.access.people import local_user
    from sandbox.world import leases

    files = crowded(workloads=150 * size, nodes=75 * size, runtime_s=(100_000, 13))
    key = actions.do_create(local_user(), files=files).sandbox.pk
    for _ in make_ticks(key, 2 * CROWDED_TICKS + 10):
        pass
    actions.do_play(local_user(), key)

    def act() -> None:
        for _ in range(CROWDED_TICKS):
            claim = leases.take(key)
            assert claim is not None
            actions.do_tick(claim)
            leases.release(claim)

    return act


def undo(size: int) -> Act:
    """Undo an edit 125 ticks x size ago, of 44 jobs x size: 2,000 and 704 at 16."""
    database()
    from api.command.local import make_ticks
    from sandbox import actions
    from sandbox.access.people import local_user
    from sandbox.models import Sandbox

    ticks = 125 * size
    nodes = yaml.safe_dump_all([node(f"n{n}", cpu=8) for n in range(8)])
    files = [("teams.yaml", four_teams(jobs_each=11 * size)), ("nodes.yaml", nodes)]
    key = actions.do_create(local_user(), files=files).sandbox.pk
    queue = yaml.safe_dump(cluster_queue("a", cohort="all", cpu=12))
    actions.do_import(local_user(), key, [("queue.yaml", queue)])
    for _ in make_ticks(key, ticks):
        pass

    def act() -> None:
        actions.do_undo(local_user(), key)
        assert Sandbox.objects.get(pk=key).tick == ticks

    return act


def experiment_run(size: int) -> Act:
    """One run of an experiment: 12 jobs of four teams each x size, to its measures."""
    base = FileBase.read([("teams.yaml", four_teams(jobs_each=12 * size))])
    spec = {"base": {"files": ["teams.yaml"]}, "seeds": {"count": 2}}
    planned = plan(read_experiment({"spec": spec}).spec, base)
    run(base, planned, 0, 1)
    return lambda: run(base, planned, 0, 2)


def pair(size: int) -> Act:
    """Both sides of a minute of a crowd, in one of which a queue may not reclaim."""
    world = crowded_world(size)
    ticking(world, 30)()

    def change(side: World) -> None:
        [known] = [obj for key, obj in side.objects.items() if key.name == "cq1"]
        preemption = {**known.spec["preemption"], "reclaimWithinCohort": "Never"}
        spec = {**known.spec, "preemption": preemption}
        side.put(Object(key=known.key, manifest={**known.manifest, "spec": spec}))

    return lambda: compare_pair(world, change, horizon_ms=60_000)


def recording(size: int) -> Act:
    """The decisions of five minutes of 12 jobs of four teams each x size, beside ours."""
    files = [("teams.yaml", four_teams(jobs_each=12 * size))]
    played = recording_of(prepare(files).assemble().world, 300_000)
    with tempfile.NamedTemporaryFile(suffix=".qrec") as file:
        file.write(played)
        file.flush()
        found = read_file(Path(file.name))
    settings = settings_of(configuration(found), found.releases())
    judge = Judge(history_of(found), settings, found.start_us)
    return judge.judge


def _asked_of_a_crowd(
    size: int, ask: Callable[[World, Key], object], times: int = 10
) -> Act:
    """Ask so often about a Workload in the middle of those that wait."""
    world = crowded_world(size)
    ticking(world, 30)()
    assert world.kueue is not None
    works = world.kueue.cluster.workloads.values()
    waiting = sorted(work.key for work in works if work.pending_queue is not None)
    key = waiting[len(waiting) // 2]

    def act() -> None:
        for _ in range(times):
            ask(world, key)

    return act


def explanations(size: int) -> Act:
    """Ten explanations of a waiting Workload among 625 x size."""
    return _asked_of_a_crowd(size, explain)


def would_let_in(size: int) -> Act:
    """What would let a waiting Workload among 625 x size in within twenty seconds."""
    ask = partial(counterfactuals, horizon_ms=20_000)
    return _asked_of_a_crowd(size, ask, times=1)


def kube_pods(size: int) -> Act:
    """Place 125 pods x size on as many nodes, each of them scored."""
    context = Context(seed=1, epoch_us=0)
    spec = PolicySpec(stack="kube", kube_scheduler={"percentageOfNodesToScore": 100})
    stage = KubeStage(context, Policy(spec=spec))
    for n in range(125 * size):
        amounts = {"cpu": "16", "memory": "64Gi", "pods": "110"}
        status = {"allocatable": amounts, "capacity": amounts}
        name = f"n{n}"
        manifest = {"kind": "Node", "metadata": {"name": name}, "spec": {}}
        stage.put(Object(key=Key("Node", "", name), manifest=manifest, status=status))
    pods = [_pod(n) for n in range(125 * size)]

    def act() -> None:
        for pod in pods:
            stage.put(pod)
        while (due := stage.due()) is not None and due <= context.now_ms:
            stage.schedule()

    return act


def _pod(n: int) -> Object:
    requests = {"cpu": f"{1 + n % 4}", "memory": f"{1 + n % 7}Gi"}
    container = {"name": "c", "image": "i", "resources": {"requests": requests}}
    metadata = {
        "name": f"p{n}",
        "namespace": "default",
        "uid": f"u{n}",
        "creationTimestamp": "2026-01-01T00:00:00Z",
    }
    manifest = {
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [container]},
    }
    return Object(key=Key("Pod", "default", f"p{n}"), manifest=manifest)


CASES: dict[str, Make] = {
    "demo-engine": demo_engine,
    "demo-ticks": demo_ticks,
    "crowded-engine": crowded_engine,
    "crowded-ticks": crowded_ticks,
    "quiet-ticks": quiet_ticks,
    "undo": undo,
    "experiment-run": experiment_run,
    "explanations": explanations,
    "would-let-in": would_let_in,
    "pair": pair,
    "recording": recording,
    "kube-pods": kube_pods,
}


def database() -> None:
    """Set Django up on an empty SQLite database; nothing is sent to a bus."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sandbox.settings")
    os.environ["QUOTALAB_DATA"] = tempfile.mkdtemp(prefix="quotalab-bench-")
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    from sandbox.process import idle_flag
    from sandbox.world import commits

    commits._publish = lambda *_: None
    commits.is_watched = lambda _: False
    idle_flag._ask = lambda _: None
