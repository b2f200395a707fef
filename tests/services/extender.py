"""The extender of docs/examples, served on loopback."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import pytest

from tests.services.default_run import ROOT
from tests.services.loopback import served

EXAMPLE = ROOT / "docs" / "examples" / "extender.py"


@pytest.fixture
def example_extender() -> Iterator[str]:
    """The address of the example extender."""
    spec = importlib.util.spec_from_file_location("example_extender", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with served(module.serve(0)) as address:
        yield address
