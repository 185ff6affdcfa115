"""Samples of evals through the whole pipeline: once, in part, and again."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import storages

from dashboard.models import EvalResult, EvalSample
from dashboard.vocabulary.raw_files import raw_path
from ingest.pipeline import replay_run
from tests.ingest.golden import import_masters, ingest
from tests.pipeline.conftest import Desk, skips, the_run
from tests.pipeline.test_evals import own_artifact

TIME = "2026-08-01T20-30-00.1"
FILTERS = ("strict-match", "flexible-extract")


def line(doc_id: int, name: str, **changes: Any) -> bytes:
    record = {
        "doc_id": doc_id,
        "filter": name,
        "target": "72",
        "arguments": [["prompt", {}]],
        "resps": [["#### 72"]],
        "filtered_resps": ["72"],
        "metrics": ["exact_match"],
        "exact_match": 1.0,
    }
    return json.dumps(record | changes).encode() + b"\n"


def both(*doc_ids: int) -> bytes:
    """Two lines per document, as lm-eval writes them."""
    return b"".join(line(doc, name) for doc in doc_ids for name in FILTERS)


def with_samples(
    content: bytes, strict: float = 0.9697, *, time: str = TIME, name: str = ""
) -> dict[str, dict[str, Any]]:
    artifact = own_artifact(strict, time)
    (members,) = artifact.values()
    members[name or f"samples_gsm8k_{time}.jsonl"] = content
    return artifact


def stored() -> list[tuple[int, str]]:
    found = EvalSample.objects.order_by("doc_id", "-filter")
    return list(found.values_list("doc_id", "filter"))


def ids() -> list[int]:
    return list(EvalSample.objects.order_by("pk").values_list("pk", flat=True))


def test_each_document_is_stored_per_filter_and_twice_changes_nothing(
    desk: Desk,
) -> None:
    content = both(7, 8) + b"\n"
    desk.ingest(None, with_samples(content))
    assert stored() == [(doc, name) for doc in (7, 8) for name in FILTERS]
    first = EvalSample.objects.earliest("pk")
    assert first.eval_id == EvalResult.objects.get().pk
    assert (first.prompt, first.answer, first.passed) == ("prompt", "#### 72", True)
    before, stamp = ids(), EvalResult.objects.get().updated_at
    again = desk.ingest(None, with_samples(content))
    replay_run(the_run())
    assert again.tally.is_unchanged
    assert ids() == before
    assert EvalResult.objects.get().updated_at == stamp


def test_a_broken_line_is_told_and_the_good_ones_stand(desk: Desk) -> None:
    content = both(1) + b'{"doc_id": 2, "tar\n' + line(3, "x" * 61) + both(4)[:-20]
    desk.ingest(None, with_samples(content))
    assert stored() == [(1, FILTERS[0]), (1, FILTERS[1]), (4, FILTERS[0])]
    told = skips()["bad_sample"]
    assert [text.partition(":")[0] for text in told] == ["line 3", "line 4", "line 6"]
    desk.ingest(None, with_samples(content))
    replay_run(the_run())
    assert skips()["bad_sample"] == told


def test_of_many_broken_lines_the_first_are_named_and_all_counted(desk: Desk) -> None:
    desk.ingest(None, with_samples(both(1) + b"{\n" * 50))
    told = skips()["bad_sample"]
    assert len(told) == 20
    assert told[-1].endswith("and 30 more lines")


def test_a_document_read_twice_by_one_filter_counts_once(desk: Desk) -> None:
    again = line(1, FILTERS[0], exact_match=0.0)
    desk.ingest(None, with_samples(both(1) + again))
    assert EvalSample.objects.get(filter=FILTERS[0]).passed
    assert len(skips()["duplicate_sample"]) == 1


def test_nul_bytes_are_left_out_of_every_text(desk: Desk) -> None:
    odd = line(1, "strict", target="7\0" + "2", resps=[["a\0b"]])
    desk.ingest(None, with_samples(odd.replace(b"prompt", b"pro\0mpt")))
    found = EvalSample.objects.get()
    assert (found.prompt, found.target, found.answer) == ("prompt", "72", "ab")


def test_replay_reads_samples_from_the_kept_bytes(desk: Desk) -> None:
    desk.ingest(None, with_samples(both(1)))
    EvalSample.objects.all().delete()
    EvalResult.objects.update(samples_source="")
    replay_run(the_run())
    assert stored() == [(1, name) for name in FILTERS]


def test_samples_stay_where_their_bytes_are_gone(desk: Desk) -> None:
    desk.ingest(None, with_samples(both(1)))
    (sha256,) = EvalResult.objects.values_list("samples_source", flat=True)
    storages["raw"].delete(raw_path(sha256))
    before = ids()
    replay_run(the_run())
    assert ids() == before
    EvalResult.objects.update(samples_source="")
    EvalSample.objects.all().delete()
    replay_run(the_run())
    assert skips()["no_bytes"] == ["the samples were not kept"]


def test_a_newer_result_takes_its_own_samples(desk: Desk) -> None:
    artifact = with_samples(both(1, 2))
    desk.ingest(None, artifact)
    (members,) = artifact.values()
    newer = "2026-08-01T21-30-00.1"
    (rerun,) = with_samples(both(1), 0.95, time=newer).values()
    desk.ingest(None, {next(iter(artifact)): members | rerun}, first_id=2000)
    assert EvalResult.objects.get().strict == 0.95
    assert {doc for doc, _ in stored()} == {1}
    # The older file stands in both uploads.
    assert len(skips()["unmatched_samples"]) == 2


@pytest.mark.parametrize(
    "name",
    ["samples_gsm8k_2026-08-01T19-30-00.1.jsonl", "samples_other_task.jsonl",
     f"samples_gsm8k_{TIME}_conc128.jsonl"],
)  # fmt: skip
def test_a_file_of_no_result_is_told(desk: Desk, name: str) -> None:
    desk.ingest(None, with_samples(both(1), name=name))
    assert not EvalSample.objects.exists()
    assert list(skips()) == ["unmatched_samples"]


def test_a_file_without_a_time_belongs_to_the_only_result(desk: Desk) -> None:
    desk.ingest(None, with_samples(both(1), name="samples_gsm8k.jsonl"))
    assert len(stored()) == 2


def test_batched_concurrencies_have_samples_of_their_own(desk: Desk) -> None:
    artifact = own_artifact(0.97, TIME)
    (members,) = artifact.values()
    results = members.pop(f"results_{TIME}.json")
    members["meta_env.json"] |= {
        "eval_concs": [64, 128], "completed_eval_concs": [64, 128],
    }  # fmt: skip
    for conc in (64, 128):
        members[f"results_{TIME}_conc{conc}.json"] = results
        members[f"samples_gsm8k_{TIME}_conc{conc}.jsonl"] = both(conc)
    desk.ingest(None, artifact)
    found = EvalSample.objects.values_list("eval__concurrency", "doc_id").distinct()
    assert set(found) == {(64, 64), (128, 128)}


def test_a_run_has_samples_of_so_many_documents(desk: Desk, settings: Any) -> None:
    settings.FRONTIERBOARD_MAX_SAMPLE_DOCUMENTS = 2
    content = both(1, 2, 3)
    desk.ingest(None, with_samples(content))
    assert {doc for doc, _ in stored()} == {1, 2}
    assert skips()["too_many_samples"] == ["2 documents of a run are stored"]
    before = ids()
    replay_run(the_run())
    assert ids() == before
    assert len(skips()["too_many_samples"]) == 1
    settings.FRONTIERBOARD_MAX_SAMPLE_DOCUMENTS = 3
    replay_run(the_run())
    assert {doc for doc, _ in stored()} == {1, 2, 3}
    assert not skips()
    settings.FRONTIERBOARD_MAX_SAMPLE_DOCUMENTS = 0
    replay_run(the_run())
    assert len(stored()) == 6


def test_an_eval_that_goes_takes_its_samples_along(desk: Desk) -> None:
    desk.ingest(None, with_samples(both(1)))
    the_run().delete()
    assert not EvalSample.objects.exists()


@pytest.mark.django_db
def test_recorded_samples_come_in_whole(shared_data: Path) -> None:
    import_masters(shared_data)
    for run_id, documents in ((33598359757, 12), (33100000001, 6)):
        ingest(shared_data, run_id)
        found = EvalSample.objects.filter(eval__run__github_run_id=run_id)
        assert found.count() == 2 * documents
        assert "parts. How many" not in found[0].prompt
        assert not skips(run_id)
    names = EvalSample.objects.values_list("filter", flat=True).distinct()
    assert set(names) == set(FILTERS)
