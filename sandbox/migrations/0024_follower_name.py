"""What a follower of a lesson calls themselves, if they do."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("sandbox", "0023_notes")]

    operations = [
        migrations.AddField(
            model_name="follower",
            name="name",
            field=models.CharField(blank=True, default="", max_length=40),
        ),
    ]
