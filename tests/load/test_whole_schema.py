"""Ten minutes of schemathesis over every operation: no 5xx, nothing undocumented.

`./dev soak tests/load/test_whole_schema.py`; SOAK_SECONDS says for how long on each
database. On the server a session signs in: a token would be revoked by the test itself.
"""

from __future__ import annotations

import http.cookiejar
import json
import os
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.services.default_run import DefaultRun
from tests.services.server import running_server

pytestmark = pytest.mark.soak

SECONDS = int(os.environ.get("SOAK_SECONDS", "600"))
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)
#: What ends a sandbox is asked of one that nothing else asks.
ENDING = ("archive", "delete", "unarchive")
NO_LIMITS = {
    "REQUESTS_PER_MINUTE": "0",
    "WRITES_PER_MINUTE": "0",
    "EXPLANATIONS_PER_MINUTE": "0",
    "JOINS_PER_MINUTE": "0",
    "SANDBOXES_PER_USER": "0",
}
PERSON = {"username": "olga", "password": "a long pass phrase"}


def made(opener: urllib.request.OpenerDirector, url: str, headers: Mapping) -> str:
    """Make a sandbox for all that is asked; return its id."""
    body = json.dumps({"scenario": "friday-rush"}).encode()
    own = {**headers, "Content-Type": "application/json"}
    request = urllib.request.Request(f"{url}/api/v1/sandboxes", body, own)
    with opener.open(request, timeout=60) as answer:
        return str(json.load(answer)["id"])


def configuration(folder: Path, sandbox: str, spare: str) -> Path:
    """Write where schemathesis looks for ids that are there."""
    one = "/api/v1/sandboxes/{sandbox_id}"
    ending = [f"POST {one}/actions/{word}" for word in ENDING] + [f"DELETE {one}"]
    lines = [
        f"hooks = {json.dumps(str(Path(__file__).with_name('bodies.py')))}",
        "[parameters]",
        f'"path.sandbox_id" = "{sandbox}"',
    ]
    for name in ending:
        lines += ["[[operations]]", f"include-name = {json.dumps(name)}"]
        lines += [f'parameters = {{ "path.sandbox_id" = "{spare}" }}']
    # Several documents in one answer are no JSON Schema's matter.
    lines += ["[[operations]]", f'include-name = "GET {one}/export"']
    lines += ["checks = { response_schema_conformance = { enabled = false } }"]
    file = folder / "schemathesis.toml"
    file.write_text("\n".join(lines) + "\n")
    return file


def ask_everything(
    url: str, folder: Path, config: Path, headers: Mapping[str, str]
) -> tuple[int, str]:
    """Ask for SECONDS; return the exit status and what was printed."""
    command = [
        str(Path(sys.executable).with_name("schemathesis")),
        f"--config-file={config}",
        *("run", f"{url}/api/v1/schema", "--max-time", str(SECONDS)),
        *("--continue-on-failure", "--no-shrink", "--request-timeout", "120"),
        *("--checks", ",".join(CHECKS), "--suppress-health-check", "all"),
        *("--generation-database", "none", "--warnings", "off"),
        *("--generation-with-security-parameters", "false"),
        *(word for k, v in headers.items() for word in ("-H", f"{k}: {v}")),
    ]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def report(where: str, code: int, said: str, log: str) -> None:
    sys.stdout.write(f"\n{where}:\n{said[:12_000]}\n")
    assert "Traceback" not in log
    assert code == 0


def test_the_whole_schema_holds_on_sqlite(tmp_path):
    with DefaultRun(tmp_path / "run", **NO_LIMITS) as run:
        opener = urllib.request.build_opener()
        ids = [made(opener, run.url, {}) for _ in range(2)]
        config = configuration(tmp_path, *ids)
        code, said = ask_everything(run.url, tmp_path, config, {})
        log = run.says()
    report("SQLite", code, said, log)


def test_the_whole_schema_holds_on_postgresql(tmp_path, postgres):
    with running_server(postgres, tmp_path, **NO_LIMITS) as run:
        run.manage("person", "add", PERSON["username"], says=f"{PERSON['password']}\n")
        opener, headers = signed_in(run.url)
        ids = [made(opener, run.url, headers) for _ in range(2)]
        config = configuration(tmp_path, *ids)
        code, said = ask_everything(run.url, tmp_path, config, headers)
        log = run.says()
    report("PostgreSQL", code, said, log)


def signed_in(url: str) -> tuple[urllib.request.OpenerDirector, dict[str, str]]:
    """Sign in as a page does; return what asks, and the headers of a session."""
    jar = http.cookiejar.CookieJar()
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    opener.open(f"{url}/sign-in", timeout=60).close()
    form = {**PERSON, "csrfmiddlewaretoken": _cookie(jar, "csrftoken")}
    body = urllib.parse.urlencode(form).encode()
    opener.open(f"{url}/sign-in", body, timeout=60).close()
    both = (
        f"csrftoken={_cookie(jar, 'csrftoken')}; sessionid={_cookie(jar, 'sessionid')}"
    )
    headers = {"Cookie": both, "X-CSRFToken": _cookie(jar, "csrftoken")}
    return urllib.request.build_opener(), headers


def _cookie(jar: http.cookiejar.CookieJar, name: str) -> str:
    return next((one.value or "" for one in jar if one.name == name), "")
