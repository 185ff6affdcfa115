"""What leaves the inference page: pictures, the HTML file, figures, CSV."""

import json
from pathlib import Path

import plotly.io
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor
from tests.pages.builders import story

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("kind", ["CSV", "HTML", "JSON"])
def test_files_show_what_is_shown(visitor: Visitor, kind: str):
    story()
    page = visitor.open("/inference")
    page.get_by_role("button", name="qwen3.5-fp4-b200-trt-mtp").click()
    link = page.locator("[data-exports]").get_by_role("link", name=kind)
    link.evaluate("(a) => a.addEventListener('click', (e) => e.preventDefault())")
    link.click()
    assert "hide=qwen3.5-fp4-b200-trt-mtp" in (link.get_attribute("href") or "")


def test_pictures_say_title_date_run_and_source(visitor: Visitor, tmp_path: Path):
    sweeps = story()
    page = visitor.open("/inference?at=50")
    with page.expect_download() as saved:
        page.get_by_role("button", name="SVG").click()
    path = tmp_path / "chart.svg"
    saved.value.save_as(path)
    text = path.read_text()
    for expected in (
        "Qwen-3.5-397B-A17B 8k/1k: total throughput",
        "official sweeps as of 20",
        f"run {sweeps['sglang'].run.github_run_id}",
        "Source: Frontierboard, http",
    ):
        assert expected in text
    assert visitor.trouble() == []


def test_the_html_file_draws_by_itself(visitor: Visitor, tmp_path: Path):
    story()
    page = visitor.open("/inference")
    with page.expect_download() as saved:
        page.locator("[data-exports]").get_by_role("link", name="HTML").click()
    path = tmp_path / "chart.html"
    saved.value.save_as(path)
    alone = page.context.new_page()
    asked: list[str] = []
    alone.on("request", lambda request: asked.append(request.url))
    alone.context.set_offline(True)
    alone.goto(path.as_uri())
    expect(alone.locator(".scatterlayer .trace .js-line")).to_have_count(3)
    expect(alone.locator(".gtitle")).to_contain_text("total throughput per GPU")
    assert [url for url in asked if url.startswith("http")] == []
    alone.context.set_offline(False)
    read = page.request.get(visitor.address + "/inference.json").text()
    assert plotly.io.from_json(read).data
    assert json.loads(read)["layout"]["title"]
