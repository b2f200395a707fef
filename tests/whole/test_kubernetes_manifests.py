"""docs/deploy/kubernetes.yaml starts what docker-compose.yml starts, and is taken as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.api.conftest import client, make, person  # noqa: F401 - fixtures
from tests.whole.test_compose import SECRETS, services

FILE = Path(__file__).resolve().parents[2] / "docs" / "deploy" / "kubernetes.yaml"
#: Given by the Secret, or put together of it in the manifests.
SECRET = {"SECRET_KEY", "POSTGRES_PASSWORD", "DATABASE_URL"}


def documents() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(FILE.read_text()))


def container(name: str) -> dict[str, Any]:
    """Return the one container of a component."""
    (found,) = (
        each
        for one in documents()
        if one["kind"] in ("Deployment", "StatefulSet", "Job")
        for each in one["spec"]["template"]["spec"]["containers"]
        if each["name"] == name
    )
    return found


@pytest.mark.parametrize("name", ["web", "worker", "clock", "migrate"])
def test_a_component_runs_the_command_of_the_compose_file(name):
    ours, theirs = container(name), services(SECRETS)[name]
    assert ours["command"] == theirs["command"]


@pytest.mark.parametrize("name", ["web", "worker", "clock", "migrate"])
def test_a_component_is_given_every_setting_of_the_compose_file(name):
    (config,) = (one for one in documents() if one["kind"] == "ConfigMap")
    given = {one["name"] for one in container(name)["env"]} | set(config["data"])
    wanted = set(services(SECRETS)[name]["environment"]) - {"QUOTALAB_EXTENDERS"}
    assert wanted <= given
    assert {one["name"] for one in container(name)["env"]} >= SECRET


@pytest.mark.parametrize(("name", "word"), [("redis", "args"), ("postgres", "image")])
def test_a_service_is_that_of_the_compose_file(name, word):
    theirs = services(SECRETS)[name]
    assert container(name)["image"] == theirs["image"]
    if word == "args":
        assert container(name)["args"] == theirs["command"]


def test_nothing_of_it_may_read_the_cluster_or_run_as_root():
    pods = [
        one["spec"]["template"]["spec"]
        for one in documents()
        if "template" in one.get("spec", {})
    ]
    assert {one["automountServiceAccountToken"] for one in pods} == {False}
    ours = [one for one in pods if "quotalab:" in one["containers"][0]["image"]]
    assert len(ours) == 4
    assert all(one["securityContext"]["runAsNonRoot"] for one in ours)


@pytest.mark.django_db
def test_a_control_plane_takes_every_document(client, make):  # noqa: F811 - fixtures
    sandbox = make()
    for one in documents():
        group, _, version = one["apiVersion"].rpartition("/")
        base = f"apis/{group}/{version}" if group else f"api/{version}"
        plural = {"Ingress": "ingresses"}.get(one["kind"], f"{one['kind'].lower()}s")
        path = f"{base}/namespaces/default/{plural}?dryRun=All&fieldValidation=Strict"
        answer = client.post(
            f"/api/v1/sandboxes/{sandbox.pk}/{path}", one, format="json"
        )
        assert answer.status_code == 201, answer.content
