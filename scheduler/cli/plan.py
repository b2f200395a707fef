"""`python -m scheduler plan`: what a change would do: of a policy, or of the release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from scheduler.cli import plan_policy, plan_release
from scheduler.cli.plan_input import Library, no_library


def main(
    arguments: Sequence[str],
    out: TextIO | None = None,
    *,
    library: Library = no_library,
    prog: str = "python -m scheduler plan",
) -> int:
    """Plan what is asked for and return the exit status.

    0 done and every assertion holds, 1 one does not, 2 for input that cannot be taken.
    `library` finds scenarios by name.
    """
    of_release = any(word.partition("=")[0] == "--release" for word in arguments)
    main_of = plan_release.main if of_release else plan_policy.main
    return main_of(arguments, out, library=library, prog=prog)
