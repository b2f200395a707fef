"""What a rewind, an undo or a redo goes on from; whether an edit was undone follows of it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("sandbox", "0015_job_owners")]

    operations = [
        migrations.AddField("revision", "base", models.BigIntegerField(null=True)),
        migrations.AddField("revision", "origin", models.BigIntegerField(null=True)),
        migrations.RemoveField("revision", "undone"),
    ]
