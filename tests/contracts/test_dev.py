"""The verbs: what ./dev refuses with a sentence, and how it compares builds."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def dev():
    loader = importlib.machinery.SourceFileLoader("dev", str(ROOT / "dev"))
    spec = importlib.util.spec_from_loader("dev", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_every_verb_is_listed():
    said = subprocess.run(
        [sys.executable, ROOT / "dev"], capture_output=True, text=True, check=False
    )
    for verb in ("run", "test", "lint", "build", "package", "bench", "soak", "audit"):
        assert f"  {verb} " in said.stdout
    assert said.returncode == 0


def test_an_unknown_verb_is_no_success():
    said = subprocess.run(
        [sys.executable, ROOT / "dev", "dance"], capture_output=True, check=False
    )
    assert said.returncode == 2


def test_a_musl_system_gets_what_to_do(dev, monkeypatch):
    monkeypatch.setattr(dev.sys, "platform", "linux")
    monkeypatch.setattr(dev.platform, "libc_ver", lambda: ("", ""))
    with pytest.raises(SystemExit, match=r"musl.*docker compose"):
        dev.refuse_unknown_systems()


def test_an_old_python_gets_which_one_is_needed(dev, monkeypatch, tmp_path):
    monkeypatch.setattr(dev.sys, "version_info", (3, 9, 0))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match=r"Python 3\.11 or newer is needed"):
        dev.find_newer_python()


def test_a_shim_that_starts_nothing_is_no_python(dev, tmp_path):
    shim = tmp_path / "python3.13"
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    assert not dev.answers(shim)
    assert dev.answers(sys.executable)


def test_python_without_venv_gets_what_to_install(dev, monkeypatch, tmp_path):
    monkeypatch.setattr(dev, "PYTHON", tmp_path / "none")
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match="apt install python3-venv"):
        dev.make_venv()


def python_that(tmp_path: Path, folder: str, status: int) -> Path:
    """Put a program that ends so under the name of this Python into a folder."""
    program = tmp_path / folder / "python{}.{}".format(*sys.version_info)
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nexit {status}\n")
    program.chmod(0o755)
    return program


def test_an_optimised_python_is_taken_where_this_one_is_not(
    dev, monkeypatch, tmp_path, capsys
):
    slow = python_that(tmp_path, "slow", 1)
    quick = python_that(tmp_path, "quick", 0)
    monkeypatch.setattr(sys, "executable", str(slow))
    monkeypatch.setenv("PATH", f"{slow.parent}:{quick.parent}")
    assert dev.quicker_python(uv=True) == str(quick)
    assert "was built without --enable-optimizations" in capsys.readouterr().out


def test_an_optimised_python_stays(dev, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", str(python_that(tmp_path, "here", 0)))
    monkeypatch.setenv("PATH", str(python_that(tmp_path, "there", 0).parent))
    assert dev.quicker_python(uv=True) is None


@pytest.mark.parametrize(
    ("version", "good"),
    [
        ("v18.20.4", False),
        ("v20.18.0", False),
        ("v20.19.0", True),
        ("v21.7.0", False),
        ("v22.11.0", False),
        ("v22.12.0", True),
        ("v24.1.0", True),
        ("none", False),
    ],
)
def test_node_is_new_enough(dev, tmp_path, version, good):
    node = tmp_path / "node"
    node.write_text(f"#!/bin/sh\necho {version}\n")
    node.chmod(0o755)
    assert dev.new_enough(str(node)) is good


def test_two_builds_are_compared_byte_for_byte(dev, tmp_path):
    fresh, kept = tmp_path / "fresh", tmp_path / "kept"
    for folder, text in ((fresh, "new"), (kept, "old")):
        (folder / "assets").mkdir(parents=True)
        (folder / "assets" / "same.js").write_text("same")
        (folder / "index.html").write_text(text)
    (kept / "assets" / "left.js").touch()
    assert dev.differences(fresh, kept) == ["assets/left.js", "index.html"]


@pytest.fixture
def service(dev, monkeypatch, tmp_path):
    """A pip-audit that says what the test wants said."""

    def says(text: str) -> None:
        tool = tmp_path / "pip-audit"
        tool.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\n")
        tool.chmod(0o755)
        monkeypatch.setattr(dev, "BIN", tmp_path)

    return says


CLEAN = '{"name": "a", "version": "1", "vulns": []}'
UNKNOWN = '{"name": "b", "skip_reason": "not found"}'
BAD = '{"name": "c", "version": "2", "vulns": [{"id": "CVE-1"}]}'


@pytest.mark.parametrize(
    ("said", "status", "words"),
    [
        (f"[{CLEAN}]", 0, "nothing is known against any of 1 packages"),
        (f"[{CLEAN}, {UNKNOWN}]", 3, "answered for 1 of 2 packages"),
        (f"[{UNKNOWN}, {BAD}]", 1, "c 2: CVE-1"),
        ("not JSON", 3, "answered for 0 of all packages"),
    ],
    ids=["clean", "in part", "bad", "no service"],
)
def test_an_audit_says_what_it_knows_and_what_not(
    dev, service, capsys, said, status, words
):
    service(f'{{"dependencies": {said}}}' if "[" in said else said)
    assert dev.audit_python(dev.RUNTIME) == status
    assert words in capsys.readouterr().out
