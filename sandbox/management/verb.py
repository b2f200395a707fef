"""A management command by the path of this file: how processes of our own begin.

It works from a checkout and from a wheel, whatever started the parent and wherever.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

if __name__ == "__main__":
    # In place of this folder: the one that the outermost package is in.
    folders = Path(__file__).resolve().parents
    outside = next(one for one in folders if not (one / "__init__.py").exists())
    sys.path[0] = str(outside)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sandbox.settings")
    from sandbox.base import memory

    memory.begin()
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
