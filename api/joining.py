"""Signing in where other machines reach a run: guests by a code, the owner by a link.

Guests follow the lesson whose code they have. The owner has a link from the terminal
of the run (`sandbox.access.people`); it is used up by a button and not by being
opened, so that no preview of it spends it.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.conf import settings
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.middleware.csrf import get_token
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import get_language_from_request

from sandbox.access.people import local_user, owner_link
from sandbox.actions import do_join_as_guest
from sandbox.actions.access import note
from sandbox.actions.lessons import LONGEST
from sandbox.base.errors import ForbiddenError, NotFoundError

_PAGE = """<!doctype html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{join} · Quotalab</title>
<link rel="stylesheet" href="{style}">
</head>
<body>
<main>
<h1>Quotalab</h1>
{problem}
<form method="post" action="/sign-in">
<input type="hidden" name="csrfmiddlewaretoken" value="{token}">
{fields}
</form>
<p>{hint}</p>
</main>
</body>
</html>
"""
_NOTES = SafeString('<input type="hidden" name="notes" value="1">')
_BY_CODE = """{notes}<label for="code">{label}</label>
<input id="code" name="code" value="{code}" maxlength="9" autocomplete="off"
 autocapitalize="characters" spellcheck="false" required autofocus>
<label for="name">{name_label}</label>
<input id="name" name="name" value="{name}" maxlength="40" autocomplete="nickname">
<button type="submit">{join}</button>"""
_BY_LINK = """<input type="hidden" name="once" value="{once}">
<button type="submit" autofocus>{owner}</button>"""
_WORDS: dict[str, dict[str, str]] = {
    "en": {
        "join": "Join the lesson",
        "label": "Code of the lesson",
        "name_label": "Your name, if you like: whoever may see this run sees it",
        "owner": "Sign in as the owner",
        "hint": "The owner of this run signs in by the link in its terminal.",
        "code": "No lesson has this code, or it has ended.",
        "full": "As many follow as fit.",
        "used": "This link was used, or a newer one is in the terminal.",
        "busy": "Too many tries. Wait a minute.",
    },
    "zh-hans": {
        "join": "加入课程",
        "label": "课程代码",
        "name_label": "你的名字（可不填，能查看此运行的人都能看到）",
        "owner": "以所有者身份登录",
        "hint": "本实例的所有者通过终端中的链接登录。",
        "code": "没有课程使用此代码，或课程已结束。",
        "full": "跟随者已达上限。",
        "used": "此链接已使用过，或终端中有更新的链接。",
        "busy": "尝试次数过多。请等一分钟。",
    },
    "zh-hant": {
        "join": "加入課程",
        "label": "課程代碼",
        "name_label": "你的名字（可不填，能檢視此執行的人都能看到）",
        "owner": "以擁有者身分登入",
        "hint": "本執行個體的擁有者透過終端機中的連結登入。",
        "code": "沒有課程使用此代碼，或課程已結束。",
        "full": "跟隨者已達上限。",
        "used": "此連結已使用過，或終端機中有更新的連結。",
        "busy": "嘗試次數過多。請等一分鐘。",
    },
}


def sign_in_here(request: HttpRequest, *, busy: bool) -> HttpResponse:
    """Show the form, or take a code or the owner's key. `busy`: tried too often."""
    if request.method == "GET":
        return _form(request)
    if busy:
        refused = _form(request, "busy", 429)
        refused["Retry-After"] = "60"
        return refused
    once = request.POST.get("once", "")
    return _as_owner(request, once) if once else _as_guest(request)


def _as_owner(request: HttpRequest, once: str) -> HttpResponse:
    if not owner_link.take(once):
        return _form(request, "used", 401)
    login(request, local_user())
    note(local_user(), "sign-in", subject="link of the terminal")
    return HttpResponseRedirect("/")


def _as_guest(request: HttpRequest) -> HttpResponse:
    code = "".join(filter(str.isalnum, request.POST.get("code", ""))).upper()
    try:
        guest = do_join_as_guest(code, request.POST.get("name", ""))
    except NotFoundError:
        return _form(request, "code", 401)
    except ForbiddenError:
        return _form(request, "full", 403)
    login(request, guest)
    request.session.set_expiry(int(LONGEST.total_seconds()))
    query = {"code": code, "now": "yes"}
    if request.POST.get("notes"):
        query["notes"] = "1"
    return HttpResponseRedirect(f"/join?{urlencode(query)}")


def _form(request: HttpRequest, problem: str = "", status: int = 200) -> HttpResponse:
    """Return the page: a button for who has the owner's link, the code for the rest."""
    lang = get_language_from_request(request)
    words = _WORDS.get(lang, _WORDS["en"])
    once = request.GET.get("once", "")
    by_link = once and not problem
    fields = (
        format_html(_BY_LINK, once=once, **_some(words, "owner"))
        if by_link
        else format_html(
            _BY_CODE,
            code=_asked(request, "code"),
            notes=_NOTES if _asked(request, "notes") else "",
            name=_asked(request, "name"),
            **_some(words, "label", "name_label", "join"),
        )
    )
    html = format_html(
        _PAGE,
        lang=lang,
        style=f"{settings.STATIC_URL}api/sign-in.css",
        token=get_token(request),
        fields=fields,
        problem=_alert(words.get(problem, "")),
        hint="" if by_link else words["hint"],
        join=words["join"],
    )
    return HttpResponse(html, status=status)


def _some(words: dict[str, str], *names: str) -> dict[str, Any]:
    return {name: words[name] for name in names}


def _alert(problem: str) -> SafeString:
    return format_html('<p role="alert">{}</p>', problem) if problem else SafeString("")


def _asked(request: HttpRequest, field: str) -> str:
    """Return what the form was sent with, or the address that was wanted names."""
    if given := request.POST.get(field):
        return given
    try:
        wanted = urlsplit(request.GET.get("next", "")).query
        return parse_qs(wanted).get(field, [""])[0]
    except ValueError:  # no address, or one of more fields than are read
        return ""
