"""The values that schedulers store with an object are its `state`, no longer `memory`."""

from django.db import migrations

TABLES = (
    'clusterqueue',
    'cohort',
    'job',
    'localqueue',
    'node',
    'otherobject',
    'pod',
    'priorityclass',
    'resourceflavor',
    'workload',
    'workloadpriorityclass',
)


class Migration(migrations.Migration):

    dependencies = [
        ('sandbox', '0006_retention'),
    ]

    operations = [
        migrations.RenameField(model_name=table, old_name='memory', new_name='state')
        for table in TABLES
    ]
