"""What is built here is installed elsewhere, and works there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from tests.sandbox.conftest import contended, text_of
from tests.services.default_run import ROOT, DefaultRun
from tests.whole.test_api_document import world_of_tasks

_BUILD = (
    "import sys; sys.path.insert(0, {backend!r}); import quotalab_building as b; "
    "print(b.build_{what}({folder!r}))"
)
_NOT_OURS = shutil.ignore_patterns(
    "node_modules",
    ".venv",
    ".git",
    "__pycache__",
    "var",
    "build",
    "mutants",
    "*.egg-info",
)


def bare_copy(folder: Path) -> Path:
    """Return a copy of the repository without what the build makes."""
    copy = folder / "source"
    shutil.copytree(ROOT, copy, ignore=_NOT_OURS, symlinks=True)
    for name in ("records.py", "operations.py"):
        (copy / "api/client" / name).unlink(missing_ok=True)
    return copy


def build(folder: Path, source: Path, backend: str, what: str = "wheel") -> Path:
    """Build what a source is made into, with what is installed here alone."""
    code = _BUILD.format(backend=str(source / backend), what=what, folder=str(folder))
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=source,
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
    )
    return folder / done.stdout.splitlines()[-1]


def installed(folder: Path, wheel: Path) -> Path:
    """Return the Python of a fresh environment with the wheel and our libraries."""
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    theirs = next(path for path in sys.path if path.endswith("site-packages"))
    (packages / "libraries.pth").write_text(theirs)
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    copy = bare_copy(tmp_path_factory.mktemp("bare"))
    left = copy / "api/client/build/lib"  # of who installed the client from it
    left.mkdir(parents=True)
    (left / "left.py").touch()
    return copy


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory) -> Path:
    return build(tmp_path_factory.mktemp("wheel"), source, "api/client/building")


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory) -> Path:
    return installed(tmp_path_factory.mktemp("default_run") / "venv", wheel)


def test_the_wheel_has_the_page_the_library_and_the_styles(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "quotalab/frontend/dist/index.html" in names
    assert any(n.endswith("friday-rush/scenario.yaml") for n in names)
    assert "quotalab/api/static/api/sign-in.css" in names
    assert "quotalab/api/assistants/docs/mcp.md" in names
    not_in_it = ("node_modules", "/src/", "/building/", "/build/")
    assert not any(part in name for name in names for part in not_in_it)
    assert {name.partition("/")[0] for name in names} == {
        "quotalab",
        "quotalab-0.1.0.dist-info",
    }
    points = next(n for n in names if n.endswith("entry_points.txt"))
    text = zipfile.ZipFile(wheel).read(points).decode()
    assert "quotalab = quotalab.api.command:main" in text


def test_a_build_leaves_no_data_folder_with_a_secret(wheel, source):
    assert wheel.exists()
    assert not (source / "var").exists()


@pytest.mark.parametrize(
    ("part", "backend"),
    [(".", "api/client/building"), ("api/client", "building")],
    ids=["everything", "the client alone"],
)
def test_a_source_distribution_builds_the_wheel_that_a_clone_does(
    wheel, source, part, backend, tmp_path
):
    packed = build(tmp_path, source / part, backend, "sdist")
    shutil.unpack_archive(packed, tmp_path)
    unpacked = tmp_path / packed.name.removesuffix(".tar.gz")
    again = build(tmp_path, unpacked, backend)
    names = set(zipfile.ZipFile(again).namelist())
    made = {"records.py", "operations.py"}
    assert made <= {Path(name).name for name in names if "/client/" in name}
    if part == ".":
        assert names == set(zipfile.ZipFile(wheel).namelist())


def test_the_command_works_where_only_the_wheel_is(python, tmp_path):
    world = tmp_path / "world.yaml"
    world.write_text(text_of(*contended()))
    script = "import sys; from quotalab.api.command import main; sys.exit(main())"
    variables = {"PATH": os.environ["PATH"], "QUOTALAB_DATA": str(tmp_path / "data")}

    def run(*words: str) -> str:
        done = subprocess.run(
            [python, "-c", script, *words],
            cwd=tmp_path,
            env=variables,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    key = run("import", str(world))
    assert run("run", key, "--ticks", "3").startswith("tick 3")
    assert "friday-rush" in run("scenarios")
    assert "endMs" in run("run", str(world), "--until", "3s", "--json")


def test_a_notebook_imports_it_by_its_name(python, tmp_path):
    (tmp_path / "world.yaml").write_text(text_of(*contended()))
    for theirs in ("scheduler", "sandbox", "api"):  # packages of the user's own
        (tmp_path / theirs).mkdir()
        (tmp_path / theirs / "__init__.py").write_text("mine = True\n")
    code = (
        "import quotalab, quotalab.client, scheduler, sandbox, api\n"
        "assert scheduler.mine and sandbox.mine and api.mine\n"
        "sb = quotalab.open('world.yaml').step(until='20s')\n"
        "print(sb.tick, len(sb.workloads()), quotalab.client.Client.__name__)"
    )
    done = subprocess.run(
        [python, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "20 12 Client\n"


def test_five_tasks_are_done_beside_packages_of_the_user(python, tmp_path):
    for theirs in ("scheduler", "sandbox", "api"):
        (tmp_path / theirs).mkdir()
        (tmp_path / theirs / "__init__.py").write_text("mine = True\n")
    shutil.copy(ROOT / "docs/examples/five_tasks.py", tmp_path)
    done = subprocess.run(
        [python, "five_tasks.py", world_of_tasks(tmp_path).name],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("10 runs\n")


class Installed(DefaultRun):
    """The default run of a wheel: started by its command, far from any checkout."""

    def __init__(self, python: Path, folder: Path) -> None:
        super().__init__(folder)
        self.root = folder
        self.command = (str(python), "-m", "quotalab.api", "up")


def test_the_default_run_starts_from_the_wheel_and_shows_its_page(python, tmp_path):
    import urllib.request

    with Installed(python, tmp_path / "default_run") as default_run:
        with urllib.request.urlopen(default_run.url + "/", timeout=20) as page:
            assert b"<!doctype html>" in page.read().lower()
        made = default_run.get("/api/v1/sandboxes")["items"][0]
        path = f"/api/v1/sandboxes/{made['id']}"
        assert default_run.post(f"{path}/actions/step?wait=60", {"ticks": 3})["done"]
        change = {"policy": {"spec": {"kueue": {"fairSharing": None}}}}
        body = {"changes": [change], "horizonMs": 10_000}
        found = default_run.post(f"{path}/what-ifs?wait=60", body)
        assert found["state"] == "open"
        assert default_run.end() == 0


def test_the_client_alone_needs_nothing_but_python(tmp_path):
    wheel = build(tmp_path, bare_copy(tmp_path) / "api/client", "building")
    target = tmp_path / "alone"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    code = "import quotalab.client as c; c.Client(); c.AsyncClient(); print(c.__all__)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={"PYTHONPATH": str(target)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Client" in done.stdout
    assert (target / "quotalab/client/py.typed").exists()
