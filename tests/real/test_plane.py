"""A control plane shows what its record says; only where it is built, by ./dev soak."""

from __future__ import annotations

import socket

import pytest

from api.proving import scripts
from api.proving.clusters import ClusterServer
from api.proving.playing import differences, play
from sandbox.following.cluster import WritableCluster
from tests.real import building
from tests.real.__main__ import RECORDS
from tests.real.plane import Plane

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(
        not building.is_built(),
        reason="the control plane is not built: ./dev real --build, which needs Go",
    ),
]


def free_ports(count: int) -> int:
    """Return the first of so many ports in a row that nobody listens at."""
    for first in range(21000, 30000, count):
        try:
            for port in range(first, first + count):
                with socket.socket() as one:
                    one.bind(("127.0.0.1", port))
        except OSError:
            continue
        return first
    raise AssertionError("no ports are free")


def test_a_control_plane_shows_what_its_record_says(tmp_path):
    record = scripts.read_file(RECORDS / "pod-plain.json")
    with Plane(building.programs(), tmp_path, free_ports(9), ()) as plane:
        cluster = WritableCluster.of_kubeconfig(str(plane.kubeconfig), None)
        with ClusterServer(cluster) as server:
            seen = play(server, record.script)
    assert differences(seen, record.seen, record.script) == []
