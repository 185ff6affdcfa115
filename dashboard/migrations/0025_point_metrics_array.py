from django.db import migrations, models

import dashboard.models.metrics_field

# As STORED_METRICS began: rows hold values by these places for good.
NAMES = (
    *("tput_per_gpu", "output_tput_per_gpu", "input_tput_per_gpu"),
    *("mean_intvty", "median_intvty", "p90_intvty", "p99_intvty", "p99.9_intvty"),
    *("mean_ttft", "median_ttft", "p90_ttft", "p99_ttft", "p99.9_ttft", "std_ttft"),
    *("mean_tpot", "median_tpot", "p90_tpot", "p99_tpot", "p99.9_tpot", "std_tpot"),
    *("mean_itl", "median_itl", "p90_itl", "p99_itl", "p99.9_itl", "std_itl"),
    *("mean_e2el", "median_e2el", "p90_e2el", "p99_e2el", "p99.9_e2el", "std_e2el"),
    *("avg_power_w", "avg_total_gpu_power_w", "total_gpu_energy_j"),
    *("joules_per_successful_query", "joules_per_total_token"),
    *("joules_per_input_token", "joules_per_output_token"),
    *("prefill_gpu_energy_j", "decode_gpu_energy_j"),
    *("prefill_avg_power_w", "decode_avg_power_w"),
    *("prefill_joules_per_input_token", "decode_joules_per_output_token"),
    *("p75_intvty", "p95_intvty", "p75_ttft", "p95_ttft", "p75_tpot", "p95_tpot"),
    *("p75_itl", "p95_itl", "p75_e2el", "p95_e2el"),
    *("duration_seconds", "total_tput_tps", "output_tput_tps", "input_tput_tps"),
    *("total_requests_completed", "total_prompt_tokens", "total_generation_tokens"),
    *("theoretical_cache_hit_rate", "server_overall_cache_hit_rate"),
    *("server_gpu_cache_hit_rate", "gpu_kv_cache_usage_pct"),
    *("mean_input_tokens", "median_input_tokens", "p75_input_tokens"),
    *("p90_input_tokens", "p95_input_tokens", "std_input_tokens"),
    *("mean_output_tokens_actual", "median_output_tokens_actual"),
    *("p75_output_tokens_actual", "p90_output_tokens_actual"),
    *("p95_output_tokens_actual", "std_output_tokens_actual"),
    *("mean_qps", "median_qps", "p75_qps", "p90_qps", "p95_qps", "std_qps"),
    *("mean_e2e_norm_intvty", "median_e2e_norm_intvty", "p75_e2e_norm_intvty"),
    *("p90_e2e_norm_intvty", "p95_e2e_norm_intvty"),
    *("mean_full_response_itl", "median_full_response_itl", "p75_full_response_itl"),
    *("p90_full_response_itl", "p95_full_response_itl", "std_full_response_itl"),
    *("server_cpu_cache_hit_rate", "server_external_cache_hit_rate"),
    *("cpu_kv_cache_usage_pct", "mean_full_response_intvty"),
    *("median_full_response_intvty", "p75_full_response_intvty"),
    *("p90_full_response_intvty", "p95_full_response_intvty"),
    *("p99_full_response_intvty", "p99.9_full_response_intvty"),
    *("p99_full_response_itl", "p99.9_full_response_itl"),
    *("p99_e2e_norm_intvty", "p99.9_e2e_norm_intvty"),
    *("p99_input_tokens", "p99.9_input_tokens"),
    *("p99_output_tokens_actual", "p99.9_output_tokens_actual"),
    *("mean_output_tokens_expected", "median_output_tokens_expected"),
    *("p75_output_tokens_expected", "p90_output_tokens_expected"),
    *("p95_output_tokens_expected", "p99_output_tokens_expected"),
    *("p99.9_output_tokens_expected", "std_output_tokens_expected"),
    *("p99_qps", "p99.9_qps"),
    *("avg_util_pct", "avg_mem_used_mb", "avg_temp_c", "peak_temp_c"),
)
_LISTED = ", ".join(f"'{name}'" for name in NAMES)

# A column changes its type in one pass over the table, which leaves no dead rows. The
# expression for it may hold no subquery, so that each direction has a function.
TO_ARRAY = f"""
    SET CONSTRAINTS ALL IMMEDIATE;
    CREATE FUNCTION pg_temp.array_of(told jsonb) RETURNS double precision[]
    LANGUAGE sql IMMUTABLE AS $$
        SELECT COALESCE(array_agg(value ORDER BY place), '{{}}') FROM (
            SELECT place, value::double precision,
                max(place) FILTER (WHERE value IS NOT NULL) OVER () AS last
            FROM unnest(ARRAY[{_LISTED}]) WITH ORDINALITY AS listed (name, place)
            LEFT JOIN jsonb_each_text(told) AS each (name, value) USING (name)
        ) AS found WHERE place <= last
    $$;
    UPDATE dashboard_point
    SET more_metrics = jsonb_strip_nulls(metrics) - ARRAY[{_LISTED}]
    WHERE EXISTS (
        SELECT FROM jsonb_each_text(metrics) AS each (name, value)
        WHERE value IS NOT NULL AND name NOT IN ({_LISTED})
    );
    ALTER TABLE dashboard_point
    ALTER metrics TYPE double precision[] USING pg_temp.array_of(metrics);
    DROP FUNCTION pg_temp.array_of;
"""  # noqa: S608  # names of our own
TO_JSON = f"""
    SET CONSTRAINTS ALL IMMEDIATE;
    CREATE FUNCTION pg_temp.json_of(stored double precision[], more jsonb)
    RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
        SELECT COALESCE(jsonb_object_agg(name, value), '{{}}') || COALESCE(more, '{{}}')
        FROM unnest(ARRAY[{_LISTED}], stored) AS told (name, value)
        WHERE value IS NOT NULL
    $$;
    ALTER TABLE dashboard_point
    ALTER metrics TYPE jsonb USING pg_temp.json_of(metrics, more_metrics);
    DROP FUNCTION pg_temp.json_of;
"""  # noqa: S608  # names of our own


class Migration(migrations.Migration):
    """Store the metrics of a point as an array: a fifth of the bytes of the JSON.

    The table is written anew, and nobody can read it meanwhile: some minutes for a
    million points.
    """

    dependencies = [("dashboard", "0024_newest_and_open_sweeps")]

    operations = [
        migrations.AddField(
            model_name="point",
            name="more_metrics",
            field=models.JSONField(
                blank=True,
                null=True,
                help_text="those without a place in the array",
            ),
        ),
        migrations.RunSQL(
            TO_ARRAY,
            TO_JSON,
            state_operations=[
                migrations.AlterField(
                    model_name="point",
                    name="metrics",
                    field=dashboard.models.metrics_field.MetricsField(default=dict),
                )
            ],
        ),
    ]
