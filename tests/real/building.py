"""The programs of the control plane: found, or built once and kept in a cache folder.

Versions stand in go.mod, for Kueue in kueue/go.mod. What is built is kept by the hash
of go.sum, so that another version is built beside it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: Program to package, of the module in this folder.
KUBERNETES = {
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
}
ETCD = "go.etcd.io/etcd/server/v3"
KUEUE_MODULE = "sigs.k8s.io/kueue"
#: Of Kueue's module: what the API server is given.
_MANIFESTS = ("crd/bases", "webhook")
#: Integration to module, and to the file there that defines its kind.
_TRAINING = "github.com/kubeflow/training-operator"
_RAY = "github.com/ray-project/kuberay/ray-operator"
_DEFINITIONS = {
    "jobset.x-k8s.io/jobset": (
        "sigs.k8s.io/jobset",
        "config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml",
    ),
    "leaderworkerset.x-k8s.io/leaderworkerset": (
        "sigs.k8s.io/lws",
        "config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml",
    ),
    "kubeflow.org/pytorchjob": (
        _TRAINING,
        "manifests/base/crds/kubeflow.org_pytorchjobs.yaml",
    ),
    "ray.io/rayjob": (_RAY, "config/crd/bases/ray.io_rayjobs.yaml"),
    "ray.io/raycluster": (_RAY, "config/crd/bases/ray.io_rayclusters.yaml"),
}
#: Others work on the same machine: one package at a time, after everybody else.
_BUILD = ("nice", "-n", "19", "go", "build", "-p", "1", "-trimpath")


class MissingError(Exception):
    """Something is not here and cannot be made; the message says what and what to do."""


@dataclass(frozen=True, slots=True)
class Programs:
    """Where each program is, what Kueue gives the API server, and their releases."""

    etcd: Path
    kubernetes: dict[str, Path]
    kueue: Path
    manifests: Path
    releases: dict[str, str]


def cache_folder() -> Path:
    """Return where what is built is kept, outside of the repository."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "quotalab-real"


def programs(kueue: Path | None = None, manifests: Path | None = None) -> Programs:
    """Return all programs; build what is missing, which takes half an hour once.

    `kueue` and `manifests` name the manager of another release, and the
    `config/components` of its module. Raises MissingError.
    """
    if (kueue is None) != (manifests is None):
        raise MissingError("expected --kueue and --manifests together, of one release")
    folder = _kept_in(HERE)
    built = {
        name: _built(folder / name, HERE, package, _version_flags())
        for name, package in KUBERNETES.items()
    }
    there = shutil.which("etcd")
    etcd = Path(there) if there else _built(folder / "etcd", HERE, ETCD, "-s -w")
    releases = {"kubernetes": _version("k8s.io/kubernetes", HERE)}
    if kueue is not None and manifests is not None:
        for path in (kueue, manifests / _MANIFESTS[0], manifests / _MANIFESTS[1]):
            if not path.exists():
                raise MissingError(f"{path}: expected it to be there")
        return Programs(etcd, built, kueue, manifests, releases)
    module = HERE / "kueue"
    releases["kueue"] = _version(KUEUE_MODULE, module)
    kept = _kept_in(module)
    flags = f"-s -w -X {KUEUE_MODULE}/pkg/version.GitVersion=v{releases['kueue']}"
    kueue = _built(kept / "kueue", module, f"{KUEUE_MODULE}/cmd/kueue", flags)
    return Programs(etcd, built, kueue, _manifests(kept, module), releases)


def definition_of(framework: str) -> Path:
    """Return the resource definition of the kind of one of Kueue's integrations.

    It is that of the version that Kueue requires, in Go's cache of modules. Raises
    MissingError.
    """
    if framework not in _DEFINITIONS:
        known = ", ".join(sorted(_DEFINITIONS))
        raise MissingError(f"integration {framework}: expected one of {known}")
    package, place = _DEFINITIONS[framework]
    folder = HERE / "kueue"
    name = f"{package}@v{_version(package, folder)}"
    file = Path(_go(folder, "env", "GOMODCACHE").strip()) / name / place
    if not file.exists():
        raise MissingError(
            f"{file}: expected it to be there; `go mod download` in {folder} gets it"
        )
    return file


def is_built() -> bool:
    """Return whether all programs are there, so that `programs` builds nothing."""
    names = [*KUBERNETES, *([] if shutil.which("etcd") else ["etcd"])]
    kept, module = _kept_in(HERE), _kept_in(HERE / "kueue")
    files = [*(kept / name for name in names), module / "kueue", module / "components"]
    return all(file.exists() for file in files)


def _kept_in(module: Path) -> Path:
    total = hashlib.sha256((module / "go.sum").read_bytes()).hexdigest()
    return cache_folder() / f"{module.name}-{total[:16]}"


def _built(program: Path, module: Path, package: str, flags: str) -> Path:
    if program.exists():
        return program
    _needs_go(package)
    sys.stderr.write(f"Building {program.name}; this takes minutes, once.\n")
    program.parent.mkdir(parents=True, exist_ok=True)
    # Beside its place first: an interrupted build leaves nothing that looks whole.
    partial = program.with_suffix(".part")
    command = [*_BUILD, "-o", str(partial), "-ldflags", flags, package]
    done = subprocess.run(
        command, cwd=module, env={**os.environ, "CGO_ENABLED": "0"}, check=False
    )
    if done.returncode:
        raise MissingError(f"{package}: go build ended with {done.returncode}")
    partial.rename(program)
    return program


def _manifests(kept: Path, module: Path) -> Path:
    """Return the module's manifests, kept so that a later start needs no Go."""
    folder = kept / "components"
    if folder.exists():
        return folder
    _needs_go(KUEUE_MODULE)
    said = _go(module, "list", "-m", "-json", KUEUE_MODULE)
    source = Path(json.loads(said)["Dir"]) / "config" / "components"
    partial = kept / "components.part"
    shutil.rmtree(partial, ignore_errors=True)
    for name in _MANIFESTS:
        # Files of the module cache are read-only, and so would folders be.
        for file in sorted((source / name).glob("*.yaml")):
            copied = partial / name / file.name
            copied.parent.mkdir(parents=True, exist_ok=True)
            copied.write_bytes(file.read_bytes())
    partial.rename(folder)
    return folder


def _version_flags() -> str:
    """Return linker flags that give Kubernetes its version: clients refuse its default."""
    version = _version("k8s.io/kubernetes", HERE)
    major, minor, _ = version.split(".", 2)
    place = "k8s.io/component-base/version"
    words = {"gitVersion": f"v{version}", "gitMajor": major, "gitMinor": minor}
    flags = [f"-X {place}.{name}={value}" for name, value in words.items()]
    return " ".join(["-s -w", *flags])


def _version(module: str, folder: Path) -> str:
    """Return the version of a module that a go.mod requires, without its `v`."""
    text = (folder / "go.mod").read_text()
    found = re.search(
        rf"^(?:require )?\s*{re.escape(module)} v(\S+)", text, re.MULTILINE
    )
    if found is None:
        raise MissingError(f"{folder / 'go.mod'}: expected it to require {module}")
    return found[1]


def _needs_go(what: str) -> None:
    if shutil.which("go") is None:
        raise MissingError(
            f"{what} is not built yet, and Go is not on PATH: install Go (go.dev/dl), "
            f"or copy {cache_folder()} from a machine that has built it"
        )


def _go(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["go", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise MissingError(f"go {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout
