"""Changes that are made in files, and those that a file cannot take."""

from __future__ import annotations

from scheduler.input.manifests.file_changes import LeftOut, Steps, patch_files

CONFIG = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: kueue-manager-config, namespace: kueue-system}
data:
  controller_manager_config.yaml: |
    apiVersion: config.kueue.x-k8s.io/v1beta2
    kind: Configuration
    manageJobsWithoutQueueName: &no false
    waitForPodsReady: {blockAdmission: *no}
"""


def test_an_alias_within_a_config_map_is_named_as_not_written():
    before, after = (
        {"kueue": {"waitForPodsReady": {"blockAdmission": on}}} for on in (False, True)
    )
    steps = Steps(objects={}, policy=(before, after))
    found = patch_files([("config.yaml", CONFIG)], steps)
    section = LeftOut(kind="Policy", namespace="", name="kueue", why="unwritable")
    assert (found.diff, found.left) == ("", [section])
