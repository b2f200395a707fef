"""Screens with the presenter's notes, which are not counted with a class."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("sandbox", "0022_script")]

    operations = [
        migrations.AddField(
            model_name="follower",
            name="notes",
            field=models.BooleanField(default=False),
        ),
    ]
