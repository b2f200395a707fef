"""Stored objects picked by what their documents say."""

from __future__ import annotations

from sandbox.models import Pod, Workload
from sandbox.page.phases import conditions_of, is_true, phase_of


def workloads(sandbox_id: str, phase: str) -> list[Workload]:
    """Return the Workloads of a sandbox that are in a phase, by name."""
    rows = Workload.objects.filter(sandbox_id=sandbox_id).order_by("name")
    return [row for row in rows if phase_of_row(row) == phase]


def phase_of_row(row: Workload) -> str:
    conditions = conditions_of(row.status)
    return phase_of(row.manifest["spec"], is_set=lambda name: is_true(conditions, name))


def node_of(pod: Pod) -> str:
    """Return the node that a pod was placed on, or ""."""
    return pod.manifest["spec"].get("nodeName") or ""


def places(sandbox_id: str) -> dict[str, str]:
    """Return where the pods of a sandbox are: name -> node, "" for none."""
    pods = Pod.objects.filter(sandbox_id=sandbox_id).order_by("name")
    return {pod.name: node_of(pod) for pod in pods}
