"""Aliases of a checkpoint are a list; a lone name becomes one, the rest is dropped."""

from django.db import migrations, models
from django.db.models.lookups import Exact

MEND = """
UPDATE dashboard_checkpoint
SET aliases = CASE jsonb_typeof(aliases)
    WHEN 'string' THEN jsonb_build_array(aliases) ELSE '[]'::jsonb END
WHERE jsonb_typeof(aliases) <> 'array'
"""


class Migration(migrations.Migration):
    dependencies = [
        ("dashboard", "0006_eval_planned_count"),
    ]

    operations = [
        migrations.RunSQL(MEND, migrations.RunSQL.noop),
        migrations.AlterField(
            model_name="checkpoint",
            name="aliases",
            field=models.JSONField(blank=True, default=list),
        ),
        migrations.AddConstraint(
            model_name="checkpoint",
            constraint=models.CheckConstraint(
                condition=Exact(
                    models.Func(
                        "aliases",
                        function="jsonb_typeof",
                        output_field=models.TextField(),
                    ),
                    "array",
                ),
                name="checkpoint_aliases_are_a_list",
            ),
        ),
    ]
