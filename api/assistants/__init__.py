"""`quotalab mcp`: a server's answers for assistants, over the Model Context Protocol."""

from __future__ import annotations
