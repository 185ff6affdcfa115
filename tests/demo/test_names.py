import re

from ingest.artifacts.names import parse_name
from ingest.jobs import parse_job_name
from tests.demo.reading import DemoRun, gpus

Runs = dict[str, DemoRun]
ROLE = r"tp\d+-pp\d+-dcp\d+-pcp\d+-ep\d+-dp(?:true|false)-nw\d+"
SINGLE = r"tp\d+-pp\d+-dcp\d+-pcp\d+-ep\d+-dpa(?:true|false)"
RESULT = re.compile(
    r"(?P<exp>(?:qwen3\.5|dsr1|dsv4)_(?:\dk\dk|tp\d+_conc\d+_kv(?:none|dram-[a-z]+)"
    r"(?:_spec-[a-z]+)?))_(?P<precision>fp[48])_(?P<framework>[a-z-]+)"
    rf"_(?:{SINGLE}|prefill-{ROLE}_decode-{ROLE})"
    r"_disagg-(?:true|false)_spec-(?:none|mtp)_conc(?P<conc>\d+(?:x\d+)*)"
    r"_(?P<runner>[a-z0-9-]+_[0-9]+)(?:_recipe-(?P<recipe>[0-9a-f]{16}))?"
)
PREFIXES = ("bmk_agentic_", "bmk_", "multinode_server_logs_", "server_logs_")


def test_artifact_names_follow_the_grammar(runs: Runs) -> None:
    for run in runs.values():
        for name in run.names:
            for prefix in PREFIXES:
                if name.startswith(prefix):
                    assert RESULT.fullmatch(name.removeprefix(prefix)), name
                    break


def test_single_node_evals_repeat_the_experiment_and_others_do_not(runs: Runs) -> None:
    for run in runs.values():
        for name in run.names:
            if not name.startswith("eval_") or name == "eval_results_all":
                continue
            result = name.removeprefix("eval_")
            if "_prefill-" not in name:
                half = RESULT.search(result)
                assert half
                assert result == f"{half['exp']}_{half.string[half.start() :]}", name
                result = half[0]
            found = RESULT.fullmatch(result)
            assert found, name
            assert found["recipe"] is None


def test_the_ingest_reads_what_the_names_say(runs: Runs) -> None:
    for run in runs.values():
        for item in run.artifacts:
            if not item["name"].startswith("bmk_"):
                continue
            parts = parse_name(item["name"])
            (row, *_) = run.documents(item["name"])
            assert parts.precision == row["precision"]
            assert parts.framework == row["framework"]
            assert row["conc"] in parts.concurrencies
            assert parts.recipe == row["recipe_fingerprint"][:16]


def test_measurement_jobs_are_readable_and_no_other_is(runs: Runs) -> None:
    for run in runs.values():
        for job in run.jobs:
            assert (parse_job_name(job["name"]) is not None) == ("|" in job["name"])


def test_jobs_plan_what_the_rows_measure(runs: Runs) -> None:
    for run in runs.values():
        planned = set()
        for job in run.jobs:
            plan = parse_job_name(job["name"])
            if plan and not plan.eval_only:
                planned |= {
                    (plan.runner, plan.framework, plan.deployment.spec_method, c)
                    for c in plan.concurrencies
                }
        for row in run.rows:
            place = row["hw"], row["framework"], row["spec_decoding"], row["conc"]
            assert place in planned


def test_file_names_of_several_nodes_tell_their_gpus(runs: Runs) -> None:
    tail = re.compile(r"_conc(\d+)_gpus_(\d+)(?:_ctx_(\d+)_gen_(\d+))?\.json")
    run = runs["gb200-baseline"]
    for item in run.artifacts:
        if not item["name"].startswith("bmk_"):
            continue
        rows = {row["conc"]: row for row in run.documents(item["name"])}
        for path in run.artifact(item).iterdir():
            found = tail.search(path.name)
            assert found
            conc, total, reading, writing = map(int, found.groups())
            row = rows[conc]
            assert total == gpus(row) == reading + writing
            assert row["num_prefill_gpu"] == reading
