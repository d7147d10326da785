/* Limits of a run: read from a file, and compared with a profile. */
#include "haul/budget.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numerals.h"
#include "base/textfile.h"
#include "machine/yaml_read.h"

/* Kernels whose names fit a pattern, as the shell's. */
typedef struct kernel_limit {
    const char *pattern; /* NULL: the limit is of the whole run */
    bool is_count;
} kernel_limit;

typedef struct budget {
    haul_budget shown; /* first: a pointer to it is one to this */
    hl_base_arena arena;
    kernel_limit *kernels; /* of each limit */
} budget;

/* --- limits of the whole run */

static double share_of_span(int64_t ns, const haul_analysis *analysis)
{
    return analysis->span_ns > 0 ? (double)ns / (double)analysis->span_ns : (double)NAN;
}

static double measure_span(const haul_analysis *analysis)
{
    return 1e-9 * (double)analysis->span_ns;
}

static double measure_idle(const haul_analysis *analysis)
{
    return share_of_span(analysis->idle_ns, analysis);
}

static double measure_exposed_copies(const haul_analysis *analysis)
{
    return share_of_span(analysis->busy.copy_ns - analysis->busy.both_ns, analysis);
}

static double measure_exposed_communication(const haul_analysis *analysis)
{
    return share_of_span(haul_analysis_exposed_ns(analysis), analysis);
}

static double measure_copied(const haul_analysis *analysis)
{
    return (double)analysis->copies.bytes;
}

static double measure_copies(const haul_analysis *analysis)
{
    return (double)analysis->copies.count;
}

static const struct run_limit {
    const char *key;
    haul_dimension dimension;
    bool is_share;
    double (*measure)(const haul_analysis *analysis);
} run_limits[] = {
    {"span", HAUL_DIM_SECONDS, false, measure_span},
    {"idle", HAUL_DIM_NUMBER, true, measure_idle},
    {"exposed_copies", HAUL_DIM_NUMBER, true, measure_exposed_copies},
    {"exposed_communication", HAUL_DIM_NUMBER, true, measure_exposed_communication},
    {"copied", HAUL_DIM_BYTES, false, measure_copied},
    {"copies", HAUL_DIM_NUMBER, false, measure_copies},
};

enum { RUN_LIMITS = sizeof run_limits / sizeof *run_limits };

/* --- reading */

typedef struct reader {
    hl_machine_yaml yaml;
    budget *made;
} reader;

/* A value of at least 0, of a share at most 1. */
static haul_status read_most(const reader *self, const hl_machine_node *node, const char *key,
                             haul_limit *limit)
{
    haul_error why = {0};
    const char *const expected =
        limit->is_share ? "a share such as 20%" : haul_dimension_text(limit->dimension);
    if (node->kind != HL_MACHINE_NODE_SCALAR ||
        haul_quantity_parse(node->text, limit->dimension, &limit->most, &why) || limit->most < 0 ||
        (limit->is_share && limit->most > 1))
        return hl_machine_node_fail_expected(&self->yaml, node, expected, key);
    limit->line = node->line;
    limit->measured = NAN;
    return HAUL_OK;
}

static haul_status add_limit(const reader *self, const haul_limit *limit, kernel_limit kernels)
{
    haul_budget *const shown = &self->made->shown;
    if (!limit->what)
        return hl_base_fail_no_memory(self->yaml.error);
    self->made->kernels[shown->count] = kernels;
    shown->limits[shown->count++] = *limit;
    return HAUL_OK;
}

/* One of the list: `name`, and at least one of `time` and `count`. */
static haul_status read_kernels(const reader *self, const hl_machine_node *node)
{
    static const char *const keys[] = {"name", "time", "count"};
    const hl_machine_node *given[3];
    const char *pattern = NULL;
    HAUL_TRY(hl_machine_node_keys(&self->yaml, node, "kernels", keys, 3, given));
    if (!given[0] || (!given[1] && !given[2]))
        return hl_machine_node_fail(&self->yaml, node,
                                    "expected 'name', and 'time' or 'count', of kernels");
    HAUL_TRY(hl_machine_node_line(&self->yaml, given[0], "name", &pattern));
    for (int i = 1; i < 3; i++) {
        if (!given[i])
            continue;
        const bool is_count = i == 2;
        haul_limit limit = {.dimension = is_count ? HAUL_DIM_NUMBER : HAUL_DIM_SECONDS};
        HAUL_TRY(read_most(self, given[i], keys[i], &limit));
        limit.what = hl_base_arena_format(self->yaml.arena, "%s of kernels '%s'", keys[i], pattern);
        HAUL_TRY(add_limit(self, &limit, (kernel_limit){pattern, is_count}));
    }
    return HAUL_OK;
}

static haul_status read_run_limit(const reader *self, const hl_machine_node *node)
{
    size_t i = 0;
    while (strcmp(node->key->text, run_limits[i].key) != 0)
        i++;
    haul_limit limit = {.what = run_limits[i].key,
                        .dimension = run_limits[i].dimension,
                        .is_share = run_limits[i].is_share};
    HAUL_TRY(read_most(self, node, run_limits[i].key, &limit));
    return add_limit(self, &limit, (kernel_limit){0});
}

static haul_status read_root(reader *self, const hl_machine_node *root)
{
    enum { VERSION = RUN_LIMITS, KERNELS, KEYS };
    const char *keys[KEYS] = {[VERSION] = "haul-budget", [KERNELS] = "kernels"};
    const hl_machine_node *given[KEYS];
    for (size_t i = 0; i < RUN_LIMITS; i++)
        keys[i] = run_limits[i].key;
    HAUL_TRY(hl_machine_node_keys(&self->yaml, root, "budget", keys, KEYS, given));
    if (!given[VERSION])
        return hl_machine_node_fail(&self->yaml, root, "expected 'haul-budget: 1'");
    HAUL_TRY(hl_machine_node_version(&self->yaml, given[VERSION], "haul-budget"));
    if (given[KERNELS] && given[KERNELS]->kind != HL_MACHINE_NODE_LIST)
        return hl_machine_node_fail_expected(&self->yaml, given[KERNELS], "a list", "kernels");
    /* two of each kernel's, one of each key */
    const size_t most = hl_machine_node_count(root) +
                        (given[KERNELS] ? 2 * hl_machine_node_count(given[KERNELS]) : 0);
    budget *const made = self->made;
    made->shown.limits = hl_base_arena_alloc(&made->arena, most * sizeof *made->shown.limits);
    made->kernels = hl_base_arena_alloc(&made->arena, most * sizeof *made->kernels);
    HAUL_TRY(made->shown.limits && made->kernels ? HAUL_OK
                                                 : hl_base_fail_no_memory(self->yaml.error));
    for (const hl_machine_node *node = root->first; node; node = node->next) {
        if (node == given[VERSION])
            continue;
        if (node != given[KERNELS])
            HAUL_TRY(read_run_limit(self, node));
        for (const hl_machine_node *each = node == given[KERNELS] ? node->first : NULL; each;
             each = each->next)
            HAUL_TRY(read_kernels(self, each));
    }
    return self->made->shown.count ? HAUL_OK
                                   : hl_machine_node_fail(&self->yaml, root, "no limit is given");
}

static haul_status parse(budget *made, const char *text, size_t size, const char *file,
                         haul_error *error)
{
    const hl_machine_node *root = NULL;
    made->shown.file = hl_base_arena_string(&made->arena, file);
    if (!made->shown.file)
        return hl_base_fail_no_memory(error);
    HAUL_TRY(hl_machine_yaml_read(text, size, file, &made->arena, &root, error));
    reader self = {.yaml = {made->shown.file, &made->arena, error}, .made = made};
    return read_root(&self, root);
}

haul_status haul_budget_parse(const char *text, size_t size, const char *file, haul_budget **out,
                              haul_error *error)
{
    HL_PLAIN_NUMERALS;
    budget *made = calloc(1, sizeof *made);
    if (!made)
        return hl_base_fail_no_memory(error);
    const haul_status status = parse(made, text, size, file, error);
    if (status)
        haul_budget_free(&made->shown);
    else
        *out = &made->shown;
    return status;
}

haul_status haul_budget_load(const char *path, haul_budget **out, haul_error *error)
{
    char *text = NULL;
    size_t size = 0;
    HAUL_TRY(hl_base_textfile_read(path, HL_MACHINE_YAML_BYTES, &text, &size, error));
    const haul_status status = haul_budget_parse(text, size, path, out, error);
    free(text);
    return status;
}

void haul_budget_free(haul_budget *shown)
{
    if (!shown)
        return;
    budget *const self = (budget *)shown;
    hl_base_arena arena = self->arena;
    hl_base_arena_release(&arena);
    free(self);
}

/* --- checking */

/* A template's return type stands before its name, and is void for every kernel: reports leave it
 * out, so that patterns may. */
static bool is_named(const char *name, const char *pattern)
{
    return !fnmatch(pattern, name, 0) ||
           (!strncmp(name, "void ", 5) && !fnmatch(pattern, name + 5, 0));
}

haul_status haul_budget_check(haul_budget *shown, const haul_workload *workload,
                              const haul_analysis *analysis, haul_error *error)
{
    const budget *const self = (const budget *)shown;
    haul_work_group *groups = NULL;
    size_t count = 0;
    HAUL_TRY(haul_work_groups(workload, HAUL_GROUP_BY_KERNEL, &groups, &count, error));
    shown->broken = 0;
    for (size_t i = 0; i < shown->count; i++) {
        haul_limit *const limit = &shown->limits[i];
        if (self->kernels[i].pattern) {
            double sum = 0;
            limit->is_unmatched = true;
            for (size_t j = 0; j < count; j++) {
                if (!groups[j].kernels || !is_named(haul_workload_string(workload, groups[j].name),
                                                    self->kernels[i].pattern))
                    continue;
                limit->is_unmatched = false;
                sum += self->kernels[i].is_count ? (double)groups[j].kernels
                                                 : 1e-9 * (double)groups[j].kernels_ns;
            }
            limit->measured = sum;
        }
        for (size_t k = 0; !self->kernels[i].pattern && k < RUN_LIMITS; k++)
            if (limit->what == run_limits[k].key)
                limit->measured = run_limits[k].measure(analysis);
        limit->is_broken = limit->measured > limit->most;
        shown->broken += limit->is_broken;
    }
    free(groups);
    return HAUL_OK;
}
