"""What becomes of a cluster in a random run: its objects come, change and go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.model.objects import Key
from tests.scheduler.kueue.random_runs import draws, nodes, queues
from tests.scheduler.kueue.random_runs.draws import NAMESPACES

if TYPE_CHECKING:
    from tests.scheduler.kueue.random_runs.run import Run

_CONTROLLERS = (
    *("own", "own", "own", "own", "kueue.x-k8s.io/multikueue"),
    *["kueue.x-k8s.io/provisioning-request"] * 3,
)


def topology(run: Run) -> None:
    name = run.draw.choice(("top", "top", "other"))
    run.put("Topology", name, nodes.topology(run.draw))


def flavor(run: Run) -> None:
    missing = [name for name in draws.FLAVORS if _lacks(run, "ResourceFlavor", name)]
    name = missing[0] if missing else run.draw.choice(draws.FLAVORS)
    run.put("ResourceFlavor", name, queues.flavor(run.draw))


def _lacks(run: Run, kind: str, name: str) -> bool:
    return Key(kind, "", name) not in run.objects


def check(run: Run) -> None:
    active = "True" if run.draw.chance(0.9) else "False"
    controllers = _CONTROLLERS[4:] if run.draw.focus == "delayed" else _CONTROLLERS
    run.put(
        "AdmissionCheck",
        run.draw.choice(draws.CHECKS),
        {"controllerName": run.draw.choice(controllers)},
        status={"conditions": [{"type": "Active", "status": active}]},
    )


def cohort(run: Run) -> None:
    run.put("Cohort", run.draw.choice(draws.COHORTS[:2]), queues.cohort(run.draw))


def queue(run: Run) -> None:
    """Put a ClusterQueue, or change a few fields of one."""
    name = run.draw.choice(draws.QUEUES)
    drawn, key = queues.queue(run.draw), Key("ClusterQueue", "", name)
    if key not in run.objects:
        run.put("ClusterQueue", name, drawn)
        return
    fields = run.draw.sample(sorted(drawn), run.draw.choice((1, 2)))
    run.edit(key, **{field: drawn[field] for field in fields})


def restart_queue(run: Run) -> None:
    kind = run.draw.choice(("ClusterQueue", "LocalQueue"))
    keys = run.keys(kind)
    if keys:
        stop = run.draw.choice((*["None"] * 4, "Hold", "HoldAndDrain"))
        run.edit(run.draw.choice(keys), stopPolicy=stop)


def local_queue(run: Run) -> None:
    spec = queues.local_queue(run.draw)
    name = run.draw.choice(draws.LOCAL_QUEUES)
    run.put("LocalQueue", name, spec, namespace=run.draw.choice(NAMESPACES))


def node(run: Run) -> None:
    put_node(run, f"n{run.draw.randrange(8)}")


def put_node(run: Run, name: str) -> None:
    labels, spec, status = nodes.node(run.draw, name)
    run.put("Node", name, spec, labels=labels, status=status)


def fail_node(run: Run) -> None:
    """Let a node fail, or be well again."""
    keys = run.keys("Node")
    if keys:
        ready = run.draw.choice(("True", "False", "False", "Unknown"))
        conditions = [{"type": "Ready", "status": ready}]
        run.restate(run.draw.choice(keys), conditions=conditions)


def taint_node(run: Run) -> None:
    """Taint a node so that it drives pods off, or take its taints away."""
    keys = run.keys("Node")
    if keys:
        taints = run.draw.choice((nodes.NO_EXECUTE, nodes.NO_EXECUTE, []))
        run.edit(run.draw.choice(keys), taints=taints)


def namespace(run: Run) -> None:
    labels = run.draw.choice(({"team": "yes"}, {"team": "no"}))
    run.put("Namespace", run.draw.choice(NAMESPACES), {}, labels=labels)


def limit_range(run: Run) -> None:
    bound = run.draw.choice(("max", "min", "defaultRequest", "default"))
    limits = [{"type": run.draw.choice(("Container", "Pod")), bound: {"cpu": 1}}]
    run.put("LimitRange", "r", {"limits": limits}, namespace="default")


def runtime_class(run: Run) -> None:
    overhead = {"podFixed": {"cpu": run.draw.choice(("1", "500m"))}}
    run.put("RuntimeClass", "heavy", {}, overhead=overhead)


def other_pod(run: Run) -> None:
    spec = {
        "nodeName": f"n{run.draw.randrange(8)}",
        "containers": [{"resources": {"requests": {"cpu": "1"}}}],
    }
    phase = run.draw.choice(("Running", "Running", "Succeeded"))
    name = f"p{run.draw.randrange(4)}"
    run.put("Pod", name, spec, namespace="default", status={"phase": phase})


def end_pod(run: Run) -> None:
    """Let a pod of another scheduler end, which only topology hears of."""
    keys = run.keys("Pod")
    if keys:
        obj = run.stored(run.draw.choice(keys))
        obj.status = {"phase": "Succeeded"}
        run.objects[obj.key] = obj
        run.stage.note_pod(obj)


_REMOVED = (
    *(
        "ClusterQueue",
        "ClusterQueue",
        "LocalQueue",
        "LocalQueue",
        "LocalQueue",
        "ResourceFlavor",
        "Cohort",
        "AdmissionCheck",
    ),
    *("Topology", "Node", "Node", "Namespace", "LimitRange", "RuntimeClass", "Pod"),
)


def remove(run: Run) -> None:
    """Remove an object, which often comes back at once as it was, or at the next instant."""
    keys = run.keys(run.draw.choice(_REMOVED))
    if not keys:
        return
    key = run.draw.choice(keys)
    run.removed.append(run.objects[key])
    run.remove(key)


def bring_back(run: Run) -> None:
    if run.removed:
        run.give_back(run.removed.pop())


def start_over(run: Run) -> None:
    run.stage.start_over()
