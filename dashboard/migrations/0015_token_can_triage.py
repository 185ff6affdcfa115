from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('dashboard', '0014_eval_floors_and_samples'),
    ]

    operations = [
        migrations.AddField(
            model_name='apitoken',
            name='can_triage',
            field=models.BooleanField(default=False, help_text='may also change regressions of its repository'),
        ),
    ]
