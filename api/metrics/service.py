"""Metrics of the service itself, in wall time: queues, ticks, commits, sockets, lag."""

from __future__ import annotations

from collections import Counter

from django.db.models import F, Max
from django.http import HttpResponse
from rest_framework.request import Request

from api.metrics.exposition import CONTENT_TYPE, Exposition
from api.renderers import OneShape
from api.views.base import View
from sandbox.base.counters import TICK_BOUNDS
from sandbox.base.database_time import DatabaseTime
from sandbox.models import Sandbox
from sandbox.process import services

#: A sandbox whose tick is this overdue does not keep the speed that was chosen.
LATE_S = 1.0
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
        up = "Whether the bus answers"
        out.add("quotalab_bus_up", "gauge", up, float(found is not None), {})
        if found is not None:
            counts, sizes, queues = found
            _add_counts(out, counts, sizes, queues)
            _add_ticks(out, counts)
        return HttpResponse(out.text(), content_type=CONTENT_TYPE)


def _add_sandboxes(out: Exposition) -> None:
    playing = Sandbox.objects.filter(playing=True)
    timed = playing.filter(speed__gt=0).annotate(late=DatabaseTime() - F("due_at"))
    worst = timed.aggregate(most=Max("late"))["most"] or 0.0
    late = timed.filter(late__gt=LATE_S).count()
    gauges = {
        "quotalab_sandboxes_playing": ("Sandboxes that play", playing.count()),
        "quotalab_sandboxes_late": ("Sandboxes over 1 s behind their speed", late),
        "quotalab_lag_seconds": ("How far behind the latest one is", max(worst, 0.0)),
    }
    for name, (words, value) in gauges.items():
        out.add(name, "gauge", words, value, {})


def _add_counts(
    out: Exposition,
    counts: dict[str, float],
    sizes: Counter[str],
    queues: dict[str, int],
) -> None:
    for queue, waiting in queues.items():
        words = "Messages that wait for a worker"
        out.add(
            "quotalab_queue_messages", "gauge", words, waiting, {"queue": str(queue)}
        )
    out.add("quotalab_sockets", "gauge", "Open pages", sizes["sockets"], {})
    for name, (metric, labels) in COUNTERS.items():
        out.add(metric, "counter", _HELP[metric], counts.get(name, 0), labels)


def _add_ticks(out: Exposition, counts: dict[str, float]) -> None:
    bounds = [*map(str, TICK_BOUNDS), "+Inf"]
    out.histogram(
        "quotalab_tick_seconds",
        "How long ticks took, commit included",
        {bound: counts.get(f"tick_le_{bound}", 0) for bound in bounds},
        counts.get("tick_seconds", 0),
    )
