/* Classes of kernels by their names: parts of a name are sought one behind the other, so that the
 * time is linear whatever the pattern and the name. */
#include "haul/kernel_class.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/grow.h"
#include "base/textfile.h"
#include "haul/csv.h"

/* 64 MiB: far more rows than any table of names has. */
enum { FILE_BYTES = 1 << 26, PART_MOST = 256 };

/* A user's table. Texts of the rows are in the arena. */
struct haul_kernel_classes {
    hl_base_arena arena;
    haul_kernel_class_row *rows;
    size_t count;
    size_t capacity;
};

static const char *const class_texts[] = {HAUL_KERNEL_CLASS_LIST(HAUL_ROW_TEXT)};

static const char *const precision_texts[] = {HAUL_PRECISION_LIST(HAUL_ROW_TEXT)};

const char *haul_kernel_class_text(haul_kernel_class kind)
{
    return (unsigned)kind < HAUL_KERNEL_CLASSES ? class_texts[kind] : "unknown";
}

const char *haul_precision_text(haul_precision precision)
{
    return (unsigned)precision < HAUL_PRECISIONS ? precision_texts[precision] : "";
}

/* --- matching */

/* Parts are short: what haul has, and at most PART_MOST bytes of a user's. */
static const char *find_part(const char *text, const char *part, size_t length)
{
    for (; (text = strchr(text, *part)); text++)
        if (!strncmp(text, part, length))
            return text;
    return NULL;
}

/* Takes the first place of each part: a later one would leave less of the name for the parts that
 * follow, so there is no need to go back. */
static bool matches(const char *name, const char *pattern)
{
    while (*pattern) {
        const size_t length = strcspn(pattern, "*");
        name = length ? find_part(name, pattern, length) : name;
        if (!name)
            return false;
        name += length;
        pattern += length + (pattern[length] == '*');
    }
    return true;
}

/* Parts of names that tell the precision of a product, a convolution or attention; the first that
 * matches counts. cuBLAS and CUTLASS name the instruction ("s16816": sums in fp32, 16 x 8 x 16) and
 * the operands where they are not fp32; of "s1688gemm_" without them the operands are TF32 on
 * tensor cores. Tensile names types by letters behind the indices: H, B, S, D, F8, I8. */
static const struct {
    const char *pattern;
    haul_precision precision;
} precision_rows[] = {
    {"e2m1", HAUL_PRECISION_FP4},
    {"nvfp4", HAUL_PRECISION_FP4},
    {"mxf4", HAUL_PRECISION_FP4},
    {"fp4", HAUL_PRECISION_FP4},
    {"e4m3", HAUL_PRECISION_FP8},
    {"e5m2", HAUL_PRECISION_FP8},
    {"fp8", HAUL_PRECISION_FP8},
    {"float8", HAUL_PRECISION_FP8},
    {"Cijk_*_F8", HAUL_PRECISION_FP8},
    {"imma", HAUL_PRECISION_INT8},
    {"i8i8", HAUL_PRECISION_INT8},
    {"_s8_", HAUL_PRECISION_INT8},
    {"i16832gemm", HAUL_PRECISION_INT8},
    {"i8816gemm", HAUL_PRECISION_INT8},
    {"int8", HAUL_PRECISION_INT8},
    {"Cijk_*_I8", HAUL_PRECISION_INT8},
    {"bf16", HAUL_PRECISION_BF16},
    {"bfloat16", HAUL_PRECISION_BF16},
    {"BFloat16", HAUL_PRECISION_BF16},
    {"Cijk_*_B_BS_", HAUL_PRECISION_BF16},
    {"Cijk_*_BBS_", HAUL_PRECISION_BF16},
    {"Cijk_*_BSS_", HAUL_PRECISION_BF16},
    {"Cijk_*_BB_", HAUL_PRECISION_BF16},
    {"Cijk_*_HHS_", HAUL_PRECISION_FP16},
    {"Cijk_*_HSS_", HAUL_PRECISION_FP16},
    {"Cijk_*_HB_", HAUL_PRECISION_FP16},
    {"Cijk_*_H_", HAUL_PRECISION_FP16},
    {"Cijk_*_HH_", HAUL_PRECISION_FP16},
    {"Cijk_*_DB_", HAUL_PRECISION_FP64},
    {"Cijk_*_D_", HAUL_PRECISION_FP64},
    {"Cijk_*_S_X", HAUL_PRECISION_TF32},
    {"Cijk_*_SB_", HAUL_PRECISION_FP32},
    {"Cijk_*_S_", HAUL_PRECISION_FP32},
    {"fp16", HAUL_PRECISION_FP16},
    {"f16f16", HAUL_PRECISION_FP16},
    {"_f16_", HAUL_PRECISION_FP16},
    {"__half", HAUL_PRECISION_FP16},
    {"half_t", HAUL_PRECISION_FP16},
    {"_Float16", HAUL_PRECISION_FP16},
    {"c10::Half", HAUL_PRECISION_FP16},
    {"hgemm", HAUL_PRECISION_FP16},
    {"hcudnn", HAUL_PRECISION_FP16},
    {"h884", HAUL_PRECISION_FP16},
    {"s884", HAUL_PRECISION_FP16},
    {"h1688", HAUL_PRECISION_FP16},
    {"h16816", HAUL_PRECISION_FP16},
    {"s16816gemm_f16", HAUL_PRECISION_FP16},
    {"tf32", HAUL_PRECISION_TF32},
    {"tensorop_s1688", HAUL_PRECISION_TF32},
    {"dgemm", HAUL_PRECISION_FP64},
    {"d884", HAUL_PRECISION_FP64},
    {"dsy", HAUL_PRECISION_FP64},
    {"f64", HAUL_PRECISION_FP64},
    {"double", HAUL_PRECISION_FP64},
    {"gemm_d", HAUL_PRECISION_FP64},
    {"sgemm", HAUL_PRECISION_FP32},
    {"gcgemm", HAUL_PRECISION_FP32},
    {"scudnn", HAUL_PRECISION_FP32},
    {"fp32", HAUL_PRECISION_FP32},
    {"f32f32", HAUL_PRECISION_FP32},
    {"_f32_", HAUL_PRECISION_FP32},
    {"float", HAUL_PRECISION_FP32},
};

/* Of kernels over rows: ATen's softmax goes over a row for the maximum, the sum and the result, but
 * over rows that registers or shared memory hold once (SoftMax.cu, PersistentSoftmax.cuh), as
 * Inductor's persistent reductions ("triton_per_"); its normalisation of layers for the moments and
 * the result (layer_norm_kernel.cu). Where registers or shared memory hold no row, or the version
 * is an older one, softmax goes over it as often as without them. */
static const struct {
    const char *pattern;
    unsigned char reads;
    unsigned char most_reads;
} reads_rows[] = {
    {"triton_per_", 1, 1},          {"softmax_warp", 1, 1},        {"SoftMaxForwardReg", 1, 3},
    {"SoftMaxForwardSmem", 1, 3},   {"SoftMaxBackwardSmem", 1, 2}, {"cunn_SoftMaxForward", 3, 3},
    {"cunn_SoftMaxBackward", 2, 2}, {"layer_norm", 2, 2},          {"LayerNormForward", 1, 1},
};

/* Of streaming kernels: how many bytes cross the memory's bus depends on what the indices are. */
static const char *const scattered_rows[] = {
    "index",   "Index",   "indices",  "embedding", "gather", "Gather",
    "scatter", "Scatter", "permute_", "sort",      "Sort",
};

static bool is_scattered(const char *name)
{
    bool found = false;
    for (size_t i = 0; i < sizeof scattered_rows / sizeof *scattered_rows && !found; i++)
        found = matches(name, scattered_rows[i]);
    return found;
}

/* Smaller pairs are other shapes, such as Winograd's "f2x3". */
static bool is_tile_side(long side)
{
    enum { LEAST = 8, MOST = 512 };
    return side >= LEAST && side <= MOST;
}

/* The first two numbers with an 'x' between them that can be a tile's sides: "128x64". */
static void find_tile(const char *name, unsigned tile[2])
{
    enum { DIGITS = 3 };
    for (const char *at = name; (at = strchr(at, 'x')); at++) {
        const char *first = at;
        while (first > name && at - first < DIGITS && isdigit((unsigned char)first[-1]))
            first--;
        if (first == at || !isdigit((unsigned char)at[1]))
            continue;
        const long m = strtol(first, NULL, 10), n = strtol(at + 1, NULL, 10);
        if (!is_tile_side(m) || !is_tile_side(n))
            continue;
        tile[0] = (unsigned)m;
        tile[1] = (unsigned)n;
        return;
    }
}

/* The first row that matches, so that a table puts its more telling patterns first. In haul's own
 * (kernels/classes.csv) that is the form of Inductor's kernels: their names list the operators that
 * are fused, such as a convolution whose bias a pointwise kernel adds. */
static const haul_kernel_class_row *row_of(const char *name, const haul_kernel_class_row *rows,
                                           size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (matches(name, rows[i].pattern))
            return &rows[i];
    return NULL;
}

/* A user's rows go before haul's. A row's own precision goes before that of the name, and only
 * classes whose rate depends on it look for one. */
haul_kernel_kind haul_kernel_kind_of(const char *name, const haul_kernel_classes *own)
{
    haul_kernel_kind found = {0};
    const haul_kernel_class_row *row = own ? row_of(name, own->rows, own->count) : NULL;
    found.is_users = row;
    if (!row) {
        size_t count;
        const haul_kernel_class_row *rows = haul_kernel_class_rows(&count);
        row = row_of(name, rows, count);
    }
    if (!row)
        return found;
    found.kind = row->kind;
    found.pattern = row->pattern;
    found.source = row->source;
    found.precision = row->precision;
    found.is_scattered = row->kind == HAUL_KERNEL_CLASS_STREAMING && is_scattered(name);
    for (size_t i = 0; row->kind == HAUL_KERNEL_CLASS_ROWS && !found.reads &&
                       i < sizeof reads_rows / sizeof *reads_rows;
         i++)
        if (matches(name, reads_rows[i].pattern)) {
            found.reads = reads_rows[i].reads;
            found.most_reads = reads_rows[i].most_reads;
        }
    if (row->kind != HAUL_KERNEL_CLASS_PRODUCT && row->kind != HAUL_KERNEL_CLASS_CONVOLUTION &&
        row->kind != HAUL_KERNEL_CLASS_ATTENTION)
        return found;
    find_tile(name, found.tile);
    /* cuBLAS's for one architecture, up to CUDA 11 ("volta_sgemm_128x64_nn"): fewer than CUTLASS
     * makes ("sm80_xmma_gemm_...", "cutlass_80_simt_sgemm_...") */
    static const char family[] = "_sgemm_";
    const size_t architecture = strspn(name, "abcdefghijklmnopqrstuvwxyz");
    found.has_few_tiles = !strncmp(name + architecture, family, sizeof family - 1);
    for (size_t i = 0; !found.precision && i < sizeof precision_rows / sizeof *precision_rows; i++)
        if (matches(name, precision_rows[i].pattern)) {
            found.precision = precision_rows[i].precision;
            found.precision_pattern = precision_rows[i].pattern;
        }
    return found;
}

/* --- a user's table */

/* The place of a text among some, or -1; an error at the field where it has none. */
static int word_of(const char *text, const char *what, const char *const *words, int count,
                   haul_error *error)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(words[i], text))
            return i;
    char names[200] = "";
    size_t used = 0;
    for (int i = 0; i < count && used < sizeof names; i++)
        if (*words[i])
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                                     words[i]);
    haul_error_set(error, HAUL_STATUS_BAD_INPUT, "no %s '%.60s': %s", what, text, names);
    return -1;
}

/* Columns of a user's table. The first two are required. */
enum { PATTERN, CLASS, PRECISION, SOURCE, COLUMNS };

/* `wrong` is the column that the error is about. */
static haul_status add_row(haul_kernel_classes *self, const char *const *texts, int *wrong,
                           haul_error *error)
{
    const int kind = word_of(texts[CLASS], "class", class_texts, HAUL_KERNEL_CLASSES, error);
    const int precision =
        kind < 0 ? 0
                 : word_of(texts[PRECISION], "precision", precision_texts, HAUL_PRECISIONS, error);
    *wrong = kind < 0 ? CLASS : precision < 0 ? PRECISION : PATTERN;
    if (kind < 0 || precision < 0)
        return HAUL_STATUS_BAD_INPUT;
    if (strspn(texts[PATTERN], "* ") == strlen(texts[PATTERN]))
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "expected a part of a kernel's name as pattern");
    if (strlen(texts[PATTERN]) > PART_MOST)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "expected a pattern of at most %d bytes", PART_MOST);
    const haul_kernel_class_row row = {
        .pattern = hl_base_arena_string(&self->arena, texts[PATTERN]),
        .kind = (haul_kernel_class)kind,
        .precision = (haul_precision)precision,
        .source = hl_base_arena_string(&self->arena, texts[SOURCE]),
    };
    if (!row.pattern || !row.source ||
        !hl_base_grow(&self->rows, &self->capacity, self->count + 1, sizeof *self->rows))
        return hl_base_fail_no_memory(error);
    self->rows[self->count++] = row;
    return HAUL_OK;
}

/* An unknown class or precision is an error at its field, so that a typing mistake is not taken for
 * a kernel of no class. */
static haul_status read_rows(haul_csv *csv, haul_kernel_classes *self, haul_error *error)
{
    static const char *const names[] = {"pattern", "class", "precision", "source"};
    size_t columns[COLUMNS];
    const char *const *fields = NULL;
    haul_status status = HAUL_OK;
    for (int i = 0; !status && i < COLUMNS; i++) {
        columns[i] = HAUL_CSV_COLUMNS;
        status = haul_csv_find(csv, names[i], &columns[i], i < PRECISION ? error : NULL);
        status = i < PRECISION ? status : HAUL_OK;
    }
    while (!status && !(status = haul_csv_next(csv, &fields, error)) && fields) {
        const char *texts[COLUMNS];
        int wrong = PATTERN;
        for (int i = 0; i < COLUMNS; i++)
            texts[i] = columns[i] < HAUL_CSV_COLUMNS ? fields[columns[i]] : "";
        status = add_row(self, texts, &wrong, error);
        if (status == HAUL_STATUS_BAD_INPUT)
            haul_csv_locate(csv, columns[wrong], error);
    }
    return status;
}

/* *classes is set only where all rows were read. */
haul_status haul_kernel_classes_parse(const char *text, size_t size, const char *file,
                                      haul_kernel_classes **classes, haul_error *error)
{
    haul_csv *csv;
    haul_kernel_classes *made = calloc(1, sizeof *made);
    if (!made)
        return hl_base_fail_no_memory(error);
    haul_status status = haul_csv_open_memory(text, size, file, &csv, error);
    if (!status) {
        status = read_rows(csv, made, error);
        haul_csv_close(csv);
    }
    if (status)
        haul_kernel_classes_free(made);
    else
        *classes = made;
    return status;
}

haul_status haul_kernel_classes_load(const char *path, haul_kernel_classes **classes,
                                     haul_error *error)
{
    char *text = NULL;
    size_t size = 0;
    haul_status status = hl_base_textfile_read(path, FILE_BYTES, &text, &size, error);
    if (!status)
        status = haul_kernel_classes_parse(text, size, path, classes, error);
    free(text);
    return status;
}

void haul_kernel_classes_free(haul_kernel_classes *classes)
{
    if (!classes)
        return;
    hl_base_arena_release(&classes->arena);
    free(classes->rows);
    free(classes);
}
