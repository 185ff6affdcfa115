"""Spellings of checkpoints get rows of their own, each with its reason."""

import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
from django.db import migrations, models

REASON = "from the former list of spellings"
AUTHOR = "not recorded"
LONGEST = 300
# What configs of the past wrote, and what the vocabulary says since.
BUILT_IN = {
    "deepseek-r1-fp4": "nvidia/DeepSeek-R1-0528-NVFP4-v2",
    "/mnt/lustre01/models/deepseek-r1-0528-fp4-v2": "nvidia/DeepSeek-R1-0528-NVFP4-v2",
    "/mnt/lustre01/models/deepseek-r1-0528": "deepseek-ai/DeepSeek-R1-0528",
}


def store_spellings(apps, schema_editor):  # noqa: ARG001  # Django's signature
    """Of a spelling that several checkpoints list, the one made last counted."""
    checkpoints = apps.get_model("dashboard", "Checkpoint").objects.order_by("pk")
    listed = {
        str(spelling).strip().casefold(): (str(spelling).strip(), checkpoint)
        for checkpoint in checkpoints
        for spelling in checkpoint.aliases
    }
    alias = apps.get_model("dashboard", "CheckpointAlias")
    alias.objects.bulk_create(
        alias(spelling=text, checkpoint=checkpoint, reason=REASON, author=AUTHOR)
        for text, checkpoint in listed.values()
        if text and len(text) <= LONGEST
    )
    for spelling, name in BUILT_IN.items():
        if spelling not in listed:
            rename(apps, checkpoints.filter(name__iexact=spelling).first(), name)


def rename(apps, former, name):
    """Let what was stored under a spelling follow the name that it means."""
    if former is None:
        return
    checkpoints = apps.get_model("dashboard", "Checkpoint").objects
    meant = checkpoints.filter(name__iexact=name).first()
    meant = meant or checkpoints.create(name=name)
    for model in ("Sweep", "ConfigDefinition"):
        rows = apps.get_model("dashboard", model).objects
        rows.filter(checkpoint=former).update(checkpoint=meant)


def list_spellings(apps, schema_editor):  # noqa: ARG001  # Django's signature
    for checkpoint in apps.get_model("dashboard", "Checkpoint").objects.all():
        spellings = checkpoint.spellings.values_list("spelling", flat=True)
        checkpoint.aliases = list(spellings)
        checkpoint.save()


class Migration(migrations.Migration):

    dependencies = [
        ('dashboard', '0009_history_and_triage'),
    ]

    operations = [
        migrations.CreateModel(
            name='CheckpointAlias',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('spelling', models.CharField(max_length=300)),
                ('reason', models.TextField(help_text='how it is known that the weights are the same')),
                ('author', models.TextField(editable=False)),
                ('made_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('checkpoint', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='spellings', to='dashboard.checkpoint')),
            ],
            options={
                'verbose_name_plural': 'checkpoint aliases',
                'constraints': [
                    models.UniqueConstraint(django.db.models.functions.text.Lower('spelling'), name='checkpoint_alias_unique'),
                    models.CheckConstraint(condition=models.Q(('spelling', ''), _negated=True), name='checkpoint_alias_has_spelling'),
                    models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='checkpoint_alias_has_reason'),
                    models.CheckConstraint(condition=models.Q(('author', ''), _negated=True), name='checkpoint_alias_has_author'),
                ],
            },
        ),
        migrations.RunPython(store_spellings, list_spellings),
        # Tables with checks still to come cannot be altered.
        migrations.RunSQL("SET CONSTRAINTS ALL IMMEDIATE", "SET CONSTRAINTS ALL IMMEDIATE"),
        migrations.RemoveConstraint(
            model_name='checkpoint',
            name='checkpoint_aliases_are_a_list',
        ),
        migrations.RemoveField(
            model_name='checkpoint',
            name='aliases',
        ),
    ]
