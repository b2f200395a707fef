"""What an object's documents say is no longer repeated in columns: nothing read them."""

from django.db import migrations, models

COLUMNS = {
    "clusterqueue": ("cohort",),
    "cohort": ("parent",),
    "job": ("queue",),
    "localqueue": ("cluster_queue",),
    "node": ("unschedulable",),
    "pod": ("node", "phase", "priority"),
    "workload": ("queue", "cluster_queue", "phase", "priority", "reason"),
}


class Migration(migrations.Migration):

    dependencies = [("sandbox", "0024_follower_name")]

    operations = [
        # So that rows that are there can have the columns again, empty.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name=table,
                    name="phase",
                    field=models.CharField(default="", max_length=12),
                )
                for table in ("pod", "workload")
            ]
        ),
        migrations.RemoveIndex(
            model_name="workload", name="sandbox_wor_sandbox_7891e4_idx"
        ),
        *(
            migrations.RemoveField(model_name=table, name=column)
            for table, columns in COLUMNS.items()
            for column in columns
        ),
    ]
