from django.db import migrations, models

import dashboard.models.points


class Migration(migrations.Migration):
    """Let thousands of sweeps be grouped by the deployments that they measured.

    The table of sweeps is written anew under a lock; it is a small one.
    """

    dependencies = [("dashboard", "0025_point_metrics_array")]

    operations = [
        migrations.AddField(
            model_name="sweep",
            name="labels",
            field=models.GeneratedField(
                db_persist=True,
                expression=dashboard.models.points.GridLabels("grid"),
                output_field=models.TextField(),
            ),
        ),
    ]
