"""Regressions as an Atom feed, newest first, narrowed as the list is."""

from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_URL, uuid5

from django.conf import settings
from django.contrib.syndication.views import Feed
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.views.decorators.http import require_safe

from dashboard.models import Regression
from dashboard.queries import regressions as queries
from dashboard.queries.regressions import RegressionFilters
from dashboard.views.regressions import filter_form
from dashboard.vocabulary.scenarios import scenario_label
from dashboard.vocabulary.texts import one_line

MOST_ENTRIES = 50
LONGEST_TITLE = 200
LONGEST_TEXT = 1000

# The class takes parameters in its stubs only.
if TYPE_CHECKING:
    BaseFeed = Feed[Any, RegressionFilters]
else:
    BaseFeed = Feed


class RegressionsFeed(BaseFeed):
    """The newest regressions. Ids name run, key, scenario and kind, not rows.

    So they stay the same when everything is ingested anew, and wherever the site is.
    """

    feed_type = Atom1Feed
    title = "Regressions"
    subtitle = "What got worse with official sweeps"
    author_name = "Frontierboard"

    def __init__(self, filters: RegressionFilters, query: str) -> None:
        self._filters = filters
        self._query = f"?{query}" if query else ""

    def get_object(self, request: HttpRequest) -> RegressionFilters:  # noqa: ARG002
        """Return what the feed is narrowed to."""
        return self._filters

    def link(self) -> str:
        """Return the address of the list."""
        return _address(reverse("regressions") + self._query)

    def feed_url(self) -> str:
        """Return the address of the feed, as readers reach it from outside."""
        return _address(reverse("regressions_feed") + self._query)

    def feed_guid(self) -> str:
        """Return an id that does not change with the site's address."""
        return _urn(f"regressions{self._query}")

    def items(self, filters: RegressionFilters) -> list[Regression]:
        """Return the newest regressions that the filters leave."""
        return queries.newest(MOST_ENTRIES, filters)

    def item_title(self, item: Regression) -> str:
        """Return key, kind and size in one line."""
        change = "" if item.change is None else f" {item.change * 100:+.1f} %"
        scenario = scenario_label(item.scenario)
        words = f"{item.config_key.key} {scenario}: {item.kind}{change}"
        return one_line(words, LONGEST_TITLE)

    def item_description(self, item: Regression) -> str:
        """Return the summary and what became of it, as plain text."""
        over = item.recovered_by
        state = f"State: {item.state}."
        if over is not None:
            state += f" Recovered by run {over.github_run_id}."
        return one_line(f"{item.summary}. {state}", LONGEST_TEXT)

    def item_link(self, item: Regression) -> str:
        """Return the address of its page."""
        return _address(item.get_absolute_url())

    def item_guid(self, item: Regression) -> str:
        """Return an id of what it is about."""
        key = (item.run.github_run_id, item.config_key.key, item.scenario, item.kind)
        return _urn("|".join(map(str, key)))

    def item_pubdate(self, item: Regression) -> datetime:
        """Return the official date of its run."""
        since: datetime = item.since  # type: ignore[attr-defined]  # annotated
        return since

    def item_updateddate(self, item: Regression) -> datetime:
        """Return when it was last changed, by data or by people."""
        return item.updated_at

    def item_categories(self, item: Regression) -> tuple[str, ...]:
        """Return kind and state."""
        return item.kind, item.state


@require_safe
def regressions_feed(request: HttpRequest) -> HttpResponse:
    form = filter_form(request.GET)
    if not form.is_valid():
        said = "\n".join(form.sentences)
        return HttpResponseBadRequest(said, content_type="text/plain; charset=utf-8")
    filters = RegressionFilters(**form.asked)
    return RegressionsFeed(filters, request.GET.urlencode())(request)


def _address(path: str) -> str:
    return f"{settings.FRONTIERBOARD_URL}{path}"


def _urn(text: str) -> str:
    return uuid5(NAMESPACE_URL, f"frontierboard:{text}").urn
