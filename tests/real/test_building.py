"""What the control plane is built of: pinned, kept by go.sum, said when it is missing."""

from __future__ import annotations

import pytest
from cryptography import x509

from tests.real import building, certificates


def test_without_go_it_says_what_is_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(building.MissingError, match="Go is not on PATH: install Go"):
        building.programs()


def test_another_release_of_kueue_is_named_with_its_manifests(tmp_path):
    with pytest.raises(building.MissingError, match="--kueue and --manifests together"):
        building.programs(kueue=tmp_path)


def test_an_integration_without_a_definition_is_named_with_those_that_have_one():
    with pytest.raises(building.MissingError, match="integration x: expected one of"):
        building.definition_of("x")


@pytest.mark.parametrize("module", [building.HERE, building.HERE / "kueue"])
def test_what_is_built_is_kept_by_the_hash_of_go_sum(module, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    kept = building._kept_in(module)
    assert kept.parent == tmp_path / "quotalab-real"
    other = tmp_path / module.name
    other.mkdir()
    (other / "go.sum").write_text((module / "go.sum").read_text() + "\n")
    assert building._kept_in(other) != kept


def test_kubernetes_and_its_staging_modules_are_of_one_release():
    _, minor, patch = building._version("k8s.io/kubernetes", building.HERE).split(".")
    text = (building.HERE / "go.mod").read_text()
    replaced = [line.split()[-1] for line in text.splitlines() if "=> k8s.io/" in line]
    assert set(replaced) == {f"v0.{minor}.{patch}"}


def test_certificates_of_the_servers_are_for_loopback(tmp_path):
    certificates.make(tmp_path)
    authority = x509.load_pem_x509_certificate((tmp_path / "ca.crt").read_bytes())
    for name in ("api.crt", "kueue/tls.crt"):
        made = x509.load_pem_x509_certificate((tmp_path / name).read_bytes())
        made.verify_directly_issued_by(authority)
        names = made.extensions.get_extension_for_class(x509.SubjectAlternativeName)
        found = names.value.get_values_for_type(x509.IPAddress)
        assert [str(one) for one in found] == ["127.0.0.1"]
