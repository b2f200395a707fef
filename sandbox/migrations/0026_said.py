"""Events and revisions keep their sentences with code and holes; what is stored is read once."""

from typing import Any

import msgspec
from django.db import migrations

import sandbox.models.fields
from sandbox.retention.older_words import REASON, TYPES, read_event

_BATCH = 1000


def read_texts(apps: Any, schema_editor: Any) -> None:
    """Read the English of what an older version stored, batch by batch."""
    database = schema_editor.connection.alias
    events = apps.get_model("sandbox", "Event").objects.using(database)
    ours = events.filter(type__in=TYPES) | events.filter(reason=REASON)
    _read(events, ours, "message")
    revisions = apps.get_model("sandbox", "Revision").objects.using(database)
    _read(revisions, revisions.exclude(summary=""), "summary")


def _read(rows: Any, which: Any, text: str) -> None:
    last = 0
    while batch := list(which.filter(pk__gt=last).order_by("pk").only(text)[:_BATCH]):
        last = batch[-1].pk
        read = []
        for row in batch:
            said = read_event(getattr(row, text))
            if said is not None:
                row.said = msgspec.to_builtins(said)
                read.append(row)
        rows.bulk_update(read, ["said"], batch_size=200)


class Migration(migrations.Migration):

    dependencies = [("sandbox", "0025_documents_alone")]

    operations = [
        migrations.AddField(
            model_name="event",
            name="said",
            field=sandbox.models.fields.JsonText(null=True),
        ),
        migrations.AddField(
            model_name="revision",
            name="said",
            field=sandbox.models.fields.JsonText(null=True),
        ),
        migrations.RunPython(read_texts, migrations.RunPython.noop),
    ]
