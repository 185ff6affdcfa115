"""The filters of the inference page: each narrows, and bad input is named."""

from datetime import timedelta

import pytest

from tests.factories import START, DeploymentFactory, RunFactory, SweepFactory
from tests.pages.builders import add_points, curve, disaggregated, official_sweep, story

pytestmark = pytest.mark.django_db


def shown(client, query):
    answer = client.get(f"/inference?{query}")
    assert answer.status_code == 200, answer.content.decode()
    return [entry.curve.config_key for entry in answer.context.get("legend") or []]


SGLANG, TRT, DISAGG = (
    "qwen3.5-fp4-mi355x-sglang",
    "qwen3.5-fp4-b200-trt-mtp",
    "qwen3.5-fp8-gb200-dynamo-trt",
)


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        ("hardware=b200", [TRT]),
        ("hardware=B200,gb200", [DISAGG, TRT]),
        ("vendor=amd", [SGLANG]),
        ("vendor=NVIDIA", [DISAGG, TRT]),
        ("framework=sglang", [SGLANG]),
        ("framework=trtllm", [TRT]),
        ("precision=fp8", [DISAGG]),
        ("deployment=disaggregated", [DISAGG]),
        (f"key={TRT}&key={SGLANG}", [TRT, SGLANG]),
        (f"key={TRT},{SGLANG}", [TRT, SGLANG]),
        ("i_vendor=AMD&i_fw=sglang", [SGLANG]),
        ("i_disagg=true", [DISAGG]),
        ("from=2027-01-01", []),
    ],
)
def test_each_filter_leaves_its_keys(client, query, keys):
    story()
    assert shown(client, query) == keys


def test_spec_method_offload_and_kind_filter_points(client):
    sweep = official_sweep("mixed", spec_methods=["none", "mtp"])
    add_points(sweep, [(4, 180.0, 300.0)])
    mtp = DeploymentFactory(spec_method="mtp")
    offload = DeploymentFactory(kv_offloading="dram", kv_offload_backend="hicache")
    add_points(sweep, [(8, 150.0, 400.0)], deployment=mtp)
    add_points(sweep, [(16, 120.0, 500.0)], deployment=offload)
    add_points(sweep, [(32, 90.0, 600.0)], deployment=disaggregated())
    aggregated = DeploymentFactory(
        multinode=True, tp=None, prefill_workers=2, prefill_tp=8, decode_workers=0
    )
    add_points(sweep, [(64, 60.0, 700.0)], deployment=aggregated)
    for query, concurrencies in (
        ("spec=mtp", [8]),
        ("spec=none", [4, 16, 32, 64]),
        ("offload=with", [16]),
        ("offload=without", [4, 8, 32, 64]),
        ("deployment=single", [4, 8, 16]),
        ("deployment=multinode", [64]),
        ("deployment=single&deployment=disaggregated&offload=with", [16]),
    ):
        rows = client.get(f"/inference?{query}").context["rows"]
        assert sorted(row.point["concurrency"] for row in rows) == concurrencies, query


def test_only_the_frontier_leaves_out_the_rest_from_chart_and_table(client):
    story()
    context = client.get("/inference?i_optimal=1").context
    roles = {trace["meta"]["role"] for trace in context["figure"]["data"]}
    assert roles == {"frontier"}
    assert {row.point["standing"] for row in context["rows"]} == {"frontier"}
    assert "not shown" in client.get("/inference?optimal=1").content.decode()


def history(key="key-a"):
    """Make sweeps of days 0, 1 (held), 2 with an addition on day 3, and 5."""
    made = {}
    for day, state in ((0, "former"), (1, "held"), (2, "former"), (5, "current")):
        at = START + timedelta(days=day)
        run = RunFactory(official=True, created_at=at)
        made[day] = official_sweep(
            key, run=run, state=state, official_at=at, state_reason="3 of 6 points"
        )
        add_points(made[day], [(4, 100.0 + day, 300.0)])
    at = START + timedelta(days=3)
    made[3] = SweepFactory(
        config_key=made[2].config_key,
        run=RunFactory(official=True, created_at=at),
        state="former",
        official_at=at,
        extends=made[2],
    )
    add_points(made[3], [(8, 50.0, 400.0)])
    return made


@pytest.mark.parametrize(
    ("query", "xs"),
    [
        ("", [105]),
        ("date=2026-08-01", [100]),
        ("date=2026-08-02", [100]),
        ("date=2026-08-03", [102]),
        ("g_rundate=2026-08-04", [50, 102]),
        ("date=2026-08-05&from=2026-08-03", [50, 102]),
        ("date=2026-08-06", [105]),
        ("from=2026-08-06&to=2026-08-06", [105]),
    ],
)
def test_as_of_a_day_shows_what_was_current_at_its_end(client, query, xs):
    history()
    rows = client.get(f"/inference?{query}").context["rows"]
    assert [row.point["median_intvty"] for row in rows] == xs


def test_as_of_a_run_shows_what_was_current_with_it(client):
    made = history()
    run = made[2].run.github_run_id
    for name in ("asof_run", "g_runid"):
        answer = client.get(f"/inference?{name}={run}")
        assert [r.point["median_intvty"] for r in answer.context["rows"]] == [102]
        assert f"run {run}" in answer.content.decode()


def test_nothing_current_then_is_said_with_the_day(client):
    history()
    page = client.get("/inference?model=qwen3.5&date=2020-01-01").content.decode()
    assert "has no current official sweep as of 2020-01-01." in page


def test_ghosts_are_the_former_sweep_and_no_part_of_the_frontier(client):
    history()
    assert client.get("/inference").context["figure"]["data"][0]["x"] == [105]
    context = client.get("/inference?ghost=1").context
    ghost, line = context["figure"]["data"]
    assert (ghost["meta"]["role"], ghost["x"]) == ("ghost", [50, 102])
    assert line["x"] == [105]
    assert len(context["rows"]) == 1


def test_why_this_sweep_names_the_held_and_former_ones(client):
    made = history()
    page = client.get("/inference?date=2026-08-02").content.decode()
    why = page[page.index('class="why"') :]
    assert f"run {made[0].run.github_run_id}" in why
    assert f"run {made[1].run.github_run_id}" in why
    assert "3 of 6 points" in why
    assert f"run {made[2].run.github_run_id}" not in page


def test_a_narrow_sweep_is_held_the_dense_one_stays_and_both_are_said(client):
    dense = official_sweep("narrowed", planned_count=4)
    add_points(dense)
    narrow = SweepFactory(
        config_key=dense.config_key,
        run=RunFactory(official=True),
        state="held",
        official_at=START + timedelta(days=60),
        state_reason="lost deployments TP16, offload",
        received_count=2,
        planned_count=4,
    )
    answer = client.get("/inference")
    assert len(answer.context["rows"]) == 4
    page = answer.content.decode()
    assert "2 of 4 points" in page
    assert f"run {narrow.run.github_run_id}" in page
    assert "Lost deployments TP16, offload" in page
    assert "newer one held" in page


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("hardware=tpu9", "hardware: tpu9 is not known"),
        ("vendor=acme", "vendor: acme is not known"),
        ("framework=zz", "framework: zz is not known"),
        ("spec=zz", "spec: zz is not known"),
        ("deployment=zz", "deployment: zz is not known"),
        ("offload=zz", "offload: zz is not known"),
        ("date=2026-13-01", "date: not a date such as"),
        ("date=yesterday", "date: not a date such as"),
        ("from=1", "from: not a date such as"),
        ("g_rundate=2026-13-13", "date: not a date such as"),
        ("from=2026-08-02&date=2026-08-01", "from: later than"),
        ("from=2026-08-02&to=2026-08-01", "from: later than"),
        ("asof_run=x", "asof_run: not the id of a run"),
        ("asof_run=-1", "asof_run: not the id of a run"),
        ("asof_run=99999999999999999999", "asof_run: not the id of a run"),
        ("asof_run=5", "asof_run: run 5 is not stored"),
        ("asof_run=5&date=2026-08-01", "asof_run: give a run or a date"),
        ("at=fast", "at: not a number above 0"),
        ("at=0", "at: not a number above 0"),
        ("at=-5", "at: not a number above 0"),
        ("at=nan", "at: not a number above 0"),
        ("at=inf", "at: not a number above 0"),
        ("sort=zz", "sort: zz is not known"),
        ("zoom=1,2,3", "zoom: not four numbers"),
        ("zoom=a,b,c,d", "zoom: not four numbers"),
        ("zoom=5,1,0,1", "zoom: an end"),
        ("logx=maybe", "logx: maybe is not known"),
        ("optimal=2", "optimal: 2 is not known"),
        ("ghost=2", "ghost: 2 is not known"),
        ("hide=nokey", "hide: nokey is not known"),
        ("g_model=gpt-9", "g_model: gpt-9 is not known"),
        ("i_seq=9k9k", "i_seq: 9k/9k is not known"),
        ("i_prec=fp3", "i_prec: fp3 is not known"),
    ],
)
def test_bad_input_is_refused_by_the_name_of_its_parameter(client, query, said):
    curve()
    answer = client.get(f"/inference?{query}")
    assert answer.status_code == 400
    assert said in answer.content.decode()
    for suffix in ("csv", "json", "html"):
        assert client.get(f"/inference.{suffix}?{query}").status_code == 400


@pytest.mark.parametrize("length", [10_000, 100_000])
def test_an_endless_key_filter_is_named_in_a_short_sentence(client, length):
    curve()
    answer = client.get("/inference", {"key": "k" * length})
    assert answer.status_code == 400
    page = answer.content.decode()
    assert "key: kkkk" in page
    assert len(page) < 10_000
    many = client.get("/inference?" + "&".join(f"key=k{n}" for n in range(900)))
    assert many.status_code == 400
    assert "key: k0 is not known" in many.content.decode()


def test_a_refusal_offers_the_address_without_the_culprit(client):
    curve()
    answer = client.get("/inference?i_prec=fp3&x=p90_intvty&at=0")
    assert 'href="/inference?x=p90_intvty"' in answer.content.decode()


def test_scripts_get_the_part_that_changes(client):
    curve()
    for target, root in (("view", "<title>"), ("ranking", '<section id="ranking"')):
        headers = {"hx-request": "true", "hx-target": target}
        answer = client.get("/inference?at=50", headers=headers)
        page = answer.content.decode().strip()
        assert page.startswith(root)
        assert "</html>" not in page
        assert {"HX-Request", "HX-Target"} <= set(answer["Vary"].split(", "))
    headers = {"hx-request": "true", "hx-target": "view"}
    refused = client.get("/inference?x=zz", headers=headers)
    assert refused.status_code == 400
    assert "</html>" not in refused.content.decode()
    back = {"hx-request": "true", "hx-history-restore-request": "true"}
    restored = client.get("/inference", headers=back).content.decode()
    assert restored.strip().startswith("<title>")


def test_parameters_that_mean_nothing_are_said(client):
    curve()
    answer = client.get("/inference?foo=1&run=5&kind=x&foo=2&sort=gpus&from=2020-01-01")
    assert answer.context["ignored"] == ["foo=1", "foo=2", "run=5", "kind=x"]
    assert "ignored: foo=1, foo=2, run=5, kind=x" in answer.content.decode()
    for understood in ("as_of=2026-12-01", "date=2026-12-01", "asof_run=", "hide="):
        assert client.get(f"/inference?{understood}").context["ignored"] == []


def test_a_second_model_or_date_is_said(client):
    curve()
    curve("other", key_fields={"model": "dsr1"})
    answer = client.get("/inference?model=dsr1&model=qwen3.5")
    assert answer.context["chosen"].model == "Qwen-3.5-397B-A17B"
    assert answer.context["ignored"] == ["model=dsr1"]
    answer = client.get("/inference?date=2026-12-01&as_of=2026-11-01")
    assert answer.context["ignored"] == ["as_of=2026-11-01"]


def test_a_key_of_another_model_is_said_with_the_sweeps_there_are(client):
    other = curve("other", key_fields={"model": "dsr1"})
    for number in range(4):
        curve(f"key-{number}")
    for key in ("other", other.config_key.key):
        answer = client.get(f"/inference?model=qwen3.5&key={key}")
        page = answer.content.decode()
        assert f"None of the 4 current sweeps passes the filter: key {key}." in page
        assert "Vendor" in {group.legend for group in answer.context["groups"]}


def test_a_scenario_that_a_model_lacks_is_said_with_those_it_has(client):
    curve("other", scenario="1k/1k", key_fields={"model": "dsr1"})
    curve("key-a")
    asked = "model=qwen3.5&scenario=1k/1k&key=other"
    answer = client.get(f"/inference?{asked}")
    said = "no current official sweep of 1k/1k; its only one is of 8k/1k."
    assert said in answer.content.decode()
    assert "Vendor" in {group.legend for group in answer.context["groups"]}


def test_a_day_before_everything_is_said_without_a_model(client):
    history()
    page = client.get("/inference?date=2020-01-01").content.decode()
    assert "No official sweep was current as of 2020-01-01." in page


def test_who_names_no_part_gets_the_whole_page(client):
    curve()
    headers = {"hx-request": "true", "hx-target": "elsewhere"}
    page = client.get("/inference", headers=headers).content.decode()
    assert page == client.get("/inference").content.decode()


@pytest.mark.parametrize(
    "query",
    ["zoom=0,5e-324,0,1", "zoom=0,1,-1e308,1.7e308", "zoom=1,1.7e308,0,1&logx=1"],
)
def test_a_zoom_beyond_all_measure_is_answered(client, query):
    curve()
    assert client.get(f"/inference?{query}").status_code == 200
