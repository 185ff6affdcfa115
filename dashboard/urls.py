"""Every address of the site."""

from django.contrib import admin
from django.contrib.auth import views as auth_views
from django.urls import URLPattern, URLResolver, path, re_path, register_converter
from django.views.generic import RedirectView

from dashboard.api.application import api
from dashboard.api.published import unofficial_run
from dashboard.kept import kept
from dashboard.queries.requests import shown_requests
from dashboard.views import (
    calculator,
    changes,
    compare,
    corrections,
    eval_samples,
    evaluation,
    home,
    inference,
    keys,
    metrics,
    operations,
    point,
    regression,
    regressions,
    reliability,
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
from dashboard.views.tables import EndingConverter

register_converter(EndingConverter, "ending")

urlpatterns: list[URLPattern | URLResolver] = [
    path("", kept(shown_requests)(home.home), name="home"),
    path("sweeps.<ending:ending>", home.sweeps_file, name="sweeps_file"),
    path("sweeps/open.<ending:ending>", home.open_sweeps_file, name="open_sweeps_file"),
    path("inference", kept()(inference.inference), name="inference"),
    path("inference.csv", inference.inference_points, {"ending": "csv"}),
    path(
        "inference/points.<ending:ending>",
        inference.inference_points,
        name="inference_points",
    ),
    path("inference.html", inference.inference_html, name="inference_html"),
    path("inference.json", inference.inference_json, name="inference_json"),
    path("evaluation", kept()(evaluation.evaluation), name="evaluation"),
    path("evaluation/samples/<int:pk>", eval_samples.eval_samples, name="eval_samples"),
    path(
        "evaluation/samples/<int:pk>.<ending:ending>",
        eval_samples.eval_samples_file,
        name="eval_samples_file",
    ),
    path(
        "evaluation.<ending:ending>", evaluation.evaluation_file, name="evaluation_file"
    ),
    path("keys", kept()(keys.keys), name="keys"),
    path("calculator", kept()(calculator.calculator), name="calculator"),
    path(
        "calculator.<ending:ending>",
        calculator.calculator_file,
        name="calculator_file",
    ),
    path("keys.<ending:ending>", keys.keys_file, name="keys_file"),
    # A key is opaque text: it may hold dots, slashes and ends of lines.
    re_path(
        r"^keys/(?P<key>[\s\S]*)/(?P<table>[a-z]+)\.(?P<ending>csv|json|md)\Z",
        key_views.key_file,
        name="key_file",
    ),
    re_path(r"^keys/(?P<key>[\s\S]*)\Z", kept()(key_views.key), name="key"),
    path("runs", runs.run_list, name="runs"),
    path("runs.<ending:ending>", runs.runs_file, name="runs_file"),
    path("runs/<int:run_id>", runs.run, name="run"),
    path("runs/<int:run_id>/skips", run_skips.run_skips, name="run_skips"),
    path(
        "runs/<int:run_id>/skips.<ending:ending>",
        run_skips.run_skips_file,
        name="run_skips_file",
    ),
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
    path(
        "runs/<int:run_id>/<slug:table>.<ending:ending>",
        runs.run_file,
        name="run_file",
    ),
    path(
        "runs/<int:run_id>/attempts/<int:attempt>/<slug:table>.<ending:ending>",
        runs.run_file,
        name="run_attempt_file",
    ),
    path("points", point.point_at, name="point_at"),
    path("points/<int:pk>", point.point, name="point"),
    path("points/<int:pk>/record.json", point.point_record, name="point_record"),
    path(
        "points/<int:pk>/metrics.<ending:ending>",
        point.point_metrics_file,
        name="point_metrics_file",
    ),
    path(
        "points/<int:pk>/history.<ending:ending>",
        point.point_history_file,
        name="point_history_file",
    ),
    path(
        "points/<int:pk>/requests.<ending:ending>",
        point.point_requests_file,
        name="point_requests_file",
    ),
    path("points/<int:pk>/requests", point.point_requests, name="point_requests"),
    path("regressions", kept()(regressions.regressions), name="regressions"),
    path(
        "regressions.<ending:ending>",
        regressions.regressions_file,
        name="regressions_file",
    ),
    path("regressions.atom", feed.regressions_feed, name="regressions_feed"),
    path("regressions/triage", triage.triage_regressions, name="triage_regressions"),
    path("regressions/<int:pk>", regression.regression, name="regression"),
    path(
        "regressions/<int:pk>/triage",
        triage.triage_regression,
        name="triage_regression",
    ),
    path(
        "regressions/<int:pk>/points.<ending:ending>",
        regression.regression_points,
        name="regression_points",
    ),
    path("compare", compare.compare, name="compare"),
    path("compare.<ending:ending>", compare.compare_file, name="compare_file"),
    path(
        "compare/<slug:table>.<ending:ending>",
        compare.compare_file,
        name="compare_table_file",
    ),
    path("changes", kept()(changes.changes), name="changes"),
    path("changes.<ending:ending>", changes.changes_file, name="changes_file"),
    path("reliability", kept()(reliability.reliability), name="reliability"),
    path(
        "reliability.<ending:ending>",
        reliability.reliability_file,
        name="reliability_file",
    ),
    path(
        "reliability/trend.<ending:ending>",
        reliability.reliability_trend_file,
        name="reliability_trend_file",
    ),
    path(
        "reliability/run-stats.<ending:ending>",
        reliability.reliability_stats_file,
        name="reliability_stats_file",
    ),
    path(
        "reliability/runs.<ending:ending>",
        reliability.reliability_runs_file,
        name="reliability_runs_file",
    ),
    path("requests", requests.ingest_requests, name="ingest_requests"),
    path(
        "requests.<ending:ending>",
        requests.ingest_requests_file,
        name="ingest_requests_file",
    ),
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
    path("metrics", metrics.metrics, name="metrics"),
    path(
        "login", auth_views.LoginView.as_view(template_name="login.html"), name="login"
    ),
    path("logout", auth_views.LogoutView.as_view(), name="logout"),
    path("admin", RedirectView.as_view(url="/admin/")),
    path("admin/", admin.site.urls),
]
