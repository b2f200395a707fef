"""Twins: a sandbox that shows a real cluster, and cannot be edited."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from sandbox.access import limits
from sandbox.actions.sandboxes import begin
from sandbox.actions.tries import counted
from sandbox.base.errors import Cause, ConflictError, InvalidError
from sandbox.base.refusals import Refused
from sandbox.following.cluster import Cluster, ClusterError, releases_of
from sandbox.following.resources import SETTINGS
from sandbox.models import Sandbox
from sandbox.process import idle_flag
from sandbox.twins import clusters
from sandbox.twins.recordings import read_recording
from scheduler.model.errors import SchedulerError
from scheduler.model.problems import in_field
from scheduler.recorded.followed import configuration
from scheduler.recorded.qrec.reading import Followed, stamp
from scheduler.recorded.twin import beginning

#: A tick of a cluster that is followed: how late it is shown at most, beside the watch.
TICK_MS = 500


def do_play_recording(
    user: User, files: Sequence[tuple[str, bytes]], *, title: str = ""
) -> Sandbox:
    """Make a sandbox that shows what was recorded of a real cluster; paused at its begin.

    `files` are (name, bytes): what `quotalab record` wrote, what kubectl printed, or
    those of a recording's folder. Raises InvalidError for what is none of these.
    """
    limits.check_sandboxes(user)
    with counted(files):
        found = read_recording(files)
        limits.check_objects(len(found.world.objects))
        name = (title or files[0][0])[:200]
        with transaction.atomic():
            sandbox = begin(user, found.world, title=name, **found.columns())
            found.keep(sandbox)
        return sandbox


def do_follow_cluster(user: User, name: str, *, title: str = "") -> Sandbox:
    """Make a sandbox that shows a cluster as it is now; the workers follow it.

    The operator's file says which clusters there are. A fork of it decides as the
    releases that the cluster says it runs. Raises NotFoundError for another
    one, ConflictError for one that a sandbox shows already, and InvalidError when the
    cluster does not answer.
    """
    limits.check_sandboxes(user)
    one = clusters.find(name, user)
    _refuse_second(user, one.name)
    try:
        cluster = one.connect()
        settings_of = [found for place in SETTINGS if (found := _get(cluster, *place))]
        start_us = time.time_ns() // 1000 + 1000 * cluster.skew_ms()
        configured = configuration(Followed(standing=settings_of))
        world, _ = beginning.begin(
            [],
            configured,
            start=stamp(start_us),
            tick_ms=TICK_MS,
            release=releases_of(cluster),
        )
    except (ClusterError, SchedulerError) as error:
        problem = in_field(one.name, error.said)
        raise InvalidError(problem, causes=[Cause(problem=problem)]) from error
    source = {"kind": "cluster", "name": one.name, "startTime": stamp(start_us)}
    try:
        sandbox = begin(
            user,
            world,
            title=(title or one.name)[:200],
            source=source,
            cluster=one.name,
            playing=True,
        )
    except IntegrityError as error:
        _refuse_second(user, one.name)
        raise ConflictError(Refused.FOLLOWED_ALREADY.said()) from error
    idle_flag.clear_after_commit()
    return sandbox


def _refuse_second(user: User, cluster: str) -> None:
    """Refuse another follower of a cluster; name the sandbox to who may see it."""
    known = Sandbox.objects.filter(cluster=cluster)
    if not known.exists():
        return
    seen = known.visible_to(user).first()
    place = f"{seen.title} ({seen.pk})" if seen else "a sandbox of somebody else"
    raise ConflictError(Refused.FOLLOWED_THERE.said(cluster=cluster, place=place))


def _get(cluster: Cluster, namespace: str, name: str) -> dict[str, Any] | None:
    """Return a scheduler's ConfigMap; None where the cluster has none."""
    path = f"/api/v1/namespaces/{namespace}/configmaps/{name}"
    try:
        found = cluster.get(path)
    except ClusterError as error:
        if error.code in (403, 404):
            return None
        raise
    return {**found, "apiVersion": "v1", "kind": "ConfigMap"}
