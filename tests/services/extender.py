"""The extender of docs/examples, and others of a test's own, served on loopback."""

from __future__ import annotations

import contextlib
import importlib.util
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer

import pytest

from tests.services.default_run import ROOT

EXAMPLE = ROOT / "docs" / "examples" / "extender.py"


@contextlib.contextmanager
def served(server: ThreadingHTTPServer) -> Iterator[str]:
    """Serve until the block ends; yield the address."""
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


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
