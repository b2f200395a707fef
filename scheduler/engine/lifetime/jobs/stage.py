"""All that a lifetime asks about jobs."""

from __future__ import annotations

from scheduler.engine.lifetime.jobs.arriving import JobArrival
from scheduler.engine.lifetime.jobs.pod_admission import PodAdmission


class Jobs(JobArrival, PodAdmission):
    """Job kinds to Workloads and runs, from arrival to end."""
