/* Advice as JSON. */
#include "report/report_advice.h"
#include "report/report_fields.h"

static void put_calls(haul_json *json, const haul_advised_calls *calls)
{
    haul_json_open_object(json);
    haul_json_put_string(json, "name", *calls->name ? calls->name : NULL);
    haul_json_put_string(json, "direction", haul_direction_text(calls->direction));
    haul_json_put_string(json, "memory", haul_memory_text(calls->memory));
    haul_json_put_unsigned(json, "count", calls->count);
    haul_json_put_unsigned(json, "bytes", calls->bytes);
    haul_json_put_unsigned(json, "least_bytes", calls->least_bytes);
    haul_json_put_unsigned(json, "most_bytes", calls->most_bytes);
    haul_json_put_number(json, "first_s", 1e-9 * (double)calls->first_ns);
    haul_json_put_ns(json, "time_s", calls->time_ns);
    haul_json_close_object(json);
}

static void put_saved(haul_json *json, int64_t saved_ns, double share)
{
    haul_json_put_number(json, "saved_s", 1e-9 * (double)saved_ns);
    haul_json_put_number(json, "share", share);
}

static void put_advice(haul_json *json, const haul_advice *advice)
{
    haul_json_open_object(json);
    haul_json_put_string(json, "change", advice->change);
    haul_json_put_string(json, "certainty", haul_certainty_text(advice->certainty));
    put_saved(json, advice->saved_ns, advice->share);
    haul_json_put_string(json, "what", advice->what);
    haul_json_put_string(json, "why", advice->why);
    haul_json_put_string(json, "assumes", advice->assumes);
    haul_json_put_string(json, "needs", advice->needs);
    haul_json_put_string(json, "apart", advice->apart);
    haul_json_key(json, "parts");
    if (advice->parts)
        haul_json_unsigned(json, advice->parts);
    else
        haul_json_null(json);
    haul_json_key(json, "calls");
    haul_json_open_array(json);
    for (size_t c = 0; c < advice->call_count; c++)
        put_calls(json, &advice->calls[c]);
    haul_json_close_array(json);
    haul_json_close_object(json);
}

static void put_plan(haul_json *json, const char *key, const haul_advised_plan *plan)
{
    haul_json_key(json, key);
    haul_json_open_object(json);
    haul_json_put_unsigned(json, "changes", plan->changes);
    put_saved(json, plan->saved_ns, plan->share);
    haul_json_close_object(json);
}

static void put_head(haul_json *json, const haul_workload *workload, const haul_advice_list *list)
{
    haul_json_put_unsigned(json, "schema", HAUL_REPORT_SCHEMA);
    haul_json_put_string(json, "source", workload->source);
    haul_json_put_string(json, "format", workload->format);
    haul_json_put_string(json, "machine", list->machine);
    haul_json_put_string(json, "gpu", list->gpu);
    haul_json_key(json, "identity");
    haul_json_open_object(json);
    haul_json_put_ns(json, "recorded_s", list->replay.recorded_ns);
    haul_json_put_ns(json, "makespan_s", list->replay.replayed_ns);
    haul_json_put_number(json, "error", list->replay.error);
    haul_json_close_object(json);
    haul_json_put_ns(json, "run_s", list->baseline_ns);
    haul_json_put_ns(json, "threshold_s", list->threshold_ns);
}

haul_status haul_advice_print_json(const haul_workload *workload, const haul_advice_list *list,
                                   FILE *out, haul_error *error)
{
    haul_json json = haul_json_begin(out);
    haul_json_open_object(&json);
    put_head(&json, workload, list);
    haul_json_key(&json, "advice");
    haul_json_open_array(&json);
    for (size_t i = 0; i < list->count; i++)
        put_advice(&json, &list->items[i]);
    haul_json_close_array(&json);
    put_plan(&json, "together", &list->together);
    put_plan(&json, "with_suspected", &list->with_speculative);
    haul_json_put_unsigned(&json, "tried", list->tried);
    haul_json_put_unsigned(&json, "below", list->below);
    haul_json_put_unsigned(&json, "untried", list->untried);
    haul_json_key(&json, "notes");
    haul_json_open_array(&json);
    for (size_t n = 0; n < list->note_count; n++)
        haul_json_string(&json, list->notes[n]);
    haul_json_close_array(&json);
    haul_json_close_object(&json);
    return haul_report_finish_json(&json, error);
}
