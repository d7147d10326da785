/* Measured copies in the JSON of Google Benchmark, as Comm|Scope and its forerunner SCOPE name
 * their benchmarks, and of nvbandwidth. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_in.h"
#include "base/strings.h"
#include "cost/sample_list.h"

/* nvbandwidth does not write the size of its buffer: this is its default. */
#define NVBANDWIDTH_BYTES (512.0 * 1024 * 1024)

enum { NAME_BYTES = 512 }; /* a longer name is none that is known */

/* A number, or a string that holds one, and where it stands. */
typedef struct field {
    bool given;
    bool is_number;
    double value;
    uint64_t at;
} field;

static field read_field(hl_base_json_in *in)
{
    hl_base_json_text text;
    const hl_base_json_kind kind = hl_base_json_in_scalar(in, &text);
    field self = {.given = kind != HL_JSON_NONE, .at = in->value_at};
    self.is_number = text.length && hl_base_json_double(text, &self.value);
    return self;
}

/* Takes a string of fewer than `size` bytes; another value is "". */
static void read_name(hl_base_json_in *in, char *name, size_t size)
{
    hl_base_json_text text;
    (void)hl_base_json_in_scalar(in, &text);
    const size_t length = text.length < size ? text.length : 0;
    if (length)
        memcpy(name, text.bytes, length);
    name[length] = '\0';
}

/* Rows of Google Benchmark: repetitions are taken, else their medians, else their means.
 */
typedef enum row_kind { OTHER, MEAN, MEDIAN, REPETITION } row_kind;

typedef struct benchmark_row {
    char name[NAME_BYTES];
    char type[16];
    char unit[8];
    field unit_place;
    bool wrong;
    field time;
    field bytes;
    field rate_Bps;
    uint64_t at;
} benchmark_row;

/* By the name's end: early versions of the library write no run_type. */
static row_kind kind_of_row(const benchmark_row *row)
{
    if (!row->name[0] || row->wrong)
        return OTHER;
    if (hl_base_ends_with(row->name, "_median"))
        return MEDIAN;
    if (hl_base_ends_with(row->name, "_mean"))
        return MEAN;
    return !strcmp(row->type, "aggregate") || hl_base_ends_with(row->name, "_stddev") ||
                   hl_base_ends_with(row->name, "_cv")
               ? OTHER
               : REPETITION;
}

/* The ends of a copy in a benchmark's name, "..._PinnedToGPU/0/0/...". "Host" is pageable; copies
 * of write-combining memory ("WC") are not known. */
static const struct ends {
    const char *text;
    haul_direction direction;
    haul_memory memory;
} all_ends[] = {
    {"_PinnedToGPU", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED},
    {"_GPUToPinned", HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED},
    {"_HostToGPU", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE},
    {"_GPUToHost", HAUL_DIRECTION_DTOH, HAUL_MEMORY_PAGEABLE},
    {"_PageableToGPU", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE},
    {"_GPUToPageable", HAUL_DIRECTION_DTOH, HAUL_MEMORY_PAGEABLE},
    {"_GPUToGPU", HAUL_DIRECTION_PTOP, HAUL_MEMORY_DEVICE},
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
        if (hl_base_ends_with(family, all_ends[i].text)) {
            copy->direction = all_ends[i].direction;
            copy->memory = all_ends[i].memory;
            return true;
        }
    return false;
}

/* real_time is that of one iteration, in time_unit. */
static bool read_seconds(hl_base_json_in *in, const benchmark_row *row, double *seconds)
{
    static const struct {
        const char *name;
        double scale;
    } units[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
    if (!row->time.is_number)
        return hl_base_json_in_fail_at(in, row->time.given ? row->time.at : row->at,
                                       "expected a number as real_time");
    const char *unit = row->unit_place.given ? row->unit : "ns"; /* the default of the library */
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(unit, units[i].name)) {
            *seconds = row->time.value * units[i].scale;
            return (*seconds > 0 && *seconds <= 1e9) ||
                   hl_base_json_in_fail_at(in, row->time.at,
                                           "expected a duration above 0 and at most 1e9 s");
        }
    return hl_base_json_in_fail_at(in, row->unit_place.at, "expected ns, us, ms or s as time_unit");
}

/* The counter "bytes"; where it is absent, what the rate and the time make. */
static bool read_bytes(hl_base_json_in *in, const benchmark_row *row, double seconds,
                       uint64_t *bytes)
{
    const field *const counter = row->bytes.given ? &row->bytes : &row->rate_Bps;
    if (!counter->is_number)
        return hl_base_json_in_fail_at(in, row->bytes.given ? row->bytes.at : row->at,
                                       "expected a counter bytes or bytes_per_second");
    const double value = round(row->bytes.given ? counter->value : counter->value * seconds);
    if (!(value >= 0 && value < 0x1p63))
        return hl_base_json_in_fail_at(in, counter->at, "expected bytes from 0 to 2^63-1");
    *bytes = (uint64_t)value;
    return true;
}

/* Keys come in any order, so a row is read whole before any of it is judged. False for what is no
 * object. */
static bool read_row(hl_base_json_in *in, benchmark_row *row)
{
    if (!hl_base_json_in_enter(in, HL_JSON_OBJECT))
        return false;
    row->at = in->value_at;
    for (hl_base_json_text key; hl_base_json_in_key(in, &key);) {
        if (hl_base_json_is(key, "name"))
            read_name(in, row->name, sizeof row->name);
        else if (hl_base_json_is(key, "run_type"))
            read_name(in, row->type, sizeof row->type);
        else if (hl_base_json_is(key, "real_time"))
            row->time = read_field(in);
        else if (hl_base_json_is(key, "bytes"))
            row->bytes = read_field(in);
        else if (hl_base_json_is(key, "bytes_per_second"))
            row->rate_Bps = read_field(in);
        else if (hl_base_json_is(key, "time_unit")) {
            read_name(in, row->unit, sizeof row->unit);
            row->unit_place = (field){.given = true, .at = in->value_at};
        } else {
            row->wrong |=
                hl_base_json_is(key, "error_occurred") && hl_base_json_in_kind(in) == HL_JSON_TRUE;
            hl_base_json_in_skip(in);
        }
    }
    return true;
}

/* Adds the row's copy, unless better ones have been met; the first better one replaces all. */
static haul_status add_row(hl_base_json_in *in, const benchmark_row *row, row_kind *best,
                           hl_cost_sample_list *list, haul_error *error)
{
    const row_kind kind = kind_of_row(row);
    haul_copy copy = {0};
    double seconds = 0;
    if (kind == OTHER || kind < *best)
        return HAUL_OK;
    if (kind > *best)
        list->count = 0;
    *best = kind;
    if (!copy_of_name(row->name, &copy) || !read_seconds(in, row, &seconds) ||
        !read_bytes(in, row, seconds, &copy.bytes))
        return HAUL_OK;
    return hl_cost_sample_add(list, &copy, seconds, error);
}

/* Rows of benchmarks that are no copies are skipped: a suite measures much else. No copy at all is
 * an error. */
static haul_status read_benchmarks(hl_base_json_in *in, hl_cost_sample_list *list,
                                   haul_error *error)
{
    haul_status status = HAUL_OK;
    row_kind best = OTHER;
    (void)hl_base_json_in_kind(in); /* which finds where it is */
    const uint64_t at = in->value_at;
    for (bool is = hl_base_json_in_enter(in, HL_JSON_ARRAY);
         is && !status && hl_base_json_in_item(in);) {
        benchmark_row row = {0};
        if (read_row(in, &row))
            status = add_row(in, &row, &best, list, error);
    }
    if (!status && !list->count)
        (void)hl_base_json_in_fail_at(in, at, "no benchmark of a copy that haul knows");
    return status;
}

/* The cases of nvbandwidth that are copies by the copy engine, one at a time, or with the other
 * direction busy: it tells the rate of the direction that the case is named for. */
static bool copy_of_case(const char *name, haul_copy *copy, haul_condition *condition)
{
    static const struct ends cases[] = {
        {"host_to_device_memcpy_ce", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED},
        {"device_to_host_memcpy_ce", HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED},
        {"device_to_device_memcpy_read_ce", HAUL_DIRECTION_PTOP, HAUL_MEMORY_DEVICE},
        {"device_to_device_memcpy_write_ce", HAUL_DIRECTION_PTOP, HAUL_MEMORY_DEVICE},
    };
    char plain[NAME_BYTES];
    (void)snprintf(plain, sizeof plain, "%s", name);
    char *both_ways = strstr(plain, "_bidirectional");
    /* between GPUs the rate is of both directions together */
    const bool is_busy = both_ways && strncmp(plain, "device_to_device", 16) != 0;
    if (is_busy)
        memmove(both_ways, both_ways + strlen("_bidirectional"),
                strlen(both_ways + strlen("_bidirectional")) + 1);
    *condition = is_busy ? HAUL_CONDITION_BUSY : HAUL_CONDITION_ALONE;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(plain, cases[i].text)) {
            copy->direction = cases[i].direction;
            copy->memory = cases[i].memory;
            return true;
        }
    return false;
}

/* A cell is a rate in GB/s (1000s), or "N/A" for a pair that was not measured. The sample's seconds
 * are those of a byte until the size is known; 0 for a pair without a path, whose rate is 0. */
static haul_status read_cell(hl_base_json_in *in, hl_cost_sample_list *list, haul_error *error)
{
    hl_base_json_text text;
    double rate;
    const haul_copy copy = {0};
    if (hl_base_json_in_scalar(in, &text) == HL_JSON_STRING && hl_base_json_is(text, "N/A"))
        return HAUL_OK;
    if (!text.length || !hl_base_json_double(text, &rate) || rate < 0) {
        (void)hl_base_json_in_fail_at(in, in->value_at, "expected a rate in GB/s or N/A");
        return HAUL_OK;
    }
    return rate > 0 ? hl_cost_sample_add(list, &copy, 1 / (rate * 1e9), error) : HAUL_OK;
}

/* The name may come behind the matrix: then cells are read first and dropped if the case is none
 * that counts. */
static haul_status read_case(hl_base_json_in *in, hl_cost_sample_list *list, haul_error *error)
{
    char name[NAME_BYTES] = "";
    const size_t before = list->count;
    haul_copy copy = {0};
    haul_condition condition;
    haul_status status = HAUL_OK;
    (void)hl_base_json_in_object(in);
    for (hl_base_json_text key; !status && hl_base_json_in_key(in, &key);) {
        if (hl_base_json_is(key, "name"))
            read_name(in, name, sizeof name);
        else if (hl_base_json_is(key, "bandwidth_matrix") &&
                 (!name[0] || copy_of_case(name, &copy, &condition)))
            for (hl_base_json_in_array(in); !status && hl_base_json_in_item(in);)
                for (hl_base_json_in_array(in); !status && hl_base_json_in_item(in);)
                    status = read_cell(in, list, error);
        else
            hl_base_json_in_skip(in);
    }
    if (!copy_of_case(name, &copy, &condition))
        list->count = before;
    for (size_t i = before; i < list->count; i++) {
        list->items[i].copy = copy;
        list->items[i].condition = condition;
    }
    return status;
}

/* The buffer's size may come behind the rates, so samples are made for one byte and scaled at the
 * end. */
static haul_status read_nvbandwidth(hl_base_json_in *in, hl_cost_sample_list *list,
                                    haul_error *error)
{
    haul_status status = HAUL_OK;
    double bytes = NVBANDWIDTH_BYTES;
    (void)hl_base_json_in_object(in);
    const uint64_t at = in->value_at;
    for (hl_base_json_text key; !status && hl_base_json_in_key(in, &key);) {
        if (hl_base_json_is(key, "bufferSize")) { /* in MiB, as its option */
            const field size = read_field(in);
            bytes = size.value * 1024 * 1024;
            if (!size.is_number || size.value <= 0 || size.value > 1e9)
                (void)hl_base_json_in_fail_at(in, size.at, "expected the buffer's size in MiB");
        } else if (hl_base_json_is(key, "testcases")) {
            for (bool is = hl_base_json_in_enter(in, HL_JSON_ARRAY);
                 is && !status && hl_base_json_in_item(in);)
                status = read_case(in, list, error);
        } else {
            hl_base_json_in_skip(in);
        }
    }
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) { /* the samples are of a byte until here */
        haul_sample sample = list->items[i];
        sample.copy.bytes = (uint64_t)bytes;
        sample.seconds *= bytes;
        if (sample.seconds <= 1e9)
            list->items[kept++] = sample;
    }
    list->count = kept;
    if (!status && !list->count)
        (void)hl_base_json_in_fail_at(in, at, "no test case of a copy that haul knows");
    return status;
}

haul_status hl_cost_samples_read_json(const char *text, size_t size, const char *file,
                                      hl_cost_sample_list *list, haul_error *error)
{
    hl_base_json_in in;
    haul_status status = hl_base_json_in_open_memory(&in, file, text, size, error);
    if (!status) {
        /* The keys alone tell whose file it is: neither tool writes a name of its format. */
        bool known = false;
        (void)hl_base_json_in_kind(&in);
        const uint64_t at = in.value_at;
        const bool is_object = hl_base_json_in_enter(&in, HL_JSON_OBJECT);
        for (hl_base_json_text key; is_object && !status && hl_base_json_in_key(&in, &key);) {
            const bool google = hl_base_json_is(key, "benchmarks");
            known |= google || hl_base_json_is(key, "nvbandwidth");
            if (google)
                status = read_benchmarks(&in, list, error);
            else if (hl_base_json_is(key, "nvbandwidth"))
                status = read_nvbandwidth(&in, list, error);
            else
                hl_base_json_in_skip(&in);
        }
        if (!status && !known)
            (void)hl_base_json_in_fail_at(&in, at,
                                          "JSON of neither Google Benchmark nor nvbandwidth");
    }
    if (!status)
        status = hl_base_json_in_end(&in, error);
    hl_base_json_in_close(&in);
    return status;
}
