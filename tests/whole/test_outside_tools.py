"""The OpenAPI document passes a linter of others, and their generators make clients of it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "frontend"
#: What a generator is to make of bodies that are not JSON.
CONFIG = """\
content_type_overrides:
  application/vnd.quotalab.sandbox: application/octet-stream
  application/yaml: application/octet-stream
"""


@pytest.fixture(scope="module")
def document(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("openapi") / "openapi.json"
    made = SchemaGenerator().get_schema(request=None, public=True)
    path.write_bytes(OpenApiJsonRenderer().render(made))
    return path


def run(*words: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )


def test_a_linter_has_no_complaint_and_types_are_made_of_it(document):
    if not (shutil.which("node") and (PAGE / "node_modules").exists()):
        pytest.skip("Node or the page's tools are not installed: ./dev test does that")
    done = run("node", "generating/outside.js", document, folder=PAGE)
    assert (done.stderr, done.returncode) == ("", 0)
    assert "sandboxes_create" in done.stdout


def test_a_python_client_is_made_of_the_whole_document(document, tmp_path):
    (tmp_path / "config.yaml").write_text(CONFIG)
    words = f"--path {document} --config config.yaml --meta none --output-path made"
    tool = (sys.executable, "-m", "openapi_python_client", "generate", *words.split())
    done = run(*tool, folder=tmp_path)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "will not be generated" not in done.stdout
    ask = (
        "import made.api.sandboxes.sandboxes_read as m; print(m.sync_detailed.__name__)"
    )
    assert run(sys.executable, "-c", ask, folder=tmp_path).stdout == "sync_detailed\n"
