#!/usr/bin/env python
"""Django's command line; without DATABASE_URL it brings the data folder's Postgres."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

from launcher.by_hand import services_for
from launcher.errors import LaunchError


def main() -> None:
    """Run the command of the command line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
    try:
        with services_for(sys.argv):
            execute_from_command_line(sys.argv)
    except (ImproperlyConfigured, LaunchError) as error:
        sys.exit(f"frontierboard: {error}")


if __name__ == "__main__":
    main()
