"""The page of the operator: what waits and for whom, what is late, what was refused."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from api.metrics import standing
from api.signing import to_sign_in
from sandbox.access.people import signs_in
from sandbox.models import Sandbox
from sandbox.process import connections, services

#: Rows of a table, most at once.
MOST = 50
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="5">
<title>Service · Quotalab</title>
<link rel="stylesheet" href="{style}">
</head>
<body>
<main>
<h1>Service</h1>
<p>{sentence}</p>
{tables}
</main>
</body>
</html>
"""


@require_safe
@never_cache
def service(request: HttpRequest) -> HttpResponse:
    """Return the page to staff, and to the one person of the default run; 403 to others.

    A fixed number of statements. The same numbers are at /metrics/service.
    """
    if signs_in() and not request.user.is_authenticated:
        return to_sign_in(request)
    if signs_in() and not request.user.is_staff:
        sentence = "only staff see this page; `manage.py person add NAME --staff`"
        return HttpResponse(sentence, status=403, content_type="text/plain")
    found = services.read()
    counts, queues = (found[0], found[2]) if found else ({}, {})
    room, held = connections.held()
    waits, late = standing.waits(), list(standing.late(MOST))
    playing = Sandbox.objects.filter(playing=True).count()
    sentence = (
        f"{playing} sandboxes play, {standing.playing_late().count()} are more than "
        f"{standing.LATE_S:g} s behind their speed. "
        f"{sum(one.waiting for one in waits)} parts of work wait. "
        f"The bus {'answers' if found else 'is away'}."
    )
    tables = [
        _table("Who waits for what", standing.Wait._fields, waits[:MOST]),
        _table("Behind their speed", ("id", "title", "owner", "speed", "lag s"), late),
        _table("Messages in the queues", ("queue", "waiting"), queues.items()),
        _table("Processors", ("work", "seconds", "now"), _processors(counts)),
        _table(
            f"Connections to PostgreSQL, of {room}" if room else "Connections",
            ("kind", "processes", "may open", "open"),
            [one._replace(kind=one.kind or "other programs") for one in held],
        ),
        _table(
            "Refused today (UTC)",
            services.Refused._fields,
            services.refused_today(MOST),
        ),
    ]
    style = f"{settings.STATIC_URL}api/reference.css"
    body = SafeString("\n").join(tables)
    html = format_html(_PAGE, style=style, sentence=sentence, tables=SafeString(body))
    return HttpResponse(html)


def _table(title: str, heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    head = format_html_join("", "<th scope=col>{}</th>", ((one,) for one in heads))
    lines = [
        format_html("<tr>{}</tr>", format_html_join("", "<td>{}</td>", _cells(row)))
        for row in rows
    ]
    if not lines:
        return format_html("<h2>{}</h2><p>None.</p>", title)
    words = "<h2>{}</h2><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>"
    return format_html(words, title, head, SafeString("".join(lines)))


def _cells(row: Iterable[object]) -> Iterable[tuple[object]]:
    return ((f"{one:.1f}" if isinstance(one, float) else one,) for one in row)


#: When this process read the seconds last, and what they were.
_before: tuple[float, dict[str, float]] = (0.0, {})


def _processors(counts: dict[str, float]) -> Sequence[tuple[str, float, str]]:
    """Return the seconds of each kind of work, and its processors since the last look."""
    global _before
    now, (at, before) = time.monotonic(), _before
    seconds = standing.seconds_by_work(counts)
    _before = now, seconds
    return [
        (
            work,
            value,
            f"{(value - before[work]) / (now - at):.2f}" if work in before else "",
        )
        for work, value in sorted(seconds.items(), key=lambda one: -one[1])
    ]
