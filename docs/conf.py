"""The site of these documents: `./dev docs` builds it with Sphinx into docs/site/."""

from __future__ import annotations

from pathlib import Path

project = "Quotalab"
copyright = "the Quotalab authors"
version = release = "0.1.0"

extensions = ["myst_parser"]
# Links name headings as the repository's own pages show them.
myst_heading_anchors = 4
exclude_patterns = ["site", "deploy", "monitoring", "examples"]

html_theme = "furo"
html_title = "Quotalab"
html_copy_source = False
html_show_sphinx = False
html_favicon = str(Path(__file__).parent.parent / "frontend/public/mark.svg")
