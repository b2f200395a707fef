"""The followers of this process: a thread each, begun when the clock finds one silent."""

from __future__ import annotations

import logging
import secrets
import threading

from sandbox.base.database_time import DatabaseTime
from sandbox.base.errors import SandboxError
from sandbox.models import Sandbox
from sandbox.models.fields import Sayings
from sandbox.twins import clusters
from sandbox.worker.follower import FIRST_LISTS_S, Follower
from sandbox.world.leases import Claim
from scheduler.model.problems import GivenUp
from scheduler.model.sentence import shortened

logger = logging.getLogger(__name__)

_here: dict[str, Follower] = {}


def take_over(claim: Claim) -> bool:
    """Follow the cluster of a sandbox from this process; False when it follows none.

    The holder of the claim writes its name into the row: a follower that was merely
    slow finds it there at its next commit, and ends.
    """
    mine = Sandbox.objects.filter(pk=claim.sandbox_id, fence=claim.fence, playing=True)
    sandbox = mine.exclude(cluster="").select_related("owner").first()
    if sandbox is None:
        return False
    token = secrets.token_hex(8)
    # Until it lists it cannot say that it lives: what it asks first may take long.
    mine.update(follower=token, due_at=DatabaseTime() + FIRST_LISTS_S)
    before = _here.pop(claim.sandbox_id, None)
    if before is not None:
        before.stop.set()
    try:
        one = clusters.of_owner(sandbox.cluster, sandbox.owner)
        follower = Follower(claim.sandbox_id, token, one.connect())
    except SandboxError as error:
        logger.warning("not followed: %s", error, extra={"sandbox": claim.sandbox_id})
        problem = shortened(GivenUp.NOT_FOLLOWED.said(problem=error), 1000)
        mine.update(problem=Sayings([problem]))
        return True
    _here[claim.sandbox_id] = follower
    name = f"follow-{claim.sandbox_id}"
    threading.Thread(target=follower.run, name=name, daemon=True).start()
    return True
