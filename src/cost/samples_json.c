/* Measured copies in the JSON of Google Benchmark, as Comm|Scope and its forerunner SCOPE name
 * their benchmarks, and of nvbandwidth. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cost/sample_list.h"

/* nvbandwidth does not write the size of its buffer: this is its default. */
#define NVBANDWIDTH_BYTES (512.0 * 1024 * 1024)

static haul_status fail_node(const haul_tree *tree, haul_tree_node node, const char *text,
                             haul_error *error)
{
    haul_fail(error, HAUL_BAD_INPUT, "%s", text);
    haul_tree_locate(tree, node, error);
    return HAUL_BAD_INPUT;
}

/* What a row of Google Benchmark is: repetitions are taken, else their medians, else their means.
 */
typedef enum row_kind { OTHER, MEAN, MEDIAN, REPETITION } row_kind;

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);
    return length >= tail && !strcmp(text + length - tail, end);
}

static row_kind kind_of_row(const haul_tree *tree, haul_tree_node row)
{
    const char *name = haul_tree_text(tree, haul_tree_get(tree, row, "name"));
    const char *type = haul_tree_text(tree, haul_tree_get(tree, row, "run_type"));
    const char *wrong = haul_tree_text(tree, haul_tree_get(tree, row, "error_occurred"));
    if (!name || (wrong && !strcmp(wrong, "true")))
        return OTHER;
    if (ends_with(name, "_median"))
        return MEDIAN;
    if (ends_with(name, "_mean"))
        return MEAN;
    const bool aggregate = type && !strcmp(type, "aggregate");
    return aggregate || ends_with(name, "_stddev") || ends_with(name, "_cv") ? OTHER : REPETITION;
}

/* The ends of a copy in a benchmark's name, "..._PinnedToGPU/0/0/...". "Host" is pageable; copies
 * of write-combining memory ("WC") are not known. */
static const struct ends {
    const char *text;
    haul_direction direction;
    haul_memory memory;
} all_ends[] = {
    {"_PinnedToGPU", HAUL_HTOD, HAUL_PINNED},     {"_GPUToPinned", HAUL_DTOH, HAUL_PINNED},
    {"_HostToGPU", HAUL_HTOD, HAUL_PAGEABLE},     {"_GPUToHost", HAUL_DTOH, HAUL_PAGEABLE},
    {"_PageableToGPU", HAUL_HTOD, HAUL_PAGEABLE}, {"_GPUToPageable", HAUL_DTOH, HAUL_PAGEABLE},
    {"_GPUToGPU", HAUL_PTOP, HAUL_DEVICE},
};

/* Plain copies only: no strided ones (Memcpy2D, Memcpy3D), no cost of the calls alone (cudart), no
 * two at once (Duplex), no unified memory (which has no Memcpy in its name). */
static bool copy_of_name(const char *name, haul_copy *copy)
{
    char family[128];
    (void)snprintf(family, sizeof family, "%.*s", (int)strcspn(name, "/"), name);
    static const char *const others[] = {"Memcpy2D", "Memcpy3D", "cudart", "hiprt", "uplex"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strstr(family, others[i]))
            return false;
    if (!strstr(family, "Memcpy"))
        return false;
    for (size_t i = 0; i < sizeof all_ends / sizeof *all_ends; i++)
        if (ends_with(family, all_ends[i].text)) {
            copy->direction = all_ends[i].direction;
            copy->memory = all_ends[i].memory;
            return true;
        }
    return false;
}

static haul_status read_seconds(const haul_tree *tree, haul_tree_node row, double *seconds,
                                haul_error *error)
{
    static const struct {
        const char *name;
        double scale;
    } units[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
    const haul_tree_node time = haul_tree_get(tree, row, "real_time");
    const haul_tree_node unit = haul_tree_get(tree, row, "time_unit");
    double value;
    if (!haul_tree_number(tree, time, &value))
        return fail_node(tree, time ? time : row, "expected a number as real_time", error);
    const char *name = unit ? haul_tree_text(tree, unit) : "ns"; /* the default of the library */
    for (size_t i = 0; name && i < sizeof units / sizeof *units; i++)
        if (!strcmp(name, units[i].name)) {
            value *= units[i].scale;
            if (!(value >= 0 && value <= 1e9))
                return fail_node(tree, time, "expected a duration from 0 to 1e9 s", error);
            *seconds = value;
            return HAUL_OK;
        }
    return fail_node(tree, unit, "expected ns, us, ms or s as time_unit", error);
}

/* The counter "bytes"; where it is absent, what the rate and the time make. */
static haul_status read_bytes(const haul_tree *tree, haul_tree_node row, double seconds,
                              uint64_t *bytes, haul_error *error)
{
    const haul_tree_node counter = haul_tree_get(tree, row, "bytes");
    const haul_tree_node rate = haul_tree_get(tree, row, "bytes_per_second");
    double value = 0;
    if (counter ? !haul_tree_number(tree, counter, &value) : !haul_tree_number(tree, rate, &value))
        return fail_node(tree, counter ? counter : row,
                         "expected a counter bytes or bytes_per_second", error);
    value = round(counter ? value : value * seconds);
    if (!(value >= 0 && value < 0x1p63))
        return fail_node(tree, counter ? counter : rate, "expected bytes from 0 to 2^63-1", error);
    *bytes = (uint64_t)value;
    return HAUL_OK;
}

static haul_status read_row(const haul_tree *tree, haul_tree_node row, haul_sample_list *list,
                            haul_error *error)
{
    haul_copy copy = {0};
    if (!copy_of_name(haul_tree_text(tree, haul_tree_get(tree, row, "name")), &copy))
        return HAUL_OK;
    double seconds = 0;
    haul_status status = read_seconds(tree, row, &seconds, error);
    if (!status)
        status = read_bytes(tree, row, seconds, &copy.bytes, error);
    return status ? status : haul_sample_add(list, &copy, seconds, error);
}

static haul_status read_benchmarks(const haul_tree *tree, haul_tree_node rows,
                                   haul_sample_list *list, haul_error *error)
{
    const size_t count = haul_tree_count(tree, rows);
    row_kind best = OTHER;
    for (size_t i = 0; i < count; i++) {
        const row_kind kind = kind_of_row(tree, haul_tree_item(tree, rows, i));
        best = kind > best ? kind : best;
    }
    for (size_t i = 0; best && i < count; i++) {
        const haul_tree_node row = haul_tree_item(tree, rows, i);
        const haul_status status =
            kind_of_row(tree, row) == best ? read_row(tree, row, list, error) : HAUL_OK;
        if (status)
            return status;
    }
    if (!list->count)
        return fail_node(tree, rows, "no benchmark of a copy that haul knows", error);
    return HAUL_OK;
}

/* The cases of nvbandwidth that are copies by the copy engine, one at a time. */
static bool copy_of_case(const char *name, haul_copy *copy)
{
    static const struct ends cases[] = {
        {"host_to_device_memcpy_ce", HAUL_HTOD, HAUL_PINNED},
        {"device_to_host_memcpy_ce", HAUL_DTOH, HAUL_PINNED},
        {"device_to_device_memcpy_read_ce", HAUL_PTOP, HAUL_DEVICE},
        {"device_to_device_memcpy_write_ce", HAUL_PTOP, HAUL_DEVICE},
    };
    for (size_t i = 0; name && i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(name, cases[i].text)) {
            copy->direction = cases[i].direction;
            copy->memory = cases[i].memory;
            return true;
        }
    return false;
}

/* A cell is a rate in GB/s (1000s), or "N/A" for a pair that was not measured. */
static haul_status read_cell(const haul_tree *tree, haul_tree_node cell, const haul_copy *copy,
                             haul_sample_list *list, haul_error *error)
{
    const char *text = haul_tree_text(tree, cell);
    double rate;
    if (text && !strcmp(text, "N/A"))
        return HAUL_OK;
    if (!haul_tree_number(tree, cell, &rate) || rate < 0)
        return fail_node(tree, cell, "expected a rate in GB/s or N/A", error);
    const double seconds = (double)copy->bytes / (rate * 1e9);
    /* a rate of 0 is a pair without a path */
    return seconds <= 1e9 ? haul_sample_add(list, copy, seconds, error) : HAUL_OK;
}

static haul_status read_case(const haul_tree *tree, haul_tree_node item, double bytes,
                             haul_sample_list *list, haul_error *error)
{
    haul_copy copy = {.bytes = (uint64_t)bytes};
    if (!copy_of_case(haul_tree_text(tree, haul_tree_get(tree, item, "name")), &copy))
        return HAUL_OK;
    const haul_tree_node matrix = haul_tree_get(tree, item, "bandwidth_matrix");
    for (size_t i = 0; i < haul_tree_count(tree, matrix); i++) {
        const haul_tree_node row = haul_tree_item(tree, matrix, i);
        for (size_t j = 0; j < haul_tree_count(tree, row); j++) {
            const haul_tree_node cell = haul_tree_item(tree, row, j);
            const haul_status status = read_cell(tree, cell, &copy, list, error);
            if (status)
                return status;
        }
    }
    return HAUL_OK;
}

static haul_status read_nvbandwidth(const haul_tree *tree, haul_tree_node root,
                                    haul_sample_list *list, haul_error *error)
{
    const haul_tree_node cases = haul_tree_get(tree, root, "testcases");
    const haul_tree_node size = haul_tree_get(tree, root, "bufferSize"); /* in MiB, as its option */
    double bytes = NVBANDWIDTH_BYTES;
    if (size) {
        if (!haul_tree_number(tree, size, &bytes) || bytes <= 0 || bytes > 1e9)
            return fail_node(tree, size, "expected the buffer's size in MiB", error);
        bytes *= 1024 * 1024;
    }
    for (size_t i = 0; i < haul_tree_count(tree, cases); i++) {
        const haul_status status =
            read_case(tree, haul_tree_item(tree, cases, i), bytes, list, error);
        if (status)
            return status;
    }
    if (!list->count)
        return fail_node(tree, root, "no test case of a copy that haul knows", error);
    return HAUL_OK;
}

haul_status haul_samples_read_tree(const haul_tree *tree, haul_sample_list *list, haul_error *error)
{
    const haul_tree_node root = haul_tree_root(tree);
    const haul_tree_node benchmarks = haul_tree_get(tree, root, "benchmarks");
    const haul_tree_node nvbandwidth = haul_tree_get(tree, root, "nvbandwidth");
    if (benchmarks)
        return read_benchmarks(tree, benchmarks, list, error);
    if (nvbandwidth)
        return read_nvbandwidth(tree, nvbandwidth, list, error);
    return fail_node(tree, root, "JSON of neither Google Benchmark nor nvbandwidth", error);
}
