"""Searches that ended without an answer have failed; they said done before."""

from typing import Any

from django.db import migrations


def say_failed(apps: Any, schema_editor: Any) -> None:
    experiments = apps.get_model("sandbox", "Experiment").objects
    ended = experiments.filter(state="done").values_list("pk", "answer")
    failed = [pk for pk, answer in ended.iterator() if "error" in answer]
    experiments.filter(pk__in=failed).update(state="failed")


class Migration(migrations.Migration):
    dependencies = [("sandbox", "0013_forecasts")]

    operations = [migrations.RunPython(say_failed, migrations.RunPython.noop)]
