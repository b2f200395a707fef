"""The rooms, and the files in them, never import in a circle."""

from __future__ import annotations

import grimp
import pytest

HOUSE = {
    name: grimp.build_graph(name, exclude_type_checking_imports=True)
    for name in ("scheduler", "sandbox", "api")
}
PACKAGES = sorted(
    module
    for graph in HOUSE.values()
    for module in graph.modules
    if graph.find_children(module)
)


@pytest.mark.parametrize("package", PACKAGES)
def test_what_runs_is_imported_downwards_only(package):
    graph = HOUSE[package.partition(".")[0]]
    assert sorted(graph.nominate_cycle_breakers(package)) == []
