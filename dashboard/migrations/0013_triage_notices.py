"""Members of the triage group write notices and triage regressions."""

from django.apps import apps as installed
from django.contrib.auth.management import create_permissions
from django.db import migrations

GROUP = "triage"
GRANTED = (
    *("view_notice", "add_notice", "change_notice", "delete_notice"),
    *("view_regression", "change_regression", "view_judgement", "view_noise"),
)


def grant(apps, schema_editor):  # noqa: ARG001  # Django's signature
    create_permissions(installed.get_app_config("dashboard"), verbosity=0)
    permissions = apps.get_model("auth", "Permission").objects.filter(
        content_type__app_label="dashboard", codename__in=GRANTED
    )
    group, _ = apps.get_model("auth", "Group").objects.get_or_create(name=GROUP)
    group.permissions.add(*permissions)


class Migration(migrations.Migration):
    dependencies = [("dashboard", "0012_foreign_keys_without_own_index")]

    # Nobody is taken a permission when the migration is undone.
    operations = [migrations.RunPython(grant, migrations.RunPython.noop)]
