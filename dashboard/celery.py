"""The Celery application; tasks are found in the installed apps."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")

app = Celery("frontierboard")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
