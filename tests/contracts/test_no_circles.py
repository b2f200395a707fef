"""Packages, and the files in them, never import in a circle, not even for types."""

from __future__ import annotations

import grimp
import pytest

GRAPHS = {name: grimp.build_graph(name) for name in ("scheduler", "sandbox", "api")}
PACKAGES = sorted(
    module
    for graph in GRAPHS.values()
    for module in graph.modules
    if graph.find_children(module)
)


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_go_downwards_only(package):
    graph = GRAPHS[package.partition(".")[0]]
    assert sorted(graph.nominate_cycle_breakers(package)) == []
