import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('dashboard', '0020_price_editions'),
    ]

    operations = [
        migrations.CreateModel(
            name='RequestTrace',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('artifact_sha256', models.CharField(max_length=64)),
                ('member', models.TextField()),
                ('sha256', models.CharField(help_text='of the bytes that were read', max_length=64)),
                ('size_bytes', models.BigIntegerField()),
                ('version', models.PositiveSmallIntegerField(help_text='of the reading')),
                ('counts', models.JSONField()),
                ('distributions', models.JSONField()),
                ('requests', models.JSONField()),
                ('kept', models.PositiveIntegerField(help_text='requests that are stored one by one')),
                ('read_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.AlterField(
            model_name='ingestrequest',
            name='kind',
            field=models.CharField(choices=[('path', 'a bundle on disk'), ('run', 'a run by its id'), ('upload', 'an uploaded bundle'), ('replay', 'stored records again'), ('derive', 'sweeps and states again'), ('trace', 'the requests of a point')], max_length=10),
        ),
        migrations.AddConstraint(
            model_name='ingestrequest',
            constraint=models.UniqueConstraint(condition=models.Q(('kind', 'trace'), ('state__in', ['queued', 'running'])), fields=('target',), name='request_one_active_per_trace'),
        ),
        migrations.AddConstraint(
            model_name='requesttrace',
            constraint=models.UniqueConstraint(fields=('artifact_sha256', 'member'), name='request_trace_unique'),
        ),
    ]
