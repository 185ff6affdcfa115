"""The group whose members may correct: they see every table and add corrections.

Permissions are made after all migrations, so those that the group needs are made here.
"""

from django.apps import apps as installed
from django.contrib.auth.management import create_permissions
from django.db import migrations

GROUP = "triage"


def make_group(apps, schema_editor):  # noqa: ARG001  # Django's signature
    create_permissions(installed.get_app_config("dashboard"), verbosity=0)
    permissions = apps.get_model("auth", "Permission").objects.filter(
        content_type__app_label="dashboard"
    )
    group, _ = apps.get_model("auth", "Group").objects.get_or_create(name=GROUP)
    group.permissions.add(*permissions.filter(codename__startswith="view_"))
    group.permissions.add(*permissions.filter(codename="add_correction"))


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("dashboard", "0003_artifact_expiry"),
    ]

    # Nobody is taken out of the group when the migration is undone.
    operations = [migrations.RunPython(make_group, migrations.RunPython.noop)]
