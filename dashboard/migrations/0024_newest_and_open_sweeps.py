from django.db import migrations, models


class Migration(migrations.Migration):
    """Let the first page find the newest and the open sweeps without a full scan."""

    dependencies = [("dashboard", "0023_forgotten_bytes")]

    operations = [
        migrations.AddIndex(
            model_name="sweep",
            index=models.Index(
                fields=["-official_at", "-id"],
                condition=models.Q(state__isnull=False),
                name="sweep_newest",
            ),
        ),
        migrations.AddIndex(
            model_name="sweep",
            index=models.Index(
                fields=["-official_at", "-id"],
                condition=models.Q(state="held")
                | models.Q(
                    state="current", received_count__lt=models.F("planned_count")
                ),
                name="sweep_open",
            ),
        ),
    ]
