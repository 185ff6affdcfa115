"""Every table as CSV, JSON and Markdown: rows of the page, inert, units, sources."""

# mypy: allow-untyped-calls

import csv
import io
import json
import re
from datetime import UTC, datetime

import pytest
from django.http import HttpRequest, StreamingHttpResponse
from django.test import RequestFactory

from dashboard.views.tables import Ending, Table, csv_cell, safe_name, table_answer
from tests import factories
from tests.pages.builders import story
from tests.pages.key_builders import KEY, add_sweep, derive, two_swaps
from tests.verdict_builders import official

FORMULAS = [*"=+-@\t\r\n", *"\uff1d\uff0b\uff0d\uff20"]


def asked(method="get", path="/things.csv?q=a") -> HttpRequest:
    request: HttpRequest = getattr(RequestFactory(), method)(path)
    return request


def written(table: Table, ending: Ending) -> str:
    answer = table_answer(asked(path=f"/things.{ending}?q=a"), table, ending)
    return str(answer.getvalue().decode())


@pytest.mark.django_db
class TestTable:
    """The one place in which tables become files."""

    def table(self, rows, **changes):
        return Table("things", ("name", "ttft_s", "n"), rows, **changes)

    def test_missing_is_an_empty_cell_and_zero_is_zero(self):
        rows = [("a", None, 0), ("b", float("nan"), 3), ("c", 0.0, None)]
        text = written(self.table(rows), Ending.CSV)
        assert text.splitlines() == [
            "name,ttft_s,n,generation",
            "a,,0,0",
            "b,,3,0",
            "c,0.0,,0",
        ]
        told = json.loads(written(self.table(rows), Ending.JSON))
        assert [row["ttft_s"] for row in told["rows"]] == [None, None, 0.0]
        lines = written(self.table(rows), Ending.MARKDOWN).splitlines()
        assert lines[2:5] == ["| a |  | 0 |", "| b |  | 3 |", "| c | 0 |  |"]

    def test_numbers_keep_their_precision_and_stay_numbers(self):
        rows = [("a", 0.12345678901234566, -5)]
        assert "a,0.12345678901234566,-5," in written(self.table(rows), Ending.CSV)
        (row,) = json.loads(written(self.table(rows), Ending.JSON))["rows"]
        assert (row["ttft_s"], row["n"]) == (0.12345678901234566, -5)

    @pytest.mark.parametrize("start", FORMULAS)
    def test_no_spreadsheet_runs_a_text(self, start):
        assert str(csv_cell(f"{start}1+1")).startswith("'")
        assert csv_cell([f"{start}1+1", "b"]) == csv_cell(f"{start}1+1; b")
        text = written(self.table([(f"{start}HYPERLINK()", 1.0, 1)]), Ending.CSV)
        assert text.splitlines()[1].startswith("'")

    def test_a_negative_number_is_no_formula_and_json_holds_the_text_as_it_is(self):
        assert csv_cell(-0.09) == -0.09
        (row,) = json.loads(written(self.table([("=1", 1.0, 1)]), Ending.JSON))["rows"]
        assert row["name"] == "=1"

    def test_headers_are_held_against_formulas_too(self):
        table = Table("things", ("=cmd()",), [(1,)])
        assert written(table, Ending.CSV).startswith("'=cmd(),")

    def test_markdown_escapes_what_would_end_a_cell_or_link(self):
        text = written(self.table([("a|b\n<i>[x](y)", 1.0, 1)]), Ending.MARKDOWN)
        row = text.splitlines()[2]
        assert row == r"| a\|b \<i\>\[x\]\(y\) | 1 | 1 |"

    def test_markdown_puts_numbers_right_and_says_where_it_is_from(self):
        table = self.table(
            [("a", 1.5, 2)], about={"as_of": datetime(2026, 9, 1, tzinfo=UTC)}
        )
        lines = written(table, Ending.MARKDOWN).splitlines()
        assert lines[1] == "| --- | ---: | ---: |"
        assert lines[-1] == (
            "Source: <http://testserver/things?q=a>, generation 0, "
            "as of 2026-09-01T00:00:00+00:00"
        )

    def test_a_long_markdown_table_says_how_much_it_leaves_out(self):
        rows = [("a", 1.0, n) for n in range(503)]
        text = written(self.table(rows), Ending.MARKDOWN)
        assert "The first 500 rows; 3 more are in the CSV." in text

    def test_markdown_may_show_fewer_columns_and_the_others_never(self):
        table = self.table([("a", 1.0, 1)], brief=("name", "n"))
        assert written(table, Ending.MARKDOWN).startswith("| name | n |\n")
        assert written(table, Ending.CSV).startswith("name,ttft_s,n,generation")

    def test_times_are_utc_in_iso(self):
        at = datetime(2026, 9, 1, 12, tzinfo=UTC)
        assert csv_cell(at) == "2026-09-01T12:00:00+00:00"

    @pytest.mark.parametrize("ending", list(Ending))
    def test_what_is_read_late_is_streamed_in_parts(self, ending):
        read = []

        def rows():
            for n in range(30_000):
                read.append(n)
                yield ("a" * 20, 1.0, n)

        answer = table_answer(asked(), self.table(rows()), ending)
        assert isinstance(answer, StreamingHttpResponse)
        assert read == []
        parts = iter(answer)
        next(parts)
        if ending != Ending.MARKDOWN:
            assert 0 < len(read) < 30_000

    @pytest.mark.parametrize("ending", list(Ending))
    def test_head_tells_of_the_file_and_reads_no_row(self, ending):
        def rows():
            yield from ()
            pytest.fail("a row was read")

        answer = table_answer(asked("head"), self.table(rows()), ending)
        assert answer.getvalue() == b""
        assert f'filename="things.{ending}"' in answer["Content-Disposition"]

    @pytest.mark.parametrize(
        ("name", "safe"),
        [
            ('a"; x="b', "a___x__b"),
            ("a\r\nSet-Cookie: x", "a__Set-Cookie__x"),
            ("../../etc/passwd", "etc_passwd"),
            ("-rf", "rf"),
            ("\u202egpj.exe", "gpj.exe"),
            ("", "table"),
            ("a" * 500, "a" * 120),
        ],
    )
    def test_file_names_are_safe(self, name, safe):
        assert safe_name(name) == safe
        table = Table(name, ("n",), [(1,)])
        told = table_answer(asked(), table, Ending.CSV)["Content-Disposition"]
        assert told == f'attachment; filename="{safe}.csv"'


# The pages


def body(client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, path
    return str(answer.getvalue().decode())


def csv_rows(client, path: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(body(client, path))))


def stored_pages() -> dict[str, list[str]]:
    """Store something of each kind; return pages with the files of their tables."""
    story()
    base = official(1)
    head = official(2)
    run = base.run.github_run_id
    score = factories.EvalResultFactory(
        run=base.run, config_key=base.config_key, scenario=base.scenario
    )
    factories.EvalSampleFactory(eval=score)
    factories.SkipFactory(run=base.run)
    factories.JobFactory(run=base.run, conclusion="failure")
    factories.BenchmarkJobFactory(run=base.run, outcome="failed")
    factories.RunStatFactory(run=base.run)
    factories.ArtifactFactory(run=base.run)
    factories.ChangelogEntryFactory(run=base.run)
    factories.IngestRequestFactory()
    regression = factories.RegressionFactory()
    key = base.config_key.key
    pair = f"base={run}&head={head.run.github_run_id}"
    tables = ("points", "sweeps", "evals", "jobs", "flags", "artifacts", "changelog")
    return {
        "/": ["/sweeps", "/sweeps/open", "/runs"],
        "/inference": ["/inference/points"],
        "/evaluation": ["/evaluation"],
        f"/evaluation/samples/{score.pk}": [f"/evaluation/samples/{score.pk}"],
        "/keys": ["/keys"],
        f"/keys/{key}": [f"/keys/{key}/{n}" for n in ("points", "history", "grid")],
        "/runs": ["/runs"],
        f"/runs/{run}": [
            *(f"/runs/{run}/{n}" for n in tables if n not in {"flags", "skips"}),
            f"/runs/{run}/skips",
        ],
        f"/compare?{pair}": [f"/compare?{pair}", f"/compare/best?{pair}"],
        "/regressions": ["/regressions"],
        f"/regressions/{regression.pk}": [],
        "/changes": ["/changes"],
        "/requests": ["/requests"],
        "/reliability": [
            *("/reliability", "/reliability/trend", "/reliability/runs"),
            "/reliability/run-stats",
        ],
    }


def address(file: str, ending: str) -> str:
    path, _, query = file.partition("?")
    return f"{path}.{ending}" + (f"?{query}" if query else "")


@pytest.mark.django_db
def test_every_page_with_a_table_links_its_files_and_all_open(client):
    for page, files in stored_pages().items():
        text = client.get(page).content.decode().replace("&amp;", "&")
        for file in files:
            for ending in Ending:
                link = address(file, ending)
                assert f'href="{link}"' in text, (page, link)
                answer = client.get(link)
                assert answer.status_code == 200, link
                assert answer.getvalue(), link
                head = client.head(link)
                assert head.status_code == 200
                assert head["Content-Type"] == answer["Content-Type"]


@pytest.mark.django_db
def test_csv_json_and_columns_agree_on_every_page(client):
    for files in stored_pages().values():
        for file in files:
            told = json.loads(body(client, address(file, "json")))
            rows = csv_rows(client, address(file, "csv"))
            assert len(rows) == len(told["rows"]), file
            columns = [*told["columns"], "generation"]
            header = body(client, address(file, "csv")).splitlines()[0]
            assert next(csv.reader([header])) == columns
            for row in rows:
                assert row["generation"] == str(told["about"]["generation"])


# Where each row is from, as far as it applies.
SOURCES = {
    "run_id": r"run_id$",
    "repository": r"repository$",
    "config key": r"config_keys?$",
    "checkpoint": r"checkpoint$",
    "image": r"image$",
    "deployment": r"deployment$",
    "concurrency": r"concurrency$",
    "measured_at": r"measured_at$",
    "official_at": r"official_at$",
    "attempt": r"attempt$",
    "publication": r"(publication|state)$",
    "flags": r"flags$",
}


@pytest.mark.django_db
def test_files_of_points_say_where_each_point_is_from(client):
    two_swaps()
    run = add_sweep(9).run.github_run_id
    derive()
    for path in (
        "/inference/points.csv",
        f"/keys/{KEY}/points.csv",
        f"/runs/{run}/points.csv",
    ):
        rows = csv_rows(client, path)
        for what, pattern in SOURCES.items():
            (name, *_) = [n for n in rows[0] if re.search(pattern, n)]
            if what != "flags":
                assert rows[0][name], (path, what)


@pytest.mark.django_db
def test_units_stand_in_headers_and_a_point_without_a_value_has_an_empty_cell(client):
    """C07: seconds are said where seconds stand, what is absent is no zero."""
    sweep = factories.SweepFactory(official=True, state="current", received_count=1)
    metrics = {"median_ttft": 0.3, "median_intvty": 50.0, "tput_per_gpu": 3156.8}
    factories.PointFactory(sweep=sweep, metrics=metrics, p90_ttft=None, **metrics)
    for path in (
        "/inference/points.csv",
        f"/keys/{sweep.config_key.key}/points.csv",
        f"/runs/{sweep.run.github_run_id}/points.csv",
    ):
        (row,) = csv_rows(client, path)
        assert float(row["median_ttft_s"]) == 0.3, path
        assert row.get("p90_ttft_s", "") == "", path


@pytest.mark.django_db
def test_a_file_has_the_filters_and_the_order_of_its_page_on_all_its_pages(client):
    for n in range(60):
        factories.RunFactory(official=n % 2 == 0, received_count=n, branch=f"b{n}")
    rows = csv_rows(client, "/runs.csv?publication=official&sort=-points")
    assert len(rows) == 30
    counts = [int(row["received"]) for row in rows]
    assert counts == sorted(counts, reverse=True)
    page = client.get("/runs?publication=official&sort=-points").context["listed"]
    assert [row["run_id"] for row in rows[: len(page)]] == [
        str(run.github_run_id) for run, _ in page
    ]
    assert client.get("/runs.csv?publication=odd").status_code == 400


@pytest.mark.django_db
def test_a_run_list_takes_as_many_queries_for_any_number_of_runs(
    client, django_assert_max_num_queries
):
    counts = []
    for size in (1, 12):
        factories.RunFactory.create_batch(size)
        with django_assert_max_num_queries(6) as asked_for:
            body(client, "/runs.csv")
        counts.append(len(asked_for.captured_queries))
    assert counts[0] == counts[1]


@pytest.mark.django_db
def test_the_tables_of_an_attempt_hold_what_is_of_it(client):
    sweep = factories.SweepFactory(run__attempt=2)
    run = sweep.run
    for attempt in (1, 2):
        factories.RunAttemptFactory(run=run, attempt=attempt)
        factories.PointFactory(
            sweep=sweep, attempt=attempt, concurrency=4, is_current=attempt == 2
        )
    path = f"/runs/{run.github_run_id}"
    assert len(csv_rows(client, f"{path}/points.csv")) == 2
    (row,) = csv_rows(client, f"{path}/attempts/1/points.csv")
    assert row["attempt"] == "1"
    assert client.get(f"{path}/attempts/7/points.csv").status_code == 404
    assert client.get(f"{path}/secrets.csv").status_code == 404


# Permalinks


@pytest.mark.django_db
def test_the_permalink_of_inference_names_the_newest_official_run(client):
    sweeps = two_swaps()
    page = client.get("/inference")
    link = page.context["permalink"]
    # The newest sweep is held: it is on no frontier.
    run = sweeps[-2].run.github_run_id
    assert link.address.endswith(f"/inference?asof_run={run}")
    assert f"as of run {run}" in link.pinned
    before = csv_rows(client, "/inference/points.csv")
    add_sweep(90, scale=2.0)
    derive()
    query = link.address.partition("?")[2]
    same = csv_rows(client, f"/inference/points.csv?{query}")
    assert [r["run_id"] for r in same] == [r["run_id"] for r in before]
    now = csv_rows(client, "/inference/points.csv")
    assert [r["run_id"] for r in now] != [r["run_id"] for r in before]


@pytest.mark.django_db
def test_the_page_of_a_key_as_of_a_day_shows_what_was_current_then(
    client, time_machine
):
    sweeps = two_swaps()
    assert sweeps[-1].official_at
    day = sweeps[-1].official_at.date()
    time_machine.move_to(sweeps[-1].official_at)
    link = client.get(f"/keys/{KEY}").context["permalink"].address
    assert f"as_of={day}" in link
    before = csv_rows(client, f"/keys/{KEY}/history.csv")
    add_sweep(90, scale=2.0)
    derive()
    query = link.partition("?")[2]
    page = client.get(f"/keys/{KEY}?{query}")
    assert f"As of {day} (UTC)" in page.content.decode()
    shown = page.context["current"].sweep.run_id
    assert shown == sweeps[-2].run.github_run_id
    after = csv_rows(client, f"/keys/{KEY}/history.csv?{query}")
    assert [r["run_id"] for r in after] == [r["run_id"] for r in before]
    assert client.get(f"/keys/{KEY}?as_of=never").status_code == 400


@pytest.mark.django_db
@pytest.mark.parametrize("accepted", ["gzip", "identity", ""])
@pytest.mark.parametrize("path", ["/keys.csv", "/keys.json", "/keys"])
def test_answers_that_could_be_packed_say_so(client, path, accepted):
    answer = client.get(path, headers={"Accept-Encoding": accepted})
    assert "accept-encoding" in answer["Vary"].lower()
