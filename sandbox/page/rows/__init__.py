"""World to wire rows: the page of a world, and what a tick changed of it.

Rows are read from the stages' own state where it is, and from manifests and
statuses where that is the state. A page depends on the world and on the
sandbox's row only, never on how the world came to be.
"""

from __future__ import annotations

from sandbox.page.rows.page import delta_of, page_of
from sandbox.page.rows.samples import sample_of
from sandbox.page.rows.transport import KEY as SANDBOX_KEY
from sandbox.page.rows.transport import transport_of

__all__ = ["SANDBOX_KEY", "delta_of", "page_of", "sample_of", "transport_of"]
