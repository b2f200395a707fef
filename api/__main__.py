"""`python -m api VERB`: the command `quotalab` where it is not installed."""

from __future__ import annotations

import sys

from api.generating.page import make_missing

if __name__ == "__main__":
    make_missing()
    from api.command import main

    sys.exit(main())
