"""Many people open one link of an unknown run at the same time."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections
from django.test import Client

from dashboard.models import IngestRequest

pytestmark = pytest.mark.django_db(transaction=True)


def opened(n: int) -> tuple[int, str]:
    try:
        path = ("/inference", "/evaluation")[n % 2]
        address = f"10.0.{n % 5}.{n}"
        answer = Client().get(f"{path}?unofficialRun=4711", REMOTE_ADDR=address)
        return answer.status_code, answer.content.decode()
    finally:
        connections.close_all()


def test_fifty_openings_ask_once_and_all_follow(settings):
    settings.FRONTIERBOARD_FETCHES_PER_HOUR = 3
    with ThreadPoolExecutor(25) as crowd:
        pages = list(crowd.map(opened, range(50)))
    assert IngestRequest.objects.count() == 1
    assert {status for status, _ in pages} == {200}
    assert all("queued" in page and "every 1s" in page for _, page in pages)
