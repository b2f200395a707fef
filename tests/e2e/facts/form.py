"""What stands in the forms of a page, and what REST has at each field's place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Page

from tests.e2e.facts import view

#: Each form of an object: its key, and by place what stands in each field.
READ = """() => [...document.querySelectorAll('form[data-key]')]
  .filter((form) => form.checkVisibility())
  .map((form) => [form.dataset.key, Object.fromEntries([...form.querySelectorAll('label[title]')]
    .map((label) => [label.title, document.getElementById(label.htmlFor)?.value ?? null]))])"""


def wrong(page: Page, shown: list[Any], tick: int | None = None) -> Iterator[str]:
    """Yield the fields that are not those of their objects in REST, or of the open what-if.

    `shown`: what READ has found; `tick`: of which the page is, None for the last.
    """
    number = re.search(r"what-if=(\d+)", page.url)
    parts, begun = [], tick
    if number is not None:
        found = view.fetched(page, f"/what-ifs/{number[1]}")
        parts, begun = found["changes"], found["at"]
    for key, fields in shown:
        kind, namespace, name = key.split("/", 2)
        path = f"/objects/{kind}/{namespace or '-'}/{name}"
        at = "" if begun is None else f"?tick={begun}"
        manifest = view.fetched(page, ("/policy" if kind == "Queue" else path) + at)
        for part in parts:
            patch = part.get("patch", {})
            if (patch.get("kind"), patch.get("name")) == (kind, name):
                manifest = _merged(manifest, patch["body"])
        for place, value in fields.items():
            expected = written(_at(manifest, place))
            if sorted(str(value).split(", ")) != sorted(expected.split(", ")):
                yield f"{key} {place}: {value!r}, not {expected!r}"


def _merged(document: Any, patch: Any) -> Any:
    if not isinstance(patch, dict) or not isinstance(document, dict):
        return patch
    return document | {n: _merged(document.get(n), v) for n, v in patch.items()}


def _at(value: Any, place: str) -> Any:
    """Return what stands at a place, whose names may have dots themselves."""
    if not place:
        return value
    if (index := re.match(r"\[(\d+)\]\.?", place)) is not None:
        return _at(value[int(index[1])], place[index.end() :])
    names = [n for n in value or () if re.match(re.escape(n) + r"([.\[]|$)", place)]
    if not names:
        return ""
    name = max(names, key=len)
    return _at(value[name], place[len(name) :].removeprefix("."))


def written(value: Any) -> str:
    """Return a value as a field holds it; labels and taints in one line each."""
    if isinstance(value, dict):
        return ", ".join(f"{name}={text}" for name, text in value.items())
    if isinstance(value, list):
        return ", ".join(_taint(one) for one in value)
    return "" if isinstance(value, bool) or value is None else str(value)


def _taint(one: dict[str, str]) -> str:
    return (
        one["key"]
        + (f"={one['value']}" if one.get("value") else "")
        + f":{one['effect']}"
    )
