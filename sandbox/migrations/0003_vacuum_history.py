from typing import Any

from django.db import migrations

# PostgreSQL vacuums a table once a fifth of its rows is dead. Tables of history have
# millions of rows, so that dead ones would take gigabytes before that.
OPTIONS = (
    "autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05"
)
TABLES = ("revision", "event", "diff", "sample", "checkpoint")


def set_options(_apps: Any, editor: Any) -> None:
    if editor.connection.vendor == "postgresql":
        for table in TABLES:
            editor.execute(f"ALTER TABLE sandbox_{table} SET ({OPTIONS})")


class Migration(migrations.Migration):
    dependencies = [("sandbox", "0002_what_if_replaced")]
    operations = [migrations.RunPython(set_options, migrations.RunPython.noop)]
