"""Requests as a real API server answered them: Kubernetes 1.36.3 with Kueue.

Kueue 0.19.2, or 0.17.0 where nothing says that they answer differently.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.api.contract.playing import Story

RECORDS = sorted(Path(__file__).with_name("records").glob("*.json"))


@pytest.mark.parametrize("record", RECORDS, ids=[path.stem for path in RECORDS])
def test_a_recorded_request_is_answered_as_the_api_server_did(client, record):
    played = Story(client, json.loads(record.read_text())).play()
    wrong = {asked: (want, came) for asked, want, came in played if want != came}
    assert wrong == {}
