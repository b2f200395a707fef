"""`python -m tests.conformance FILE...`: replay decision vectors."""

from __future__ import annotations

import sys

from tests.conformance import main

sys.exit(main(sys.argv[1:]))
