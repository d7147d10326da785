/* The rows of all that a machine file may hold. */
#include "machine/machine_fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

static const char *const link_kinds[] = {
    [HAUL_LINK_NONE] = NULL, [HAUL_LINK_PCIE] = "pcie",     [HAUL_LINK_NVLINK] = "nvlink",
    [HAUL_LINK_C2C] = "c2c", [HAUL_LINK_FABRIC] = "fabric",
};
static const char *const localities[] = {
    [HAUL_LOCALITY_NEAR] = "near", [HAUL_LOCALITY_FAR] = "far"};

/* `unknown` is a word of profiles, not of machines. */
static const char *const directions[] = {
    [HAUL_DIRECTION_HTOD] = "HtoD", [HAUL_DIRECTION_DTOH] = "DtoH", [HAUL_DIRECTION_DTOD] = "DtoD",
    [HAUL_DIRECTION_PTOP] = "PtoP", [HAUL_DIRECTION_HTOH] = "HtoH",
};
static const char *const memories[] = {
    [HAUL_MEMORY_PAGEABLE] = "pageable", [HAUL_MEMORY_PINNED] = "pinned",
    [HAUL_MEMORY_DEVICE] = "device",     [HAUL_MEMORY_ARRAY] = "array",
    [HAUL_MEMORY_MANAGED] = "managed",   [HAUL_MEMORY_HOST] = "host",
};

/* The macros spell out designated members, so that a row never depends on the order of
 * hl_machine_field. Offsets and kinds are not checked by the compiler against each other: FIGURE is
 * only for members of type haul_parameter. */
#define COUNT(array) (sizeof(array) / sizeof *(array))
#define AT(type, member) .offset = offsetof(type, member)
#define TEXT(type, name, member)                                                                   \
    {                                                                                              \
        .key = name, AT(type, member), .kind = HL_MACHINE_FIELD_TEXT                               \
    }
#define FIGURE(type, name, member, unit, limits)                                                   \
    {                                                                                              \
        .key = name, AT(type, member), .kind = HL_MACHINE_FIELD_PARAMETER,                         \
        .dimension = HAUL_DIM_##unit, .range = HL_MACHINE_RANGE_##limits                           \
    }
#define LINK_FIGURE(name, member, unit, limits, of, must)                                          \
    {                                                                                              \
        .key = name, AT(haul_link, member), .kind = HL_MACHINE_FIELD_PARAMETER,                    \
        .dimension = HAUL_DIM_##unit, .range = HL_MACHINE_RANGE_##limits,                          \
        .links = HL_MACHINE_LINKS_##of, .required = must                                           \
    }
#define WORD(type, name, member, list)                                                             \
    .key = name, AT(type, member), .kind = HL_MACHINE_FIELD_WORD, .words = list,                   \
    .word_count = COUNT(list)

static const hl_machine_field host_fields[] = {
    TEXT(haul_host, "name", name),
    FIGURE(haul_host, "sockets", sockets, NUMBER, COUNT),
    FIGURE(haul_host, "cores", cores, NUMBER, COUNT),
    FIGURE(haul_host, "memory_bandwidth", memory_bandwidth_Bps, RATE, POSITIVE),
    FIGURE(haul_host, "copy_rate", copy_rate_Bps, RATE, POSITIVE),
    FIGURE(haul_host, "cached_copy_rate", cached_copy_rate_Bps, RATE, POSITIVE),
    FIGURE(haul_host, "cache", cache_bytes, BYTES, POSITIVE),
};

/* The order is the one in which files are written, shown and compared. */
static const hl_machine_field gpu_fields[] = {
    TEXT(haul_gpu, "name", name),
    TEXT(haul_gpu, "architecture", architecture),
    FIGURE(haul_gpu, "count", count, NUMBER, COUNT),
    FIGURE(haul_gpu, "per_link", per_link, NUMBER, COUNT),
    FIGURE(haul_gpu, "multiprocessors", multiprocessors, NUMBER, COUNT),
    FIGURE(haul_gpu, "cores", cores, NUMBER, COUNT),
    FIGURE(haul_gpu, "clock", clock_Hz, HERTZ, POSITIVE),
    FIGURE(haul_gpu, "base_clock", base_clock_Hz, HERTZ, POSITIVE),
    FIGURE(haul_gpu, "memory", memory_bytes, BYTES, POSITIVE),
    FIGURE(haul_gpu, "memory_bandwidth", memory_bandwidth_Bps, RATE, POSITIVE),
    FIGURE(haul_gpu, "memory_bus", memory_bus, NUMBER, COUNT),
    FIGURE(haul_gpu, "memory_data_rate", memory_data_rate_Hz, HERTZ, POSITIVE),
    FIGURE(haul_gpu, "inline_ecc", inline_ecc, NUMBER, FLAG),
    FIGURE(haul_gpu, "l2", l2_bytes, BYTES, POSITIVE),
    FIGURE(haul_gpu, "memory_partitions", memory_partitions, NUMBER, COUNT),
    FIGURE(haul_gpu, "fp64", fp64_flops, FLOPS, POSITIVE),
    FIGURE(haul_gpu, "fp32", fp32_flops, FLOPS, POSITIVE),
    FIGURE(haul_gpu, "tensor_fp64", tensor_flops[HAUL_PRECISION_FP64], FLOPS, POSITIVE),
    FIGURE(haul_gpu, "tensor_fp32", tensor_flops[HAUL_PRECISION_FP32], FLOPS, POSITIVE),
    FIGURE(haul_gpu, "tensor_tf32", tensor_flops[HAUL_PRECISION_TF32], FLOPS, POSITIVE),
    FIGURE(haul_gpu, "tensor_fp16", tensor_flops[HAUL_PRECISION_FP16], FLOPS, POSITIVE),
    FIGURE(haul_gpu, "tensor_bf16", tensor_flops[HAUL_PRECISION_BF16], FLOPS, POSITIVE),
    FIGURE(haul_gpu, "tensor_fp8", tensor_flops[HAUL_PRECISION_FP8], FLOPS, POSITIVE),
    FIGURE(haul_gpu, "tensor_int8", tensor_flops[HAUL_PRECISION_INT8], FLOPS, POSITIVE),
    FIGURE(haul_gpu, "tensor_fp4", tensor_flops[HAUL_PRECISION_FP4], FLOPS, POSITIVE),
    FIGURE(haul_gpu, "copy_engines", copy_engines, NUMBER, COUNT),
    FIGURE(haul_gpu, "implicit_sync", implicit_sync, NUMBER, FLAG),
    FIGURE(haul_gpu, "launch_latency", launch_latency_s, SECONDS, FROM_ZERO),
    FIGURE(haul_gpu, "kernel_gap", kernel_gap_s, SECONDS, FROM_ZERO),
    FIGURE(haul_gpu, "memory_gap", memory_gap_s, SECONDS, FROM_ZERO),
    FIGURE(haul_gpu, "queue_gap", queue_gap_s, SECONDS, FROM_ZERO),
    FIGURE(haul_gpu, "queue_depth", queue_depth, NUMBER, COUNT),
    FIGURE(haul_gpu, "product_fp64", product_flops[HAUL_PRECISION_FP64], FLOPS, POSITIVE),
    FIGURE(haul_gpu, "product_fp32", product_flops[HAUL_PRECISION_FP32], FLOPS, POSITIVE),
    FIGURE(haul_gpu, "product_tf32", product_flops[HAUL_PRECISION_TF32], FLOPS, POSITIVE),
    FIGURE(haul_gpu, "product_fp16", product_flops[HAUL_PRECISION_FP16], FLOPS, POSITIVE),
    FIGURE(haul_gpu, "product_bf16", product_flops[HAUL_PRECISION_BF16], FLOPS, POSITIVE),
    FIGURE(haul_gpu, "product_fp8", product_flops[HAUL_PRECISION_FP8], FLOPS, POSITIVE),
    FIGURE(haul_gpu, "product_int8", product_flops[HAUL_PRECISION_INT8], FLOPS, POSITIVE),
    FIGURE(haul_gpu, "product_fp4", product_flops[HAUL_PRECISION_FP4], FLOPS, POSITIVE),
    FIGURE(haul_gpu, "stream_bandwidth", stream_Bps, RATE, POSITIVE),
    FIGURE(haul_gpu, "l2_rate", l2_Bps, RATE, POSITIVE),
};

/* A link is PCIe or another kind; HL_MACHINE_LINKS_* of a row says for which it has a meaning, and
 * `required` holds for those alone (see check_fields in machine_read.c). */
static const hl_machine_field link_fields[] = {
    {WORD(haul_link, "kind", kind, link_kinds), .required = true},
    LINK_FIGURE("generation", generation, NUMBER, GENERATION, PCIE, true),
    LINK_FIGURE("lanes", lanes, NUMBER, COUNT, PCIE, true),
    LINK_FIGURE("links", links, NUMBER, COUNT, OTHER, true),
    LINK_FIGURE("link_rate", link_rate_Bps, RATE, POSITIVE, OTHER, true),
    LINK_FIGURE("payload", payload_bytes, BYTES, POSITIVE, ANY, false),
    LINK_FIGURE("read_request", read_request_bytes, BYTES, POSITIVE, PCIE, false),
    LINK_FIGURE("read_completion", read_completion_bytes, BYTES, POSITIVE, PCIE, false),
    LINK_FIGURE("header", header_bytes, BYTES, FROM_ZERO, OTHER, false),
    LINK_FIGURE("ack_share", ack_share, NUMBER, SHARE, ANY, false),
};

/* The first three name the curve. `locality` is left out of files where it is "near". */
static const hl_machine_field curve_fields[] = {
    {WORD(haul_copy_curve, "direction", direction, directions), .required = true},
    {WORD(haul_copy_curve, "memory", memory, memories), .required = true},
    {WORD(haul_copy_curve, "locality", locality, localities), .is_default = true},
    FIGURE(haul_copy_curve, "latency", latency_s, SECONDS, FROM_ZERO),
    FIGURE(haul_copy_curve, "call_latency", call_latency_s, SECONDS, FROM_ZERO),
    FIGURE(haul_copy_curve, "rate", rate_Bps, RATE, POSITIVE),
    FIGURE(haul_copy_curve, "gap", gap_s, SECONDS, FROM_ZERO),
    FIGURE(haul_copy_curve, "busy_rate", busy_rate_Bps, RATE, POSITIVE),
    FIGURE(haul_copy_curve, "mapped_rate", mapped_rate_Bps, RATE, POSITIVE),
    FIGURE(haul_copy_curve, "threshold", threshold_bytes, BYTES, FROM_ZERO),
    FIGURE(haul_copy_curve, "small_rate", small_rate_Bps, RATE, POSITIVE),
    FIGURE(haul_copy_curve, "chunk", chunk_bytes, BYTES, POSITIVE),
    FIGURE(haul_copy_curve, "host_rate", host_rate_Bps, RATE, POSITIVE),
    FIGURE(haul_copy_curve, "cache", cache_bytes, BYTES, POSITIVE),
    FIGURE(haul_copy_curve, "memory_rate", memory_rate_Bps, RATE, POSITIVE),
    FIGURE(haul_copy_curve, "shared_latency", shared_latency_s, SECONDS, FROM_ZERO),
    FIGURE(haul_copy_curve, "shared_rate", shared_rate_Bps, RATE, POSITIVE),
    FIGURE(haul_copy_curve, "latency_uncertainty", latency_uncertainty, NUMBER, FROM_ZERO),
    FIGURE(haul_copy_curve, "rate_uncertainty", rate_uncertainty, NUMBER, FROM_ZERO),
    {.key = "points", AT(haul_copy_curve, points_from), .kind = HL_MACHINE_FIELD_POINTS},
};

static const char *const precisions[] = {
    [HAUL_PRECISION_FP64] = "fp64", [HAUL_PRECISION_FP32] = "fp32", [HAUL_PRECISION_TF32] = "tf32",
    [HAUL_PRECISION_FP16] = "fp16", [HAUL_PRECISION_BF16] = "bf16", [HAUL_PRECISION_FP8] = "fp8",
    [HAUL_PRECISION_INT8] = "int8", [HAUL_PRECISION_FP4] = "fp4",
};

static const char *const message_memories[] = {
    [HAUL_MEMORY_DEVICE] = "device", [HAUL_MEMORY_HOST] = "host"};
static const char *const reaches[] = {[HAUL_REACH_ON_SOCKET] = "socket",
                                      [HAUL_REACH_ON_NODE] = "node",
                                      [HAUL_REACH_BETWEEN_NODES] = "network"};

/* A figure that an item is named by. */
#define NAMING_FIGURE(type, name, member, unit, limits)                                            \
    {                                                                                              \
        .key = name, AT(type, member), .kind = HL_MACHINE_FIELD_PARAMETER,                         \
        .dimension = HAUL_DIM_##unit, .range = HL_MACHINE_RANGE_##limits, .required = true,        \
        .is_name = true                                                                            \
    }

/* `above`, the size from which the protocol holds, is part of an item's name: MPI switches from
 * short to eager to rendezvous by size, so one memory and reach have several rows. */
static const hl_machine_field message_fields[] = {
    {WORD(haul_message_protocol, "memory", memory, message_memories), .required = true},
    {WORD(haul_message_protocol, "reach", reach, reaches), .required = true},
    NAMING_FIGURE(haul_message_protocol, "above", from_bytes, BYTES, FROM_ZERO),
    FIGURE(haul_message_protocol, "most", most_bytes, BYTES, POSITIVE),
    {.key = "latency",
     AT(haul_message_protocol, latency_s),
     .kind = HL_MACHINE_FIELD_PARAMETER,
     .dimension = HAUL_DIM_SECONDS,
     .range = HL_MACHINE_RANGE_FROM_ZERO,
     .required = true},
    FIGURE(haul_message_protocol, "rate", rate_Bps, RATE, POSITIVE),
    FIGURE(haul_message_protocol, "gap", gap_s, SECONDS, FROM_ZERO),
    FIGURE(haul_message_protocol, "error", error, NUMBER, FROM_ZERO),
    {.key = "points",
     AT(haul_message_protocol, points_from),
     .kind = HL_MACHINE_FIELD_POINTS,
     .may_fall = true},
};

/* Measured injection limits (R_N of Bienz's max-rate model) differ by how many processes of a node
 * send, so that their number names the row. */
static const hl_machine_field injection_fields[] = {
    {WORD(haul_injection, "memory", memory, message_memories), .required = true},
    NAMING_FIGURE(haul_injection, "processes", processes, NUMBER, COUNT),
    {.key = "rate",
     AT(haul_injection, rate_Bps),
     .kind = HL_MACHINE_FIELD_PARAMETER,
     .dimension = HAUL_DIM_RATE,
     .range = HL_MACHINE_RANGE_POSITIVE,
     .required = true},
};

/* All but the time name the product. */
static const hl_machine_field product_fields[] = {
    {WORD(haul_product_time, "precision", precision, precisions), .required = true},
    NAMING_FIGURE(haul_product_time, "batch", batch, NUMBER, COUNT),
    NAMING_FIGURE(haul_product_time, "rows", rows, NUMBER, COUNT),
    NAMING_FIGURE(haul_product_time, "columns", columns, NUMBER, COUNT),
    NAMING_FIGURE(haul_product_time, "inner", inner, NUMBER, COUNT),
    {.key = "time",
     AT(haul_product_time, time_s),
     .kind = HL_MACHINE_FIELD_PARAMETER,
     .dimension = HAUL_DIM_SECONDS,
     .range = HL_MACHINE_RANGE_POSITIVE,
     .required = true},
};

static const hl_machine_yaml_mapping host_mapping = {"host", host_fields, COUNT(host_fields),
                                                     false};
static const hl_machine_yaml_mapping gpu_mapping = {"gpu", gpu_fields, COUNT(gpu_fields), false};
static const hl_machine_yaml_mapping link_mapping = {"link", link_fields, COUNT(link_fields), true};
static const hl_machine_yaml_mapping peer_mapping = {"peer", link_fields, COUNT(link_fields), true};
const hl_machine_yaml_mapping hl_machine_curve_mapping = {"copies", curve_fields,
                                                          COUNT(curve_fields), false};
static const hl_machine_yaml_mapping message_mapping = {"messages", message_fields,
                                                        COUNT(message_fields), false};
static const hl_machine_yaml_mapping injection_mapping = {"injection", injection_fields,
                                                          COUNT(injection_fields), false};

static const hl_machine_yaml_mapping product_mapping = {"products", product_fields,
                                                        COUNT(product_fields), false};

#define MAPPING(name, member, of)                                                                  \
    {                                                                                              \
        .key = name, AT(haul_machine, member), .kind = HL_MACHINE_FIELD_MAPPING, .mapping = &(of)  \
    }

#define LIST(name, member, number, of)                                                             \
    {                                                                                              \
        .key = name, AT(haul_machine, member), .kind = HL_MACHINE_FIELD_LIST, .mapping = &(of),    \
        .count_offset = offsetof(haul_machine, number),                                            \
        .item_size = sizeof *((haul_machine *)0)->member                                           \
    }

static const hl_machine_field machine_fields[] = {
    {.key = "haul", .kind = HL_MACHINE_FIELD_VERSION, .required = true},
    {.key = "name", AT(haul_machine, name), .kind = HL_MACHINE_FIELD_NAME, .required = true},
    {.key = "summary", AT(haul_machine, summary), .kind = HL_MACHINE_FIELD_TEXT, .required = true},
    MAPPING("host", host, host_mapping),
    MAPPING("gpu", gpu, gpu_mapping),
    MAPPING("link", link, link_mapping),
    MAPPING("peer", peer, peer_mapping),
    LIST("copies", copies, copy_count, hl_machine_curve_mapping),
    LIST("messages", messages, message_count, message_mapping),
    LIST("injection", injection, injection_count, injection_mapping),
    LIST("products", products, product_count, product_mapping),
};

const hl_machine_yaml_mapping hl_machine_mapping = {"machine", machine_fields,
                                                    COUNT(machine_fields), false};

#define POINTS_ARE_TOGETHER(type)                                                                  \
    _Static_assert(offsetof(type, points) - offsetof(type, points_from) ==                         \
                       offsetof(hl_machine_points, at),                                            \
                   "a POINTS field is an hl_machine_points")
POINTS_ARE_TOGETHER(haul_copy_curve);
POINTS_ARE_TOGETHER(haul_message_protocol);
_Static_assert(COUNT(gpu_fields) <= HL_MACHINE_FIELDS_MOST &&
                   COUNT(curve_fields) <= HL_MACHINE_FIELDS_MOST,
               "a mapping has room for its fields");
/* Fields of words are copied and compared as int; a compiler may choose a smaller type for an
 * enumeration. */
_Static_assert(sizeof(haul_direction) == sizeof(int) && sizeof(haul_memory) == sizeof(int) &&
                   sizeof(haul_locality) == sizeof(int) && sizeof(haul_reach) == sizeof(int) &&
                   sizeof(haul_link_kind) == sizeof(int) && sizeof(haul_precision) == sizeof(int),
               "words are kept as int");

hl_machine_parameter_limits hl_machine_field_limits(const hl_machine_field *field)
{
    /* the least that means anything, and far above any machine */
    static const hl_machine_parameter_limits by_dimension[] = {
        [HAUL_DIM_NUMBER] = {1e-9, 1e9, false},   [HAUL_DIM_BYTES] = {1, 0x1p60, false},
        [HAUL_DIM_SECONDS] = {1e-15, 1e6, false}, [HAUL_DIM_RATE] = {1, 1e18, false},
        [HAUL_DIM_HERTZ] = {1, 1e15, false},      [HAUL_DIM_FLOPS] = {1, 1e21, false},
    };
    const hl_machine_parameter_limits own = by_dimension[field->dimension];
    switch (field->range) {
    case HL_MACHINE_RANGE_FROM_ZERO:
        return (hl_machine_parameter_limits){0, own.most, false};
    case HL_MACHINE_RANGE_COUNT:
        return (hl_machine_parameter_limits){1, own.most, true};
    case HL_MACHINE_RANGE_FLAG:
        return (hl_machine_parameter_limits){0, 1, true};
    case HL_MACHINE_RANGE_GENERATION:
        /* Generation 7 has no row in machine.c's table of lane rates yet. */
        return (hl_machine_parameter_limits){1, 6, true};
    case HL_MACHINE_RANGE_SHARE:
        /* A share of 1 would leave the link no bandwidth for data. */
        return (hl_machine_parameter_limits){0, 0.999, false};
    default:
        return own;
    }
}

const char *hl_machine_field_word(const hl_machine_field *field, const void *at)
{
    int word;
    memcpy(&word, at, sizeof word);
    return word >= 0 && word < field->word_count ? field->words[word] : NULL;
}

const char *hl_machine_item_name(const hl_machine_field *list, const void *item,
                                 char text[HL_MACHINE_ITEM_NAME_BYTES])
{
    size_t used = (size_t)snprintf(text, HL_MACHINE_ITEM_NAME_BYTES, "%s[", list->key);
    const char *blank = "";
    for (size_t i = 0; i < list->mapping->count; i++) {
        const hl_machine_field *field = &list->mapping->fields[i];
        const void *at = hl_machine_field_at(field, item);
        char number[32];
        const char *part = NULL;
        if (field->kind == HL_MACHINE_FIELD_WORD)
            /* A word that is not set has none, and the item is named without it. */
            part = hl_machine_field_word(field, at);
        else if (field->is_name)
            part = hl_machine_parameter_format(((const haul_parameter *)at)->value,
                                               field->dimension, 6, number, sizeof number);
        /* The usual locality is left out: copies[HtoD pinned]; only the far one is named. */
        if (!part || used >= HL_MACHINE_ITEM_NAME_BYTES ||
            (field->is_default && part == field->words[0]))
            continue;
        used +=
            (size_t)snprintf(text + used, HL_MACHINE_ITEM_NAME_BYTES - used, "%s%s", blank, part);
        blank = " ";
    }
    if (used < HL_MACHINE_ITEM_NAME_BYTES)
        snprintf(text + used, HL_MACHINE_ITEM_NAME_BYTES - used, "]");
    return text;
}

char *hl_machine_parameter_format(double value, haul_dimension dimension, int digits, char *buffer,
                                  size_t size)
{
    /* Makers give memory in powers of 1000 ("80 GB") and caches in powers of 1024; a size that is
     * whole in MiB is taken for one of the latter. */
    const bool decimal = value >= 1e6 && fmod(value, 1e6) == 0 && fmod(value, 1 << 20) != 0;
    if (dimension != HAUL_DIM_BYTES || !decimal)
        return haul_quantity_format(value, dimension, digits, buffer, size);
    const bool giga = value >= 1e9;
    snprintf(buffer, size, "%.*g %s", digits, value / (giga ? 1e9 : 1e6), giga ? "GB" : "MB");
    return buffer;
}

bool hl_machine_name_ok(const char *name)
{
    /* Names are file names and options: no blanks, no case, nothing that a shell or a path treats
     * specially, and no leading '-'. */
    enum { LONGEST = 64 };
    const size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");
    return length && length <= LONGEST && !name[length] && name[0] != '-';
}

/* C0 and C1 controls, the line and paragraph separators, the byte order mark and its mirror: valid
 * UTF-8 that YAML does not carry as it is. */
int hl_machine_text_length(const char *text)
{
    /* U+2028, U+2029, U+FEFF, U+FFFE and U+FFFF. */
    static const char *const refused[] = {"\xe2\x80\xa8", "\xe2\x80\xa9", "\xef\xbb\xbf",
                                          "\xef\xbf\xbe", "\xef\xbf\xbf"};
    const unsigned char first = (unsigned char)text[0];
    if (first < 0x20 || first == 0x7f || (first == 0xc2 && (unsigned char)text[1] < 0xa0))
        return 0;
    for (size_t i = 0; i < COUNT(refused); i++)
        if (!strncmp(text, refused[i], 3))
            return 0;
    return hl_base_utf8_length(text);
}

typedef struct walker {
    hl_machine_field_visitor visit;
    void *state;
} walker;

static int walk_mapping(const walker *self, const hl_machine_yaml_mapping *mapping,
                        const void *base, const char *prefix);

static int walk_list(const walker *self, const hl_machine_field *field, const void *base)
{
    for (size_t i = 0; i < hl_machine_list_count(field, base); i++) {
        const void *item = hl_machine_list_item(field, base, i);
        /* One byte more than the name, for the point behind it. */
        char name[HL_MACHINE_ITEM_NAME_BYTES], prefix[HL_MACHINE_ITEM_NAME_BYTES + 1];
        snprintf(prefix, sizeof prefix, "%s.", hl_machine_item_name(field, item, name));
        const int stop = walk_mapping(self, field->mapping, item, prefix);
        if (stop)
            return stop;
    }
    return 0;
}

static int walk_mapping(const walker *self, const hl_machine_yaml_mapping *mapping,
                        const void *base, const char *prefix)
{
    for (size_t i = 0; i < mapping->count; i++) {
        const hl_machine_field *field = &mapping->fields[i];
        const bool nested = field->kind == HL_MACHINE_FIELD_MAPPING;
        char path[160];
        int stop = 0;
        snprintf(path, sizeof path, "%s%s%s", prefix, field->key, nested ? "." : "");
        /* Lists first: their items name themselves, so the key's own path is not used for them. */
        if (field->kind == HL_MACHINE_FIELD_LIST)
            stop = walk_list(self, field, base);
        else if (nested)
            stop = walk_mapping(self, field->mapping, hl_machine_field_at(field, base), path);
        else if (field->kind != HL_MACHINE_FIELD_VERSION)
            stop = self->visit(self->state, path, field, hl_machine_field_at(field, base));
        if (stop)
            return stop;
    }
    return 0;
}

int hl_machine_walk(const haul_machine *machine, hl_machine_field_visitor visit, void *state)
{
    const walker self = {visit, state};
    return walk_mapping(&self, &hl_machine_mapping, machine, "");
}
