"""Every address of the site."""

from django.contrib import admin
from django.contrib.auth import views as auth_views
from django.urls import URLPattern, URLResolver, path, re_path
from django.views.generic import RedirectView

from dashboard.api.application import api
from dashboard.api.published import unofficial_run
from dashboard.views import (
    changes,
    compare,
    corrections,
    eval_samples,
    evaluation,
    home,
    inference,
    keys,
    operations,
    regression,
    regressions,
    requests,
    run_skips,
    runs,
    search,
    triage,
    verdicts,
    webhooks,
)
from dashboard.views import help as help_views
from dashboard.views import key as key_views
from dashboard.views import regressions_feed as feed

urlpatterns: list[URLPattern | URLResolver] = [
    path("", home.home, name="home"),
    path("inference", inference.inference, name="inference"),
    path("inference.csv", inference.inference_csv, name="inference_csv"),
    path("inference.html", inference.inference_html, name="inference_html"),
    path("inference.json", inference.inference_json, name="inference_json"),
    path("evaluation", evaluation.evaluation, name="evaluation"),
    path("evaluation/samples/<int:pk>", eval_samples.eval_samples, name="eval_samples"),
    path("evaluation.csv", evaluation.evaluation_csv, name="evaluation_csv"),
    path("keys", keys.keys, name="keys"),
    path("keys.csv", keys.keys_csv, name="keys_csv"),
    # A key is opaque text: it may hold dots, slashes and ends of lines.
    re_path(
        r"^keys/(?P<key>[\s\S]*)/(?P<table>[a-z]+)\.csv\Z",
        key_views.key_csv,
        name="key_csv",
    ),
    re_path(r"^keys/(?P<key>[\s\S]*)\Z", key_views.key, name="key"),
    path("runs", runs.run_list, name="runs"),
    path("runs/<int:run_id>", runs.run, name="run"),
    path("runs/<int:run_id>/points.csv", runs.run_points_csv, name="run_points_csv"),
    path("runs/<int:run_id>/skips", run_skips.run_skips, name="run_skips"),
    path("runs/<int:run_id>/skips.csv", run_skips.run_skips_csv, name="run_skips_csv"),
    path(
        "runs/<int:run_id>/attempts/<int:attempt>",
        runs.run_attempt,
        name="run_attempt",
    ),
    path(
        "runs/<int:run_id>/corrections",
        corrections.run_corrections,
        name="run_corrections",
    ),
    path(
        "corrections/<int:pk>/undo",
        corrections.undo_correction,
        name="undo_correction",
    ),
    path(
        "runs/<int:run_id>/verdict.md",
        verdicts.verdict_markdown,
        name="verdict_markdown",
    ),
    path("regressions", regressions.regressions, name="regressions"),
    path("regressions.csv", regressions.regressions_csv, name="regressions_csv"),
    path("regressions.atom", feed.regressions_feed, name="regressions_feed"),
    path("regressions/triage", triage.triage_regressions, name="triage_regressions"),
    path("regressions/<int:pk>", regression.regression, name="regression"),
    path(
        "regressions/<int:pk>/triage",
        triage.triage_regression,
        name="triage_regression",
    ),
    path(
        "regressions/<int:pk>/points.csv",
        regression.regression_points,
        name="regression_points",
    ),
    path("compare", compare.compare, name="compare"),
    path("compare.csv", compare.compare_csv, name="compare_csv"),
    path("changes", changes.changes, name="changes"),
    path("changes.csv", changes.changes_csv, name="changes_csv"),
    path("requests", requests.ingest_requests, name="ingest_requests"),
    path("requests/<int:pk>", requests.ingest_request, name="ingest_request"),
    path("help", help_views.help_page, name="help"),
    path("search", search.search, name="search"),
    path("api/docs", RedirectView.as_view(pattern_name="api:openapi-view")),
    path("api/v1/", RedirectView.as_view(pattern_name="api:openapi-view")),
    path("api/v1/", api.urls),
    path("api/unofficial-run", unofficial_run, name="unofficial_run"),
    path("webhooks/github", webhooks.github, name="github_webhook"),
    path("healthz", operations.healthz, name="healthz"),
    path("readyz", operations.readyz, name="readyz"),
    path(
        "login", auth_views.LoginView.as_view(template_name="login.html"), name="login"
    ),
    path("logout", auth_views.LogoutView.as_view(), name="logout"),
    path("admin", RedirectView.as_view(url="/admin/")),
    path("admin/", admin.site.urls),
]
