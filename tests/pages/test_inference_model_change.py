"""What stays of a query when another model is chosen, and what is said to be gone."""

import pytest
from django.http import QueryDict

from tests.pages.builders import curve

pytestmark = pytest.mark.django_db


def changed(client, query):
    headers = {"HX-Request": "true", "HX-Target": "view", "X-Changed": "model"}
    answer = client.get(f"/inference?{query}", headers=headers)
    pushed = QueryDict(answer["HX-Push-Url"].partition("?")[2])
    return answer, dict(pushed.lists())


def two_models():
    curve("here", key_fields={"hardware": "mi355x"})
    curve("there", key_fields={"model": "dsr1", "hardware": "b200"})


def test_what_the_new_model_has_is_kept(client):
    two_models()
    query = "model=DeepSeek-R1-0528&scenario=8k/1k&x=median_intvty&y=tput_per_gpu"
    answer, pushed = changed(client, f"{query}&at=50&vendor=NVIDIA&optimal=1")
    assert pushed["at"] == ["50"]
    assert (pushed["vendor"], pushed["optimal"]) == (["NVIDIA"], ["1"])
    assert "has nothing of these" not in answer.content.decode()
    assert len(answer.context["legend"]) == 1


def test_what_the_new_model_lacks_is_left_out_and_said(client):
    two_models()
    curve("only", scenario="1k/1k")
    lacking = "scenario=1k/1k&vendor=AMD&vendor=NVIDIA&hardware=mi355x&key=here"
    query = f"model=DeepSeek-R1-0528&{lacking}&x=joules_per_output_token&at=3"
    answer, pushed = changed(client, query)
    assert pushed == {"model": ["DeepSeek-R1-0528"], "vendor": ["NVIDIA"]}
    assert answer.context["dropped"] == [
        "scenario 1k/1k",
        "key here",
        "vendor AMD",
        "hardware mi355x",
        "x joules_per_output_token",
        "at 3",
    ]
    assert "left out: scenario 1k/1k, key here, vendor AMD" in answer.content.decode()
    assert len(answer.context["legend"]) == 1


def test_an_agentic_model_is_shown_over_its_usual_axes(client):
    curve("here")
    curve("agents", scenario="agentic-traces", key_fields={"model": "dsr1"})
    query = "model=DeepSeek-R1-0528&scenario=8k/1k&x=median_intvty&y=tput_per_gpu"
    _, pushed = changed(client, query)
    assert pushed == {"model": ["DeepSeek-R1-0528"]}
