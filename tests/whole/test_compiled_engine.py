"""The compiled engine decides as plain Python does, and never runs beside other sources."""

from __future__ import annotations

import ast
import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import pytest

from scheduler.engine.compiled import finder
from scheduler.engine.compiled.build import missing, put_in_place, sources

ROOT = Path(__file__).resolve().parents[2]
VECTORS = [
    path
    for suite in ("kueue", "yunikorn")
    for path in sorted((ROOT / "tests" / "vectors" / suite).glob("*.jsonl.gz"))
]
RUN = """
import sys
from pathlib import Path
from scheduler import ENGINE
from scheduler.assembly import assemble
from scheduler.engine.tick import advance

for name in ("elastic-job", "fair-strategies-in-order", "friday-rush", "hierarchy-lending"):
    files = sorted(Path("sandbox/scenarios", name).rglob("*.yaml"))
    world = assemble([(path.name, path.read_text()) for path in files]).world
    for at_ms in range(0, 600_000, 30_000):
        advance(world, at_ms)
        print(name, at_ms, world.hash())
print(ENGINE.compiled, file=sys.stderr)
"""


def python(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run it here, in an environment with these variables."""
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def made_of() -> str:
    """Return a name that changes with anything a build depends on.

    All sources, for a compiled module takes in constants of those that are not.
    """
    total = hashlib.sha256(f"{sys.version} {version('mypy')}".encode())
    compiler = [os.environ.get("CC", "cc"), "--version"]
    total.update(subprocess.run(compiler, capture_output=True, check=True).stdout)
    for path in sorted((ROOT / "scheduler").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        total.update(f"{name} {finder.fingerprint(path)}".encode())
    return total.hexdigest()


@pytest.fixture(scope="module")
def built(request) -> str:
    """The engine, compiled as fast as may be; once for the same sources.

    `--cache-clear` builds it anew.
    """
    if why := missing():
        pytest.skip(why)
    kept = request.config.cache.mkdir("compiled-engine")
    folder = kept / made_of()
    if not folder.exists():
        build_into(folder)
    for old in kept.iterdir():
        if old != folder:
            shutil.rmtree(old)
    return str(folder)


def build_into(folder: Path) -> None:
    """Build it whole or not at all."""
    with tempfile.TemporaryDirectory() as made:
        engine = Path(made, "engine")
        words = ("-m", "scheduler.engine.compiled.build", str(engine), "--level", "0")
        done = python(*words, QUOTALAB_COMPILED="no")
        assert done.returncode == 0, done.stdout + done.stderr
        shutil.copytree(engine, folder.with_suffix(".part"), dirs_exist_ok=True)
    folder.with_suffix(".part").rename(folder)


def test_the_compiled_engine_passes_the_recorded_decisions(built, tmp_path):
    files = [every_tenth(path, tmp_path) for path in VECTORS]
    words = ("-m", "tests.conformance", *map(str, files))
    done = python(*words, QUOTALAB_COMPILED=built)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr


def every_tenth(path: Path, folder: Path) -> Path:
    """Plain Python decides all of them elsewhere; here other code does, not other rules."""
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    part = folder / f"{path.parent.name}-{path.name}"
    part.write_bytes(gzip.compress(b"".join(lines[::10]), 1))
    return part


def test_a_world_has_the_same_hash_at_every_step_compiled_or_not(built):
    ours = python("-c", RUN, QUOTALAB_COMPILED=built)
    plain = python("-c", RUN, QUOTALAB_COMPILED="no")
    assert (ours.stderr, plain.stderr) == ("True\n", "False\n")
    assert ours.stdout == plain.stdout


def test_a_build_of_other_sources_is_left_aside_and_named(tmp_path, monkeypatch):
    list_of(tmp_path, {"scheduler/engine/tick.py": "of another day"})
    monkeypatch.setattr(finder, "usual_folder", lambda: tmp_path)
    monkeypatch.delenv(finder.VARIABLE)
    engine = finder.find_compiled()
    assert (engine.compiled, engine.outdated) == (False, True)
    assert "scheduler/engine/tick.py has changed since it was built" in str(engine)


@pytest.mark.parametrize(
    "known", [None, {"scheduler/engine/tick.py": "of another day"}]
)
def test_a_build_asked_for_by_name_runs_or_nothing_does(tmp_path, monkeypatch, known):
    if known is not None:
        list_of(tmp_path, known)
    monkeypatch.setenv(finder.VARIABLE, str(tmp_path))
    with pytest.raises(ImportError, match=str(tmp_path)):
        finder.find_compiled()


def list_of(folder: Path, known: dict[str, str]) -> None:
    """Write the list of a build that was made of these sources."""
    text = json.dumps({"sources": known, "modules": {}})
    (folder / finder.LIST).write_text(text)


def test_what_is_compiled_are_modules_with_no_options_on_their_classes():
    named = [module_name(path) for path in sources(ROOT)]
    assert "scheduler.engine.kueue.scheduler.cycle" in named
    assert "scheduler.model.kueue.check_state" not in named, "a frozen record"


def test_no_module_that_is_not_compiled_builds_a_class_on_one_that_is():
    """Python refuses it, and only when an object of it is made."""
    compiled = {module_name(path) for path in sources(ROOT)}
    wrong = []
    for path in sorted((ROOT / "scheduler").rglob("*.py")):
        name = module_name(path.relative_to(ROOT).as_posix())
        if name not in compiled:
            tree = ast.parse(path.read_text())
            bases = {of for of in ast.walk(tree) if isinstance(of, ast.ClassDef)}
            named = {ast.unparse(base) for of in bases for base in of.bases}
            for one in ast.walk(tree):
                if isinstance(one, ast.ImportFrom) and one.module in compiled:
                    wrong += [f"{path}: {a.name}" for a in one.names if a.name in named]
    assert wrong == []


def test_a_build_leaves_the_one_before_it_to_those_who_run_on_it(tmp_path):
    def put(text: str) -> Path:
        made = tmp_path / "made.so"
        made.write_text(text)
        put_in_place(tmp_path / "here", {"one": made}, {})
        return tmp_path / "here" / json.loads(list_at.read_text())["modules"]["one"]

    list_at = tmp_path / "here" / finder.LIST
    first, second, third = put("1"), put("2"), put("3")
    assert not first.exists()
    assert [second.read_text(), third.read_text()] == ["2", "3"]


def test_who_has_no_c_compiler_is_told_that_nothing_is_lost(tmp_path):
    nobody = str(tmp_path / "cc")
    done = python(
        "-m", "scheduler.engine.compiled.build", str(tmp_path / "x"), CC=nobody
    )
    assert done.returncode == 1
    assert "plain Python decides the same" in done.stderr
    assert not (tmp_path / "x").exists()


def module_name(source: str) -> str:
    """Return the name by which a source is imported."""
    return source.removesuffix(".py").replace("/", ".")
