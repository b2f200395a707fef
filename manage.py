#!/usr/bin/env python3
"""The command-line door of the service; names sandbox.settings."""

from __future__ import annotations

import os
import sys

from sandbox.base import memory

if __name__ == "__main__":
    memory.begin()
    from sandbox.base.commands import run_command

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sandbox.settings")
    sys.exit(run_command(sys.argv))
