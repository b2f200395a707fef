"""What there is to ask about: a sandbox, a twin, an experiment, a search, each with a past."""

from __future__ import annotations

import base64
from typing import NamedTuple

import yaml

from scheduler.assembly import assemble
from tests.load.asking import Asking
from tests.sandbox.conftest import contended, text_of
from tests.sandbox.twins.conftest import Played
from tests.scheduler.advice.worlds import Team, manifests_of
from tests.services.default_run import wait_for

TEAMS = (Team("a", 2, 4, 3, 2, 20), Team("b", 10, 2, 9, 2, 20))
START = {"simulation": {"startTime": "2027-01-15T08:00:00Z"}}


class Prepared(NamedTuple):
    """Ids of what is there, and of what may be ended."""

    sandbox: str
    twin: str
    spare: str
    search: str
    ended: str  # a search that is cancelled, taken, deleted


def prepare(asking: Asking) -> Prepared:
    """Make all of it; the search has its answer when this returns."""
    sandbox = made_sandbox(asking, ticks=60)
    twin = made_twin(asking, ticks=40)
    search, ended = made_search(asking), made_search(asking)
    path = f"/api/v1/experiments/{search}"
    wait_for(lambda: asking.get(path)["state"] == "done", "the answer", every_s=0.5)
    return Prepared(sandbox, twin, made_sandbox(asking, ticks=0), search, ended)


def made_sandbox(asking: Asking, *, ticks: int) -> str:
    """Make one of a full scenario, and let so much of it pass."""
    key = str(asking.post("/api/v1/sandboxes", {"scenario": "friday-rush"})["id"])
    if ticks:
        asking.post(f"/api/v1/sandboxes/{key}/actions/step", {"ticks": ticks})
        path = f"/api/v1/sandboxes/{key}/hash"
        wait_for(lambda: asking.get(path)["tick"] >= ticks, f"tick {ticks}")
    return key


def recording(ticks: int) -> bytes:
    """Return a `.qrec` of a cluster whose queues are full."""
    world = assemble([("all.yaml", text_of(*contended()))], policy=START).world
    return Played(world, ticks).file()


def made_twin(asking: Asking, *, ticks: int) -> str:
    """Make a sandbox of a recording, and play it to its end."""
    data = base64.b64encode(recording(ticks)).decode()
    body = {"title": "Prod", "files": [{"name": "prod.qrec", "data": data}]}
    made = asking.post("/api/v1/twins", body)
    asking.post(f"/api/v1/sandboxes/{made['id']}/actions/step", {"ticks": ticks})
    return str(made["id"])


def made_search(asking: Asking) -> str:
    """Start a search for more of a queue's quota."""
    search = {
        "change": [{"quota": {"flavor": "default", "resource": "cpu", "step": 2}}],
        "constraints": ["queue a p95 wait under 15 s"],
        "runs": 20,
        "heldOut": {"count": 2},
    }
    spec = {
        "base": {"files": ["world.yaml"]},
        "title": "More for a",
        "seeds": {"count": 2},
        "horizon": "3m",
        "search": search,
    }
    text = yaml.safe_dump_all(manifests_of(TEAMS, ""))
    body = {
        "document": {"kind": "Experiment", "spec": spec},
        "files": [{"name": "world.yaml", "text": text}],
    }
    return str(asking.post("/api/v1/experiments", body)["id"])
