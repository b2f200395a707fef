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

from tests.load.asking import Asking
from tests.load.prepared import Prepared, prepare
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


#: Operations that end an experiment, by which there is one to spare.
ENDING_SEARCHES = ("POST {}/cancel", "POST {}/take", "DELETE {}")


def toml(value: object) -> str:
    """Return it as TOML writes it, which is JSON for these."""
    return json.dumps(value)


def words(there: Prepared, asking: Asking) -> dict[str, list[object]]:
    """Path parameter -> what is there; most of what is asked finds something."""
    path = f"/api/v1/sandboxes/{there.sandbox}"
    workloads = asking.get(f"{path}/tables/workloads?limit=20")["items"]
    events = asking.get(f"{path}/events?limit=50")["items"]
    preemptions = asking.get(f"{path}/preemptions?limit=20")["items"]
    return {
        # The sandbox thrice, so that one question in four is about the twin.
        "sandbox_id": [there.sandbox] * 3 + [there.twin],
        "experiment_id": [there.search],
        "run": [0, 1, 2, 3],
        "namespace": sorted({one["namespace"] for one in workloads}),
        "name": sorted({one["name"] for one in workloads}),
        "place": [f"{one['revision']}.{one['seq']}" for one in (*events, *preemptions)],
        "table": ["workloads", "clusterqueues", "jobs", "nodes", "pods"],
        "kind": ["Workload", "ClusterQueue", "Job", "LocalQueue"],
    }


def configuration(folder: Path, there: Prepared, asking: Asking) -> Path:
    """Write where schemathesis looks for ids that are there."""
    sandbox, search = (
        "/api/v1/sandboxes/{sandbox_id}",
        "/api/v1/experiments/{experiment_id}",
    )
    lines = [f"hooks = {toml(str(Path(__file__).with_name('bodies.py')))}"]
    for name, values in words(there, asking).items():
        lines += [f"[dictionaries.{name}]", f"values = {toml(values)}"]
    lines += ["[parameters]"]
    for name in words(there, asking):
        share = 1.0 if name.endswith("_id") else 0.7
        lines += [f'"path.{name}" = {{ dictionary = "{name}", probability = {share} }}']
    spared = {f"POST {sandbox}/actions/{word}": there.spare for word in ENDING}
    spared[f"DELETE {sandbox}"] = there.spare
    for name, key in spared.items():
        lines += ["[[operations]]", f"include-name = {toml(name)}"]
        lines += [f'parameters = {{ "path.sandbox_id" = {toml(key)} }}']
    for name in ENDING_SEARCHES:
        lines += ["[[operations]]", f"include-name = {toml(name.format(search))}"]
        lines += [f'parameters = {{ "path.experiment_id" = {toml(there.ended)} }}']
    # Several documents in one answer are no JSON Schema's matter.
    for name in (f"GET {sandbox}/export", f"GET {search}/patches.yaml"):
        lines += ["[[operations]]", f"include-name = {toml(name)}"]
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
        asking = Asking(run.url)
        config = configuration(tmp_path, prepare(asking), asking)
        code, said = ask_everything(run.url, tmp_path, config, {})
        log = run.says()
    report("SQLite", code, said, log)


def test_the_whole_schema_holds_on_postgresql(tmp_path, postgres):
    with running_server(postgres, tmp_path, **NO_LIMITS) as run:
        run.manage("person", "add", PERSON["username"], says=f"{PERSON['password']}\n")
        headers = signed_in(run.url)
        asking = Asking(run.url, headers)
        config = configuration(tmp_path, prepare(asking), asking)
        code, said = ask_everything(run.url, tmp_path, config, headers)
        log = run.says()
    report("PostgreSQL", code, said, log)


def signed_in(url: str) -> dict[str, str]:
    """Sign in as a page does; return the headers of a session."""
    jar = http.cookiejar.CookieJar()
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    opener.open(f"{url}/sign-in", timeout=60).close()
    form = {**PERSON, "csrfmiddlewaretoken": _cookie(jar, "csrftoken")}
    body = urllib.parse.urlencode(form).encode()
    opener.open(f"{url}/sign-in", body, timeout=60).close()
    both = (
        f"csrftoken={_cookie(jar, 'csrftoken')}; sessionid={_cookie(jar, 'sessionid')}"
    )
    return {"Cookie": both, "X-CSRFToken": _cookie(jar, "csrftoken")}


def _cookie(jar: http.cookiejar.CookieJar, name: str) -> str:
    return next((one.value or "" for one in jar if one.name == name), "")
