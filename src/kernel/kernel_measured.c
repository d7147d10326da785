/* Measured times of a kernel, in its file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numerals.h"
#include "kernel/kernel_own.h"

enum { SAMPLES_MOST = 10000 };

/* {size: 1024, seconds: 0.0123}, with the counts beside them where no expression gives them. */
static haul_status read_sample(hl_kernel_reader *self, const hl_machine_node *node, bool is_first,
                               haul_kernel_sample *out)
{
    enum { THREADS = 0, SIZE = HL_KERNEL_COUNT_ROWS, SECONDS, KEYS };
    const char *known[KEYS] = {[SIZE] = "size", [SECONDS] = "seconds"};
    const hl_machine_node *values[KEYS];
    for (int i = 0; i < HL_KERNEL_COUNT_ROWS; i++)
        known[i] = hl_kernel_count_rows[i].key;
    HAUL_TRY(hl_machine_node_keys(&self->yaml, node, "sizes", known, KEYS, values));
    const bool is_counted = values[THREADS] != NULL;
    if (!is_first && is_counted != self->made->is_counted)
        return hl_machine_node_fail(&self->yaml, node, "expected counts at each size, or at none");
    self->made->is_counted = is_counted;
    *out =
        (haul_kernel_sample){.file = self->made->file, .line = node->line, .column = node->column};
    for (int i = 0; i < KEYS; i++) {
        const bool is_needed = i >= SIZE || (is_counted && hl_kernel_count_rows[i].is_needed);
        double *at = i == SIZE      ? &out->size
                     : i == SECONDS ? &out->seconds
                                    : hl_kernel_count_of(&out->counts, i);
        if (values[i] && (is_counted || i >= SIZE))
            HAUL_TRY(hl_kernel_read_constant(self, values[i], known[i], at));
        else if (is_needed)
            return hl_machine_node_fail(&self->yaml, node, "'%s' is missing", known[i]);
        if (!(*at >= 0))
            return hl_machine_node_fail_expected(&self->yaml, values[i],
                                                 "a number that is not negative", known[i]);
    }
    return HAUL_OK;
}

/* Ascending sizes are required: hl_kernel_measured_at searches among them. Equal ones are
 * repeated measurements. */
static haul_status read_samples(hl_kernel_reader *self, const hl_machine_node *list)
{
    const size_t count = hl_machine_node_count(list);
    if (list->kind != HL_MACHINE_NODE_LIST || !count || count > SAMPLES_MOST)
        return hl_machine_node_fail_expected(&self->yaml, list, "a list of sizes", "sizes");
    haul_kernel_sample *samples = hl_base_arena_alloc(&self->made->arena, count * sizeof *samples);
    if (!samples)
        return hl_base_fail_no_memory(self->yaml.error);
    size_t i = 0;
    for (const hl_machine_node *at = list->first; at; at = at->next, i++) {
        HAUL_TRY(read_sample(self, at, !i, &samples[i]));
        if (i && samples[i].size < samples[i - 1].size)
            return hl_machine_node_fail(&self->yaml, at, "expected sizes in ascending order");
    }
    self->made->samples = samples;
    self->made->kernel.samples = samples;
    self->made->kernel.sample_count = count;
    return HAUL_OK;
}

haul_status hl_kernel_read_measured(hl_kernel_reader *self, const hl_machine_node *node)
{
    static const char *const keys[] = {"machine", "sizes"};
    const hl_machine_node *values[2];
    hl_kernel_owned_kernel *made = self->made;
    /* to write measured sizes behind the text as it is, keys must start in the first column,
     * outside {} */
    made->is_extensible = made->yaml[strspn(made->yaml, " \n\t")] != '{' && self->root->first &&
                          self->root->first->key->column == 1;
    if (!node)
        return HAUL_OK;
    HAUL_TRY(hl_machine_node_keys(&self->yaml, node, "measured", keys, 2, values));
    made->is_extensible &= !node->next;
    made->yaml_length = 0; /* up to the line of this key */
    for (int i = 1; i < node->key->line && made->yaml[made->yaml_length]; i++) {
        made->yaml_length += strcspn(made->yaml + made->yaml_length, "\n");
        made->yaml_length += made->yaml[made->yaml_length] == '\n';
    }
    for (int i = 0; i < 2; i++)
        if (!values[i])
            return hl_machine_node_fail(&self->yaml, node, "'%s' is missing", keys[i]);
    HAUL_TRY(hl_machine_node_line(&self->yaml, values[0], keys[0], &made->kernel.machine));
    /* the counts at these sizes follow, once the expressions are read */
    return read_samples(self, values[1]);
}

/* --- counts between sizes */

/* Counts of an algorithm are mostly powers of its size, straight in logarithms: matrix products
 * move N^2 and compute N^3, and a straight line from size to size would miss both. */
static double between(double n, double n0, double y0, double n1, double y1)
{
    if (y0 <= 0 || y1 <= 0) /* a power has no zero */
        return fmax(0, y0 + (y1 - y0) * (n - n0) / (n1 - n0));
    return y0 * pow(n / n0, log(y1 / y0) / log(n1 / n0));
}

/* The two measured sizes around n, or the two nearest beyond an end. Equal sizes are repeated
 * measurements: they are passed over, as no power goes through them. */
haul_status hl_kernel_measured_at(const hl_kernel_owned_kernel *self, double n,
                                  haul_kernel_counts *out, haul_error *error)
{
    const haul_kernel_sample *samples = self->kernel.samples;
    const size_t count = self->kernel.sample_count;
    size_t high = 0;
    while (high < count && samples[high].size < n)
        high++;
    if (high < count && samples[high].size == n) {
        *out = samples[high].counts;
        return HAUL_OK;
    }
    size_t low = high ? high - 1 : 0;
    if (high == count && low)
        high = low--;
    while (low && samples[low].size == samples[high < count ? high : low].size)
        low--;
    if (!high)
        for (high = 1; high < count && samples[high].size == samples[0].size;)
            high++;
    if (high >= count || samples[low].size == samples[high].size)
        return hl_base_fail_at(error, (hl_base_place){self->file, samples[0].line, 1},
                               "what '%.80s' does was counted at size %.17g only, not at %.17g",
                               self->kernel.name, samples[0].size, n);
    haul_kernel_counts a = samples[low].counts, b = samples[high].counts, counts = {0};
    for (int i = 0; i < HL_KERNEL_COUNT_ROWS; i++)
        *hl_kernel_count_of(&counts, i) = between(n, samples[low].size, *hl_kernel_count_of(&a, i),
                                                  samples[high].size, *hl_kernel_count_of(&b, i));
    /* interpolated one by one, the counts may disagree by a little: these are what the checks ask
     * for */
    counts.threads = fmax(counts.threads, 1);
    counts.block = fmin(fmax(round(counts.block), 1), counts.threads);
    counts.l1_hits = fmin(counts.l1_hits, counts.loads_global);
    counts.l2_hits = fmin(counts.l2_hits, counts.loads_global - counts.l1_hits);
    *out = counts;
    return HAUL_OK;
}

/* --- writing */

/* 17 digits give a size back exactly; 9 are more than any clock tells of a time. */
static void put_samples(const haul_kernel_sample *samples, size_t count, bool is_counted, FILE *out)
{
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "    - {size: %.17g, seconds: %.9g", samples[i].size, samples[i].seconds);
        haul_kernel_counts counts = samples[i].counts;
        for (int j = 0; is_counted && j < HL_KERNEL_COUNT_ROWS; j++)
            if (hl_kernel_count_rows[j].is_needed || *hl_kernel_count_of(&counts, j) > 0)
                fprintf(out, ", %s: %.9g", hl_kernel_count_rows[j].key,
                        *hl_kernel_count_of(&counts, j));
        fputs("}\n", out);
    }
}

static int by_size(const void *a, const void *b)
{
    const double x = ((const haul_kernel_sample *)a)->size;
    const double y = ((const haul_kernel_sample *)b)->size;
    return (x > y) - (x < y);
}

/* A kernel that came from a file is written as its own text, comments and all, with `measured`
 * behind; one that was only counted gets a head whose range is a factor of 4 around its sizes, as
 * far as the powers between them are trusted. */
haul_status haul_kernel_file_write(const haul_kernel_file *kernel, const char *name,
                                   const char *machine, const haul_kernel_samples *samples,
                                   FILE *out, haul_error *error)
{
    HL_PLAIN_NUMERALS;
    const size_t count = samples->count;
    const hl_kernel_owned_kernel *owned = kernel ? hl_kernel_owned(kernel) : NULL;
    if (owned && !owned->is_extensible) {
        haul_error_set(
            error, HAUL_STATUS_BAD_INPUT,
            "what was measured cannot be added: expected keys on lines of their own, and "
            "'measured' as the last");
        hl_base_error_in_file(error, owned->file);
        return HAUL_STATUS_BAD_INPUT;
    }
    if (count > SAMPLES_MOST)
        return haul_error_set(
            error, HAUL_STATUS_BAD_INPUT,
            "%zu measured times, and a fitted kernel holds %d: fit fewer, or the mean "
            "of each size",
            count, SAMPLES_MOST);
    haul_kernel_sample *sorted = calloc(count + 1, sizeof *sorted);
    if (!sorted)
        return hl_base_fail_no_memory(error);
    memcpy(sorted, samples->items, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_size);
    if (owned) {
        (void)fwrite(owned->yaml, 1, owned->yaml_length, out);
    } else {
        fputs("haul_kernel: 1\nname: ", out);
        hl_machine_yaml_text_write(name, out);
        fprintf(out,
                "\nsummary: what a profiler counted at the sizes below\n"
                "variable: {name: N, from: %.17g, to: %.17g}\n",
                fmax(1, floor(sorted[0].size / 4)),
                fmin(4 * sorted[count ? count - 1 : 0].size, 0x1p53));
    }
    if (owned && owned->yaml_length && owned->yaml[owned->yaml_length - 1] != '\n')
        fputc('\n', out);
    fputs("measured:\n  machine: ", out);
    hl_machine_yaml_text_write(machine, out);
    fputs("\n  sizes:\n", out);
    put_samples(sorted, count, !owned || owned->is_counted, out);
    free(sorted);
    return ferror(out) ? haul_error_set(error, HAUL_STATUS_IO, "cannot write the kernel's file")
                       : HAUL_OK;
}
