from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("sandbox", "0002_embed_links"),
    ]

    operations = [
        migrations.AddField(
            model_name="forecastpart",
            name="tries",
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="question",
            name="tries",
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="run",
            name="tries",
            field=models.PositiveSmallIntegerField(default=0),
        ),
    ]
