"""Packages, and the files in them, never import in a circle, not even for types."""

from __future__ import annotations

import grimp
import pytest


@pytest.mark.parametrize("name", ["scheduler", "sandbox", "api"])
def test_imports_go_downwards_only_in_each_package(name):
    graph = grimp.build_graph(name)
    packages = sorted(one for one in graph.modules if graph.find_children(one))
    assert len(packages) > 1
    circles = {one: sorted(graph.nominate_cycle_breakers(one)) for one in packages}
    assert {one: found for one, found in circles.items() if found} == {}
