"""The engine's rooms, and the files in them, never import in a circle."""

from __future__ import annotations

import grimp
import pytest

GRAPH = grimp.build_graph("scheduler", exclude_type_checking_imports=True)
PACKAGES = sorted(m for m in GRAPH.modules if GRAPH.find_children(m))


@pytest.mark.parametrize("package", PACKAGES)
def test_what_runs_is_imported_downwards_only(package):
    assert sorted(GRAPH.nominate_cycle_breakers(package)) == []
