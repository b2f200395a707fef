"""`python -m docs.written`: write the pages of docs/ that are made of the code.

`--check` changes nothing, and fails where a page is stale. `pictures [NAME...]` runs
scenarios and writes the pictures of their cards; `outcomes FOLDER...` prints what each
manifest below some folders gives.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

DOCS = Path(__file__).parents[1]


def main(words: Sequence[str]) -> int:
    """Do what the words say; return the exit status."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sandbox.settings")
    import django

    django.setup()
    if words[:1] == ["outcomes"]:
        from docs.written.outcomes import table

        print(table([Path(one) for one in words[1:]]), end="")
        return 0
    if words[:1] == ["pictures"]:
        draw(words[1:])
        return 0
    stale = [path for path, text in pages().items() if written(path) != text]
    for path in stale:
        if "--check" in words:
            print(f"{path.name} is stale; run: python -m docs.written", file=sys.stderr)
        else:
            path.write_text(pages()[path], encoding="utf-8")
    return int("--check" in words and bool(stale))


def pages() -> dict[Path, str]:
    """Return each page with its text as it would be written."""
    from docs.written.releases import releases_page
    from docs.written.scenarios import scenarios_page, texts

    return {
        DOCS / "scenarios.md": scenarios_page(),
        DOCS / "texts.md": texts(),
        DOCS / "releases.md": releases_page(),
    }


def written(path: Path) -> str:
    """Return the text of a page as it stands."""
    return path.read_text(encoding="utf-8") if path.exists() else ""


def draw(names: Sequence[str]) -> None:
    """Write pictures after each run: an interrupted command loses nothing."""
    from docs.written.pictures import picture_of
    from sandbox.base import library
    from sandbox.page.pictures import FILE, pictures

    found = dict(pictures())
    for name in names or library.names():
        found[name] = picture_of(name)
        kept = {n: found[n] for n in library.names() if n in found}
        lines = [
            f"{json.dumps(n)}: {json.dumps(p, separators=(',', ':'))}"
            for n, p in kept.items()
        ]
        FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        print(name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
