"""The lesson that a sandbox came with, or that was written in it."""

import sandbox.models.fields
from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [("sandbox", "0021_what_ifs")]

    operations = [
        migrations.AddField(
            model_name="sandbox",
            name="script",
            field=sandbox.models.fields.JsonText(default=dict),
        ),
    ]
