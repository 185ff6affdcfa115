import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('dashboard', '0011_file_defects'),
    ]

    operations = [
        migrations.AlterField(
            model_name='point',
            name='sweep',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='points', to='dashboard.sweep'),
        ),
        migrations.AlterField(
            model_name='rawrecord',
            name='artifact',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='records', to='dashboard.artifact'),
        ),
    ]
