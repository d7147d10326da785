/* Why a kernel takes what it takes. */
#include <math.h>

#include "base/numerals.h"
#include "haul/units.h"
#include "report/report_fields.h"
#include "report/wording.h"

/* What would change it, by what bounds it. */
static const char *advice_of(const haul_kernel_explanation *why)
{
    static const char uneven[] =
        "More blocks: smaller ones, or the work cut finer, until all multiprocessors have as many; "
        "or a higher clock, or more multiprocessors, up to one for each block. More bandwidth "
        "changes nothing.";
    static const char *const advice[HAUL_KERNEL_BOUNDS] = {
        [HAUL_KERNEL_BOUND_LAUNCH] =
            "Fewer, larger launches: fuse it with its neighbours, or record them "
            "as a graph.",
        [HAUL_KERNEL_BOUND_MEMORY] =
            "Fewer bytes: narrower types, data used again in shared memory or caches, kernels "
            "fused so that what one writes the next need not read; or memory with more bandwidth. "
            "More cores or clock change nothing.",
        [HAUL_KERNEL_BOUND_ARITHMETIC] =
            "Fewer or cheaper operations: fused multiply-adds, lower precision, matrix units; or "
            "more cores and clock. More bandwidth changes nothing.",
        [HAUL_KERNEL_BOUND_MULTIPROCESSORS] =
            "Less waiting inside the multiprocessors: accesses of a warp side by side (coalesced, "
            "without conflicts of banks), more work a thread, more resident warps; or more "
            "multiprocessors and clock.",
        [HAUL_KERNEL_BOUND_FEW_BLOCKS] =
            "More blocks: smaller ones, or the work cut finer, until every multiprocessor has "
            "some; "
            "or a higher clock. More multiprocessors or bandwidth change nothing.",
    };
    if (why->bound == HAUL_KERNEL_BOUND_FEW_BLOCKS && why->busiest > 1)
        return uneven;
    return (unsigned)why->bound < HAUL_KERNEL_BOUNDS ? advice[why->bound] : "";
}

static const char *time_text(double seconds, char *text, size_t size)
{
    return haul_quantity_format(seconds, HAUL_DIM_SECONDS, 4, text, size);
}

static haul_status print_terms(const haul_kernel_explanation *why, FILE *out, haul_error *error)
{
    static const char *const heads[] = {"<  not below, by", "time", "of the time"};
    haul_table table = {0};
    haul_table_begin(&table, heads, 3);
    for (int i = 0; i < HAUL_KERNEL_BOUNDS; i++) {
        const haul_kernel_term *term = &why->terms[i];
        char text[48];
        haul_table_cell(&table, "  %s%s", haul_kernel_bound_text((haul_kernel_bound)i),
                        (int)why->bound == i ? " *" : "");
        if (term->seconds > 0) {
            haul_table_cell(&table, "%s", time_text(term->seconds, text, sizeof text));
            haul_table_cell(&table, "%s", haul_say_share(term->share).text);
        } else {
            haul_table_cell(&table, "-");
            haul_table_cell(&table, "-");
        }
    }
    return haul_report_finish(&table, HAUL_TABLE, out, error);
}

static void print_blocks(const haul_kernel_explanation *why, FILE *out)
{
    fprintf(out, "  blocks: %.0f, at most %.4g on one multiprocessor", why->blocks, why->busiest);
    if (why->idle > 0)
        fprintf(out, "; %s of their time is without a block", haul_say_share(why->idle).text);
    fputc('\n', out);
}

static haul_status print_one(const haul_kernel_predictions *all, const haul_kernel_predicted *of,
                             FILE *out, haul_error *error)
{
    const haul_kernel_explanation *why = &of->why;
    char time[48], low[48], high[48], at_home[48], faster[48];
    fprintf(out, "%s at size %.17g on %s: %s (%s to %s), bound by %s\n", all->kernel, of->size,
            of->machine->name, time_text(why->estimate.seconds, time, sizeof time),
            time_text(why->estimate.low_s, low, sizeof low),
            time_text(why->estimate.high_s, high, sizeof high), haul_kernel_bound_text(why->bound));
    if (of->machine != all->home)
        fprintf(out, "  on %s, where it was measured: %s; beside the launches %.3g times that\n",
                all->home->name, time_text(why->home_s, at_home, sizeof at_home), why->ratio);
    fputc('\n', out);
    const haul_status status = print_terms(why, out, error);
    if (status)
        return status;
    fputc('\n', out);
    print_blocks(why, out);
    fprintf(out, "  were what bounds it (*) twice as fast: %s\n",
            time_text(why->if_rate, faster, sizeof faster));
    haul_print_wrapped("  ", advice_of(why), out);
    return HAUL_OK;
}

static haul_status print_page(const haul_kernel_predictions *of, FILE *out, haul_error *error)
{
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < of->count; i++) {
        if (i)
            fputc('\n', out);
        status = print_one(of, &of->items[i], out, error);
    }
    return status;
}

static void put_one(haul_json *json, const haul_kernel_predicted *of)
{
    const haul_kernel_explanation *why = &of->why;
    haul_json_open_object(json);
    haul_json_put_string(json, "machine", of->machine->name);
    haul_json_put_number(json, "size", of->size);
    haul_json_put_number(json, "time_s", why->estimate.seconds);
    haul_json_key(json, "interval_s");
    haul_json_open_array(json);
    haul_json_number(json, why->estimate.low_s);
    haul_json_number(json, why->estimate.high_s);
    haul_json_close_array(json);
    haul_json_put_string(json, "bound", haul_kernel_bound_text(why->bound));
    haul_json_put_number(json, "home_time_s", why->home_s);
    haul_json_put_number(json, "ratio", why->ratio);
    haul_json_put_number(json, "twice_as_fast_s", why->if_rate);
    haul_json_put_number(json, "blocks", why->blocks);
    haul_json_put_number(json, "busiest_blocks", why->busiest);
    haul_json_put_number(json, "idle_share", why->idle);
    haul_json_put_string(json, "advice", advice_of(why));
    haul_json_key(json, "terms");
    haul_json_open_array(json);
    for (int i = 0; i < HAUL_KERNEL_BOUNDS; i++) {
        const bool is_known = why->terms[i].seconds > 0;
        haul_json_open_object(json);
        haul_json_put_string(json, "bound", haul_kernel_bound_text((haul_kernel_bound)i));
        haul_json_put_number(json, "time_s", is_known ? why->terms[i].seconds : (double)NAN);
        haul_json_put_number(json, "share", is_known ? why->terms[i].share : (double)NAN);
        haul_json_close_object(json);
    }
    haul_json_close_array(json);
    haul_json_close_object(json);
}

static haul_status print_json(const haul_kernel_predictions *of, FILE *out, haul_error *error)
{
    haul_json json = haul_json_begin(out);
    haul_json_open_object(&json);
    haul_json_put_unsigned(&json, "schema", HAUL_REPORT_SCHEMA);
    haul_json_put_string(&json, "kernel", of->kernel);
    haul_json_put_string(&json, "home", of->home->name);
    haul_json_key(&json, "explanations");
    haul_json_open_array(&json);
    for (size_t i = 0; i < of->count; i++)
        put_one(&json, &of->items[i]);
    haul_json_close_array(&json);
    haul_json_close_object(&json);
    return haul_report_finish_json(&json, error);
}

/* A term a row. */
static haul_status print_csv(const haul_kernel_predictions *of, FILE *out, haul_error *error)
{
    static const char *const heads[] = {"kernel", "machine", "size",  "seconds", "bound",
                                        "term",   "term_s",  "share", "is_bound"};
    haul_table table = {0};
    haul_table_begin(&table, heads, sizeof heads / sizeof *heads);
    for (size_t i = 0; i < of->count; i++) {
        const haul_kernel_explanation *why = &of->items[i].why;
        for (int j = 0; j < HAUL_KERNEL_BOUNDS; j++) {
            haul_table_cell(&table, "%s", of->kernel);
            haul_table_cell(&table, "%s", of->items[i].machine->name);
            haul_table_cell(&table, "%.17g", of->items[i].size);
            haul_table_cell(&table, "%.9g", why->estimate.seconds);
            haul_table_cell(&table, "%s", haul_kernel_bound_text(why->bound));
            haul_table_cell(&table, "%s", haul_kernel_bound_text((haul_kernel_bound)j));
            haul_table_cell(&table, "%.9g", why->terms[j].seconds);
            haul_table_cell(&table, "%.4g", why->terms[j].share);
            haul_table_cell(&table, "%d", (int)why->bound == j);
        }
    }
    return haul_report_finish(&table, HAUL_CSV, out, error);
}

haul_status haul_report_kernel_why(const haul_kernel_predictions *of, haul_format format, FILE *out,
                                   haul_error *error)
{
    HAUL_PLAIN_NUMERALS;
    if (format == HAUL_JSON)
        return print_json(of, out, error);
    return format == HAUL_CSV ? print_csv(of, out, error) : print_page(of, out, error);
}
