"""The project's words are the field's, and its folders stay small enough to read."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("scheduler", "sandbox", "api")
PLACES = (*PACKAGES, "frontend/src", "docs", "tests")
PAGES = ("README.md", "CONTRIBUTING.md")
KINDS = {".py", ".md", ".ts", ".svelte", ".css", ".yaml", ".html", ".ipynb"}
#: Pictures of a thing for the thing: what is reported, recorded, returned, an API.
METAPHORS = re.compile(r"\b(desk|house|told|tell|doors?)\b", re.IGNORECASE)
#: Names of our own that stood for a word of Kueue's, Kubernetes', YuniKorn's or Django's.
RETIRED = re.compile(
    r"\b(Tournament|_Lots|by_share|Pile|Desk|House|Door|Shelf|Fate|Assigner|Intake|"
    r"Placing|ToldPort|ClosedPort|Tenants|Silence|Among|Knocks|Seats|"
    r"NowhereConsumer|BodyCap|OwnPageOnly|ByToken|WithinScope|Looking|condemn|time_out|"
    r"broken_laws|denominate|minds_others|charge|revive|park|parked|undisturbed|let_go|"
    r"stillness|do_present|do_look|do_dismiss|fates|fares|calledOf)\b"
)
#: The same, where the word is fine in a sentence: nothing is called so.
NOT_A_NAME = re.compile(
    r"^\s*(?:class|(?:async )?def) (_?(?:Cell|Line|Attempt|Scan|Held|"
    r"Holding|Columns|Voice|Sight|Selective|Book|Losing|Driving|Rooms?|Rung|Offers|Turn|"
    r"Stretch|Team|doors?|wake|flight|land|depart|remember|recall|reach|holding|placing|"
    r"hashing|keeping))\b"
)
MOST_FILES = 22


def texts() -> list[Path]:
    found = [path for place in PLACES for path in (ROOT / place).rglob("*")]
    found += [ROOT / name for name in PAGES]
    return [p for p in found if p.suffix in KINDS and p != Path(__file__)]


def test_no_metaphor_stands_for_a_word_of_the_field():
    lines = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in texts()
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if METAPHORS.search(line)
    ]
    assert lines == []


def test_a_retired_name_does_not_come_back():
    lines = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in texts()
        if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in PACKAGES
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if RETIRED.search(line) or NOT_A_NAME.search(line)
    ]
    assert lines == []


def test_a_package_has_no_more_files_than_one_can_read():
    folders = Counter(
        str(path.parent.relative_to(ROOT))
        for place in PACKAGES
        for path in (ROOT / place).rglob("*.py")
        if "migrations" not in path.parts
    )
    assert {f: count for f, count in folders.items() if count > MOST_FILES} == {}
