"""Enrolling plug-ins: what `register` sets and refuses, and those installed beside."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest

from scheduler.engine.kube.framework.plugin import Plugin
from scheduler.model import registry
from scheduler.model.errors import RegistrationError

PLUGIN = """
from scheduler.engine.kube.framework.plugin import Plugin
from scheduler.model.registry import register

@register("plugin", "NearestRack", label="Nearest rack", help="Of one's own.")
class NearestRack(Plugin):
    pass
"""
ASK = (
    "from scheduler.model import registry; print(registry.lookup('plugin', {!r}).name)"
)


class Args(msgspec.Struct):
    weight: int = 1


@pytest.fixture(autouse=True)
def forget(monkeypatch):
    registry.load()
    monkeypatch.setattr(registry, "_entries", dict(registry._entries))


def enrol(kind, **more):
    return registry.register("plugin", "Mine", label="Mine", help="", **more)(kind)


def test_a_class_gets_its_name_and_argument_type_from_its_registration():
    kind = enrol(type("Mine", (Plugin,), {}), parameters=Args)
    assert (kind.name, kind.args_type) == ("Mine", Args)


def test_a_class_of_another_name_is_refused():
    with pytest.raises(RegistrationError, match=r"Yours.*'Mine'.*leave the attribute"):
        enrol(type("Mine", (Plugin,), {"name": "Yours"}))


def test_a_class_of_another_argument_type_is_refused():
    other = msgspec.defstruct("Other", [])
    with pytest.raises(RegistrationError, match=r"args_type is .*Other"):
        enrol(type("Mine", (Plugin,), {"args_type": other}), parameters=Args)


def test_parameters_that_are_no_struct_are_refused():
    with pytest.raises(
        RegistrationError, match=r"expected .* msgspec\.Struct, got int"
    ):
        enrol(type("Mine", (Plugin,), {}), parameters=int)


def installed(folder, module: str) -> None:
    """Put a distribution with one entry point into a folder."""
    info = folder / "my_plugins-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-plugins\n")
    (info / "entry_points.txt").write_text(f"[{registry.GROUP}]\nnearest = {module}\n")


def ask(folder, name: str) -> subprocess.CompletedProcess[str]:
    """Look a plug-in up in a process that finds the folder's distributions."""
    return subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys; sys.path.append({str(folder)!r})\n{ASK}".format(name),
        ],
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_plugin_of_another_distribution_is_found_by_its_entry_point(tmp_path):
    (tmp_path / "my_plugins.py").write_text(PLUGIN)
    installed(tmp_path, "my_plugins")
    answer = ask(tmp_path, "NearestRack")
    assert answer.stdout.strip() == "NearestRack", answer.stderr


def test_an_entry_point_that_cannot_be_imported_is_named(tmp_path):
    installed(tmp_path, "no_such_module")
    answer = ask(tmp_path, "NodeName")
    assert "entry point nearest = 'no_such_module'" in answer.stderr


def test_a_job_kind_of_another_distribution_is_none_of_ours_however_early_it_came():
    class Foreign:
        """One that says nothing of how it is served."""

    ours = registry.built_in("job-kind")
    registry.register("job-kind", "Foreign", label="Foreign", help="")(Foreign())
    assert registry.built_in("job-kind") == ours
