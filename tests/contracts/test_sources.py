"""Where a rule comes from: what a `Source:` names is in the repository."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
CITED = re.compile(r"docs/semantics/([\w-]+\.md)(?:#([\w-]+))?")
ADDRESS = re.compile(r"docs/semantics/[\w-]+\.md|<https://[^>\s]+>")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
#: A text that is not in the repository, by chapter: `KUEUE.md 4`.
ELSEWHERE = re.compile(r"\b(?:KUEUE|KUBE_SCHEDULER|YUNIKORN)[A-Z_]*\.md\b")


def sources() -> list[Path]:
    folders = ("scheduler", "sandbox", "api", "tests")
    found = [path for name in folders for path in (ROOT / name).rglob("*.py")]
    return [path for path in found if path != Path(__file__)]


@cache
def headings(page: str) -> frozenset[str]:
    """Return the anchors that GitHub gives to the headings of a page."""
    path = ROOT / "docs" / "semantics" / page
    text = path.read_text() if path.exists() else ""
    return frozenset(anchor(heading) for heading in HEADING.findall(text))


def anchor(heading: str) -> str:
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return kept.replace(" ", "-")


def test_every_source_in_the_semantics_is_a_heading_there():
    lost = [
        f"{path.relative_to(ROOT)}: {page}#{name}"
        for path in sources()
        for page, name in CITED.findall(path.read_text())
        if not headings(page) or (name and name not in headings(page))
    ]
    assert lost == []


def test_no_source_is_a_text_outside_of_the_repository():
    outside = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in sources()
        for match in ELSEWHERE.finditer(path.read_text())
    ]
    assert outside == []


def test_links_between_the_pages_lead_to_headings():
    folder = ROOT / "docs" / "semantics"
    link = re.compile(r"\]\(([\w-]+\.md)?#([\w-]+)\)")
    lost = [
        f"{path.name}: {page}#{name}"
        for path in folder.glob("*.md")
        for page, name in link.findall(path.read_text())
        if name not in headings(page or path.name)
    ]
    assert lost == []


def test_every_source_has_an_address():
    """Its first three lines hold one: a page of the semantics, or a public document."""
    lost = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sources()
        if "tests" not in path.relative_to(ROOT).parts
        for lines in [path.read_text().splitlines()]
        for number, line in enumerate(lines, 1)
        if re.search(r"\bSource: ", line)
        and not ADDRESS.search("\n".join(lines[number - 1 : number + 2]))
    ]
    assert lost == []
