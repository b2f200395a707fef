"""Metrics of the service itself, in wall time: queues, ticks, commits, sockets, lag."""

from __future__ import annotations

from collections import Counter

from django.db.models import Max
from django.http import HttpResponse
from rest_framework.request import Request

from api.metrics import standing
from api.metrics.exposition import CONTENT_TYPE, Exposition
from api.renderers import OneShape
from api.views.base import View
from sandbox.base.counters import TICK_BOUNDS
from sandbox.models import Sandbox
from sandbox.process import connections, services

COUNTERS = {
    "commits_tick": ("quotalab_commits_total", {"kind": "tick"}),
    "commits_edit": ("quotalab_commits_total", {"kind": "edit"}),
    "commits_transport": ("quotalab_commits_total", {"kind": "transport"}),
    "commits_rerun": ("quotalab_commits_total", {"kind": "rerun"}),
    "leases_lost": ("quotalab_leases_lost_total", {}),
    "ticks_failed": ("quotalab_ticks_failed_total", {}),
    "sends_failed": ("quotalab_sends_failed_total", {}),
}
_HELP = {
    "quotalab_commits_total": "Revisions written, by kind",
    "quotalab_leases_lost_total": "Commits refused because somebody else went on",
    "quotalab_ticks_failed_total": "Ticks that failed and paused their sandbox",
    "quotalab_sends_failed_total": "Diffs that the bus did not take",
}


class ServiceMetrics(View):
    """The metrics of the service, apart from those of what it simulates."""

    content_negotiation_class = OneShape

    schema = None

    def get(self, request: Request) -> HttpResponse:
        """Return Prometheus text, in wall time; nothing in it names a sandbox."""
        out = Exposition(note="")
        _add_sandboxes(out)
        found = services.read()
        out.gauge("quotalab_bus_up", "Whether the bus answers", found is not None)
        if found is not None:
            counts, sizes, queues = found
            _add_counts(out, counts, sizes, queues)
            _add_ticks(out, counts)
        return HttpResponse(out.text(), content_type=CONTENT_TYPE)


def _add_sandboxes(out: Exposition) -> None:
    late, waits = standing.playing_late(), standing.waits()
    worst = standing.lags().aggregate(most=Max("late"))["most"] or 0.0
    playing = Sandbox.objects.filter(playing=True).count()
    room, held = connections.held()
    waiting = sum(one.waiting for one in waits)
    people = {one.person for one in waits if one.waiting and not one.under_way}
    bound, is_open = sum(one.bound for one in held), sum(one.open for one in held)
    for name, help_, value in (
        ("sandboxes_playing", "Sandboxes that play", playing),
        ("sandboxes_late", "Sandboxes over 1 s behind their speed", late.count()),
        ("lag_seconds", "How far behind the latest one is", max(worst, 0.0)),
        (
            "parts_waiting",
            "Questions, runs and futures that wait for a worker",
            waiting,
        ),
        (
            "people_waiting",
            "People who wait for something that nobody works out yet",
            len(people),
        ),
        ("connections_most", "What PostgreSQL takes; 0 = no bound", room),
        ("connections_bound", "What all processes may open together", bound),
        ("connections_open", "Connections that are open", is_open),
    ):
        out.gauge(f"quotalab_{name}", help_, value)


def _add_counts(
    out: Exposition,
    counts: dict[str, float],
    sizes: Counter[str],
    queues: dict[str, int],
) -> None:
    for queue, waiting in queues.items():
        name, help_ = "quotalab_queue_messages", "Messages that wait for a worker"
        out.gauge(name, help_, waiting, queue=str(queue))
    for work, seconds in standing.seconds_by_work(counts).items():
        name, help_ = "quotalab_work_seconds_total", "Processor time, by kind of work"
        out.counter(name, help_, seconds, work=work)
    for status, count in standing.refused_by_status(counts).items():
        name, help_ = "quotalab_refused_total", "Requests refused, by status"
        out.counter(name, help_, count, status=status)
    out.gauge("quotalab_sockets", "Open pages", sizes["sockets"])
    for name, (metric, labels) in COUNTERS.items():
        out.counter(metric, _HELP[metric], counts.get(name, 0), **labels)


def _add_ticks(out: Exposition, counts: dict[str, float]) -> None:
    bounds = [*map(str, TICK_BOUNDS), "+Inf"]
    out.histogram(
        "quotalab_tick_seconds",
        "How long ticks took, commit included",
        {bound: counts.get(f"tick_le_{bound}", 0) for bound in bounds},
        counts.get("tick_seconds", 0),
    )
