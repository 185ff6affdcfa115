import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Drop an index of points that no query needs and every ingestion paid for."""

    dependencies = [("dashboard", "0026_sweep_labels")]

    operations = [
        migrations.AlterField(
            model_name="point",
            name="deployment",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="points",
                to="dashboard.deployment",
            ),
        ),
    ]
