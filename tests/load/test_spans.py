"""OpenTelemetry, which is not installed: spans lead from a request to the tick that it asked for.

`./dev soak tests/load/test_spans.py` with the packages of docs/operating.md in PYTHONPATH.
"""

from __future__ import annotations

import gzip
import http.server
import os
import sys
import threading
from collections.abc import Iterator

import pytest

from tests.services.default_run import DefaultRun, wait_for
from tests.services.loopback import Handler

pytestmark = pytest.mark.soak

Span = tuple[str, str]  # its library, its name


class Collector(http.server.ThreadingHTTPServer):
    """Takes spans by OTLP on this machine."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Receiver)
        self.spans: set[Span] = set()


class Receiver(Handler):
    """One export."""

    server: Collector

    def do_POST(self) -> None:
        """Note the spans."""
        service = pytest.importorskip(
            "opentelemetry.proto.collector.trace.v1.trace_service_pb2"
        )
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        for resource in service.ExportTraceServiceRequest.FromString(
            body
        ).resource_spans:
            for scope in resource.scope_spans:
                library = scope.scope.name.rpartition(".")[2]
                self.server.spans.update((library, span.name) for span in scope.spans)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()


@pytest.fixture
def collector() -> Iterator[Collector]:
    pytest.importorskip("opentelemetry.instrumentation.auto_instrumentation")
    with Collector() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


_INSTRUMENT = (
    "from opentelemetry.instrumentation.auto_instrumentation import run; run()"
)


class Instrumented(DefaultRun):
    """A default run whose every process is started by `opentelemetry-instrument`."""

    command = (
        sys.executable,
        *("-c", _INSTRUMENT),
        *(sys.executable, "manage.py", "up"),
    )


def test_a_request_its_tick_and_their_statements_have_spans(tmp_path, collector):
    run = Instrumented(
        tmp_path / "run",
        PYTHONPATH=os.environ.get("PYTHONPATH", ""),
        DJANGO_SETTINGS_MODULE="sandbox.settings",
        OTEL_SERVICE_NAME="quotalab",
        OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{collector.server_port}",
        OTEL_EXPORTER_OTLP_PROTOCOL="http/protobuf",
        OTEL_METRICS_EXPORTER="none",
        OTEL_LOGS_EXPORTER="none",
        OTEL_BSP_SCHEDULE_DELAY="500",
    )
    with run:
        made = run.post("/api/v1/sandboxes", {"scenario": "friday-rush"})
        run.post(f"/api/v1/sandboxes/{made['id']}/actions/step", {"ticks": 3})
        expected: set[Span] = {
            ("django", "POST api/v1/sandboxes/<str:sandbox_id>/actions/step"),
            ("celery", "apply_async/sandbox.advance"),
            ("celery", "run/sandbox.advance"),
            ("redis", "PUBLISH"),
            ("sqlite3", "INSERT"),
        }
        wait_for(lambda: expected <= collector.spans, f"the spans, {expected}", 120)
