"""HTTP servers of tests on loopback: how one is served, and what its handlers share."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    """Answers whole or in chunks, and writes nothing to the output of the tests."""

    def log_message(self, *_: object) -> None:
        """Write nothing."""

    def answer_json(self, document: object, status: int = 200) -> None:
        """Answer with a document."""
        self.answer(json.dumps(document).encode(), "application/json", status)

    def answer(self, body: bytes, kind: str, status: int = 200) -> None:
        """Answer with a body of this content type."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def begin_chunks(self) -> None:
        """Answer with a body whose length is not known yet; of HTTP/1.1 only."""
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def chunk(self, body: bytes) -> None:
        """Send a part of the body; an empty one ends it."""
        self.wfile.write(b"%x\r\n%b\r\n" % (len(body), body))
        self.wfile.flush()


@contextlib.contextmanager
def served(server: ThreadingHTTPServer) -> Iterator[str]:
    """Serve until the block ends; yield the address."""
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
