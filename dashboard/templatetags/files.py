"""Links from a table to its files: CSV, JSON, and Markdown that a script copies."""

from typing import Any

from django import template
from django.template import RequestContext
from django.urls import reverse

register = template.Library()


@register.inclusion_tag("_table_files.html", takes_context=True)
def table_files(
    context: RequestContext, view: str, of: str, **places: object
) -> dict[str, Any]:
    """Link the files of a table, under the query of the page without its page number.

    ``view`` is the name of an address that ends in ``<ending:ending>``, ``places`` its
    other parts. ``of`` says what is in them for readers who hear links out of their
    place, such as "the points". ``follows=True`` lets the links follow what a script
    changes about the address; ``query=`` gives another query.
    """
    follows = places.pop("follows", False)
    query = str(places.pop("query", _query(context)))
    addresses = {
        ending: reverse(view, kwargs={**places, "ending": ending})
        + (f"?{query}" if query else "")
        for ending in ("csv", "json", "md")
    }
    return {**addresses, "of": of, "follows": follows}


@register.inclusion_tag("_table_files.html", takes_context=True)
def run_files(context: RequestContext, table: str, of: str) -> dict[str, Any]:
    """Link the files of a table of a run's page, of its attempt where it shows one."""
    report = context["report"]
    places: dict[str, object] = {"run_id": report.run.github_run_id, "table": table}
    if report.attempt is None:
        return table_files(context, "run_file", of, **places, query="")
    places["attempt"] = report.attempt
    return table_files(context, "run_attempt_file", of, **places, query="")


def _query(context: RequestContext) -> str:
    query = context["request"].GET.copy()
    query.pop("page", None)
    return str(query.urlencode())
