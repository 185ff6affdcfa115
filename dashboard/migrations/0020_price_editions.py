"""The two published editions of prices and power, as rows that staff may add to.

A row that is there already is left alone, so it can be run again.
"""

from datetime import date

from django.db import migrations

AUTHOR = "published edition"
SOURCE = "GPU registry of the official dashboard, edition {}"

# USD per GPU and hour (hyperscaler, neocloud, rental), then all-in kW per GPU.
EDITIONS = {
    date(2026, 4, 1): {
        "h100": (1.30, 1.69, 1.30, 1.73),
        "h200": (1.41, 1.74, 1.60, 1.73),
        "b200": (1.95, 2.34, 2.90, 2.17),
        "b300": (2.34, 2.808, 3.48, 2.17),
        "gb200": (2.21, 2.75, 3.30, 2.10),
        "gb300": (2.652, 3.30, 3.96, 2.10),
        "mi300x": (1.12, 1.40, 1.55, 1.79),
        "mi325x": (1.28, 1.59, 1.80, 2.18),
        "mi355x": (1.48, 1.90, 2.10, 2.65),
    },
    date(2026, 8, 1): {
        "h100": (1.17, 1.55, 1.78, 1.37),
        "h200": (1.22, 1.59, 2.05, 1.37),
        "b200": (1.73, 2.07, 2.60, 1.71),
        "b300": (2.26, 2.52, 3.00, 1.90),
        "gb200": (1.86, 2.26, 2.60, 1.87),
        "gb300": (2.31, 2.79, 3.30, 2.12),
        "mi300x": (0.95, 1.16, 1.30, 1.39),
        "mi325x": (1.10, 1.32, 1.60, 1.69),
        "mi355x": (1.50, 2.09, 2.10, 2.09),
        "rtx6000pro": (0.68, 0.75, 0.52, 0.975),
        "rtx5090": (9.99, 0.57, 0.60, 9.99),
    },
}
COLUMNS = ("hyperscaler", "neocloud", "rental", "power_kw")
# What was published only to hold a place, and what was said to be temporary.
PLACEHOLDERS = {(date(2026, 8, 1), "rtx5090"): ["hyperscaler", "power_kw"]}
NOTES = {
    (date(2026, 4, 1), "b300"): "temporary prices, 1.2 times those of B200",
    (date(2026, 4, 1), "gb300"): "temporary prices, 1.2 times those of GB200",
}


def load_editions(apps, schema_editor):  # noqa: ARG001  # Django's signature
    model = apps.get_model("dashboard", "HardwarePrice")
    for day, rows in EDITIONS.items():
        for hardware, values in rows.items():
            model.objects.get_or_create(
                hardware=hardware,
                valid_from=day,
                defaults={
                    **dict(zip(COLUMNS, values, strict=True)),
                    "placeholders": PLACEHOLDERS.get((day, hardware), []),
                    "note": NOTES.get((day, hardware), ""),
                    "source": SOURCE.format(f"{day:%Y-%m}"),
                    "author": AUTHOR,
                },
            )


class Migration(migrations.Migration):
    dependencies = [("dashboard", "0019_hardware_prices")]

    operations = [migrations.RunPython(load_editions, migrations.RunPython.noop)]
