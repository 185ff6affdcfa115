from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('dashboard', '0017_eval_plans_and_sample_files'),
    ]

    operations = [
        migrations.AddField(
            model_name='regression',
            name='checks',
            field=models.JSONField(default=list, editable=False, help_text='ids of later sweeps that did not end it, oldest first'),
        ),
    ]
