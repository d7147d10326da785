#include "check.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "haul/machine.h"
#include "haul/units.h"
#include "machine/machine_fields.h"
#include "machine/yaml_tree.h"
#include "machine_text.h"

static void a_machine_is_read(void **state)
{
    (void)state;
    haul_machine *machine =
        parsed("haul: 1\n"
               "name: a100-pcie4\n"
               "summary: one line\n"
               "from: datasheet\n"
               "source: the sheet\n"
               "host:\n"
               "  name: two EPYC\n"
               "  cores: 64\n"
               "  copy_rate: {value: 11 GB/s, from: measured, source: STREAM}\n"
               "gpu:\n"
               "  memory: 80 GB\n"
               "  clock: {value: 1.41 GHz, source: another sheet}\n"
               "  l2: {value: 40 MiB, from: published}\n"
               "link: {kind: pcie, generation: 4, lanes: 16, ack_share: 4.8 %}\n"
               "copies:\n"
               "  - direction: HtoD\n"
               "    memory: pinned\n"
               "    from: measured\n"
               "    latency: 1.3 us\n"
               "    points: [[1, 2 us], [64 KiB, 5 us]]\n"
               "  - {direction: dtoh, memory: Pageable, locality: far, rate: 3 "
               "GB/s}\n");
    assert_string_equal(machine->name, "a100-pcie4");
    assert_string_equal(machine->summary, "one line");
    assert_string_equal(machine->host.name, "two EPYC");
    assert_true(machine->host.cores.value == 64);
    assert_int_equal(machine->host.cores.provenance, HAUL_PROVENANCE_DATASHEET);
    assert_string_equal(machine->host.cores.source, "the sheet");
    CHECK_NEAR(machine->host.copy_rate_Bps.value, 11e9, 0);
    assert_int_equal(machine->host.copy_rate_Bps.provenance, HAUL_PROVENANCE_MEASURED);
    assert_string_equal(machine->host.copy_rate_Bps.source, "STREAM");
    assert_int_equal(machine->gpu.clock_Hz.provenance, HAUL_PROVENANCE_DATASHEET);
    assert_string_equal(machine->gpu.clock_Hz.source, "another sheet");
    /* another provenance does not keep the source of the one around it */
    assert_int_equal(machine->gpu.l2_bytes.provenance, HAUL_PROVENANCE_PUBLISHED);
    assert_null(machine->gpu.l2_bytes.source);
    assert_int_equal(machine->gpu.fp32_flops.provenance, HAUL_PROVENANCE_NOT_GIVEN);
    assert_int_equal(machine->link.kind, HAUL_LINK_PCIE);
    CHECK_NEAR(machine->link.ack_share.value, 0.048, 1e-15);
    assert_int_equal(machine->peer.kind, HAUL_LINK_NONE);
    assert_int_equal(machine->copy_count, 2);
    const haul_copy_curve *curve =
        haul_machine_curve(machine, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, HAUL_LOCALITY_NEAR);
    assert_ptr_equal(curve, &machine->copies[0]);
    assert_true(curve->points_from.value == 2);
    assert_int_equal(curve->points_from.provenance, HAUL_PROVENANCE_MEASURED);
    assert_null(curve->points_from.source);
    assert_true(curve->points[1].bytes == 65536);
    CHECK_NEAR(curve->points[1].seconds, 5e-6, 1e-15);
    curve =
        haul_machine_curve(machine, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PAGEABLE, HAUL_LOCALITY_FAR);
    assert_ptr_equal(curve, &machine->copies[1]);
    assert_null(
        haul_machine_curve(machine, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PAGEABLE, HAUL_LOCALITY_NEAR));
    haul_machine_free(machine);
    haul_machine_free(NULL);
}

/* A wrong file, the place of its error, and a part of the message: what was expected. */
static const struct {
    const char *yaml;
    int line;
    int column;
    const char *text;
} wrong[] = {
    /* not YAML, not UTF-8, not one plain document */
    {"", 1, 1, "expected keys and values; there is nothing here"},
    {"# only words\n", 2, 1, "nothing here"},
    {"a: b: c\n", 1, 5, "expected YAML: mapping values are not allowed"},
    {HEAD "host: {cores: 1\n", 5, 1, "expected YAML: did not find expected ',' or '}'"},
    {HEAD "host:\n\tcores: 1\n", 5, 1, "expected YAML: found character that cannot start"},
    {HEAD "host:\n  name: \xff\n", 5, 9, "expected text in UTF-8: invalid leading UTF-8 octet"},
    {HEAD "host:\n  name: \xc3\xa9\x01\n", 5, 10, "control characters are not allowed"},
    {HEAD "---\n" HEAD, 4, 1, "expected one document"},
    {HEAD "host: &h\n  cores: 1\n", 4, 7, "expected plain values: anchors"},
    {HEAD "host: *h\n", 4, 7, "expected plain values: anchors"},
    {HEAD "host: {cores: !!int 1}\n", 4, 15, "expected plain values: anchors"},
    {HEAD "host: {? [a] : 1}\n", 4, 10, "expected a word as the key"},
    {"[[[[[[[[[1]]]]]]]]]\n", 1, 9, "nested deeper"},
    {HEAD "host: {name: \"a\\0b\"}\n", 4, 14, "expected text without a NUL"},
    /* not a machine */
    {"machine\n", 1, 1, "expected a mapping of keys for 'machine', not 'machine'"},
    {"- a\n", 1, 1, "expected a mapping of keys for 'machine', not a list"},
    {HEAD "host: 3\n", 4, 7, "expected a mapping of keys for 'host', not '3'"},
    {HEAD "copies: {}\n", 4, 9, "expected a list for 'copies', not a mapping"},
    {HEAD "copies: [1]\n", 4, 10, "expected a mapping of keys for 'copies', not '1'"},
    /* version, name, summary */
    {"haul: 2\nname: a\nsummary: b\n", 1, 7, "expected 1, the version of this format,"},
    {"name: a\nsummary: b\n", 1, 1, "'haul' is missing in 'machine'"},
    {"haul: 1\nsummary: b\n", 1, 1, "'name' is missing in 'machine'"},
    {"haul: 1\nname: a\n", 1, 1, "'summary' is missing in 'machine'"},
    {"haul: 1\nname: A100\nsummary: b\n", 2, 7, "expected lower-case letters, digits and '-'"},
    {"haul: 1\nname: a\nsummary:\n", 3, 9, "expected a line of text for 'summary', not ''"},
    {"haul: 1\nname: a\nsummary: |\n  a\n  b\n", 3, 10, "expected one line of text"},
    {"haul: 1\nname: a\nsummary: \"a\\eb\"\n", 3, 10, "without control characters"},
    {"haul: 1\nname: a\nsummary: [b]\n", 3, 10,
     "expected a line of text for 'summary', not a list"},
    /* keys */
    {MEASURED "host:\n  core: 4\n", 6, 3, "unknown key 'core' in 'host'; did you mean 'cores'?"},
    {MEASURED "gpu:\n  bandwidth: 4\n", 6, 3, "did you mean 'memory_bandwidth'?"},
    {MEASURED "gpu:\n  clcok: 4\n", 6, 3, "did you mean 'clock'?"},
    {MEASURED "host:\n  colour: red\n", 6, 3, "in 'host'; expected one of name, sockets, cores, "},
    {MEASURED "host:\n  cores: 4\n  cores: 4\n", 7, 3, "'cores' is there twice in 'host'"},
    {MEASURED "host: {cores: {value: 4, form: measured}}\n", 5, 26,
     "unknown key 'form' in 'cores'; did you mean 'from'?"},
    {MEASURED "host: {}\ngpu: {}\nhost: {}\n", 7, 1, "'host' is there twice in 'machine'"},
    /* provenance */
    {HEAD "host:\n  cores: 4\n", 5, 10, "'from' is missing for 'cores'"},
    {HEAD "host: {cores: {value: 4, source: x}}\n", 4, 15, "'from' is missing for 'cores'"},
    {HEAD "from: guessed\n", 4, 7,
     "expected measured, fitted, published, datasheet, scaled or assumed for 'from', not "
     "'guessed'"},
    {MEASURED "host: {cores: {from: fitted}}\n", 5, 15, "'value' is missing for 'cores'"},
    {MEASURED "source: []\n", 5, 9, "expected a line of text for 'source', not a list"},
    /* units and ranges */
    {MEASURED "host:\n  copy_rate: 12 GB\n", 6, 14,
     "expected a rate such as 12.3 GB/s for 'copy_rate', not '12 GB'"},
    {MEASURED "host:\n  copy_rate: 12\n", 6, 14, "expected a rate such as 12.3 GB/s"},
    {MEASURED "gpu:\n  clock: 3 s\n", 6, 10, "expected a frequency such as 1.41 GHz"},
    {MEASURED "gpu:\n  launch_latency: 3\n", 6, 19, "expected a time such as 9.4 us"},
    {MEASURED "gpu:\n  fp32: 19 TB/s\n", 6, 9, "expected a rate of operations such as"},
    {MEASURED "gpu:\n  memory: 2 us\n", 6, 11, "expected a size such as 64 MiB"},
    {MEASURED "gpu:\n  memory: .inf\n", 6, 11, "expected a size such as 64 MiB"},
    {MEASURED "gpu:\n  memory:\n", 6, 10, "expected a size such as 64 MiB for 'memory', not ''"},
    {MEASURED "gpu:\n  memory: [4]\n", 6, 11, "expected a size such as 64 MiB"},
    {MEASURED "gpu: {memory: {value: {value: 1}}}\n", 5, 23, "expected a size such as 64 MiB"},
    {MEASURED "host:\n  copy_rate: -1 GB/s\n", 6, 14,
     "a value of at least 1 B/s for 'copy_rate', not '-1 GB/s'"},
    {MEASURED "host:\n  copy_rate: 0 GB/s\n", 6, 14, "a value of at least 1 B/s"},
    {MEASURED "host:\n  copy_rate: 1e30 GB/s\n", 6, 14, "a value of at most 1e+06 TB/s"},
    {MEASURED "host:\n  cores: 0\n", 6, 10, "expected a whole number of at least 1 for 'cores'"},
    {MEASURED "host:\n  cores: 2.5\n", 6, 10, "expected a whole number of at least 1"},
    {MEASURED "gpu:\n  implicit_sync: 2\n", 6, 18, "expected a whole number of at most 1"},
    {MEASURED "gpu:\n  launch_latency: -1 us\n", 6, 19, "a value of at least 0 s"},
    /* links */
    {MEASURED "link: {lanes: 16}\n", 5, 7, "'kind' is missing in 'link'"},
    {MEASURED "link: {kind: usb}\n", 5, 14,
     "expected pcie, nvlink, c2c or fabric for 'kind', not 'usb'"},
    {MEASURED "link: {kind: pcie, lanes: 16}\n", 5, 7, "'generation' is missing in 'link'"},
    {MEASURED "link: {kind: pcie, generation: 4}\n", 5, 7, "'lanes' is missing in 'link'"},
    {MEASURED "peer: {kind: nvlink, links: 2}\n", 5, 7, "'link_rate' is missing in 'peer'"},
    {MEASURED "peer: {kind: nvlink, link_rate: 25 GB/s}\n", 5, 7, "'links' is missing in 'peer'"},
    {MEASURED "peer: {kind: nvlink, link_rate: 25 GB/s, links: 2, lanes: 8}\n", 5, 52,
     "'lanes' has no meaning for this kind of link"},
    {MEASURED "link: {kind: pcie, generation: 7, lanes: 16}\n", 5, 32,
     "expected a whole number of at most 6 for 'generation', not '7'"},
    {MEASURED "link: {kind: pcie, generation: 3, lanes: 16, ack_share: 1}\n", 5, 57,
     "of at most 0.999 for 'ack_share', not '1'"},
    /* copies */
    {MEASURED "copies:\n  - memory: pinned\n", 6, 5, "'direction' is missing in 'copies'"},
    {MEASURED "copies:\n  - direction: HtoD\n", 6, 5, "'memory' is missing in 'copies'"},
    {MEASURED "copies:\n  - direction: up\n", 6, 16,
     "expected HtoD, DtoH, DtoD, PtoP or HtoH for 'direction', not 'up'"},
    {MEASURED "copies:\n  - memory: unknown\n", 6, 13, "expected pageable, pinned, device, array,"},
    {MEASURED "copies:\n"
              "  - {direction: HtoD, memory: pinned}\n"
              "  - {direction: HtoD, memory: pinned, locality: far}\n"
              "  - {direction: HtoD, memory: pinned}\n",
     8, 5, "copies[HtoD pinned] is there twice"},
    {MEASURED "copies: [{points: [[2, 1 us], [2, 2 us]]}]\n", 5, 32, "points ascending in bytes"},
    {MEASURED "copies: [{points: [[1, 2 us], [2, 1 us]]}]\n", 5, 35, "no less time than the point"},
    {MEASURED "copies: [{points: [[1, 0 us]]}]\n", 5, 24, "for 'points', not '0 us'"},
    {MEASURED "copies: [{points: [[1, 2]]}]\n", 5, 24, "expected a time such as 9.4 us"},
    {MEASURED "copies: [{points: [[-1, 2 us]]}]\n", 5, 21, "for 'points', not '-1'"},
    {MEASURED "copies: [{points: [[1]]}]\n", 5, 20, "expected [bytes, time] for 'points'"},
    {MEASURED "copies: [{points: [[1, 2 us, 3]]}]\n", 5, 20, "expected [bytes, time]"},
    {MEASURED "copies: [{points: [{a: b}]}]\n", 5, 20, "expected [bytes, time]"},
    {MEASURED "copies: [{points: []}]\n", 5, 19, "expected a list of [bytes, time]"},
    {MEASURED "copies: [{points: 3}]\n", 5, 19, "expected a list of [bytes, time]"},
    {MEASURED "copies: [{points: [[1,1 s],[2,1 s],[3,1 s],[4,1 s],[5,1 s],[6,1 s],[7,1 s],"
              "[8,1 s],[9,1 s],[10,1 s],[11,1 s],[12,1 s],[13,1 s],[14,1 s],[15,1 s],[16,1 s],"
              "[17,1 s]]}]\n",
     5, 155, "expected at most 16 points"},
};

static void errors_have_a_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        haul_machine *machine = (haul_machine *)state;
        haul_error error = {0};
        const char *yaml = wrong[i].yaml;
        assert_int_equal(haul_machine_parse(yaml, strlen(yaml), "a.yaml", &machine, &error),
                         HAUL_STATUS_BAD_INPUT);
        assert_ptr_equal(machine, state);
        assert_string_equal(error.file, "a.yaml");
        if (error.line != wrong[i].line || error.column != wrong[i].column ||
            !strstr(error.text, wrong[i].text))
            fail_msg("case %zu: %d:%d: %s, expected %d:%d: ...%s...\n%s", i, error.line,
                     error.column, error.text, wrong[i].line, wrong[i].column, wrong[i].text, yaml);
    }
}

static void sizes_are_limited(void **state)
{
    (void)state;
    const size_t size = HL_MACHINE_YAML_BYTES + 1;
    char *text = malloc(size);
    assert_non_null(text);
    haul_machine *machine = NULL;
    haul_error error = {0};
    memset(text, '[', size);
    assert_int_equal(haul_machine_parse(text, size, "a", &machine, &error), HAUL_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "larger than such a file can be"));
    assert_int_equal(haul_machine_parse(text, size - 1, "a", &machine, &error),
                     HAUL_STATUS_BAD_INPUT);
    assert_int_equal(error.column, 9);
    size_t used = (size_t)snprintf(text, size, "%scopies:\n", MEASURED);
    for (int i = 0; i <= HL_MACHINE_CURVES_MOST; i++)
        used += (size_t)snprintf(text + used, size - used, "- {}\n");
    assert_int_equal(haul_machine_parse(text, used, "a", &machine, &error), HAUL_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "at most 64 entries"));
    assert_null(machine);
    free(text);
}

static void a_byte_order_mark_is_no_matter(void **state)
{
    (void)state;
    haul_machine_free(parsed("\xef\xbb\xbf" HEAD));
}

/* ---- round trips ---- */

typedef struct field_list {
    char text[64 * 1024];
    size_t used;
} field_list;

/* All that a machine holds, exactly. */
static int print_field(void *state, const char *path, const hl_machine_field *field, const void *at)
{
    field_list *list = state;
    char *end = list->text + list->used;
    const size_t room = sizeof list->text - list->used;
    int added = 0;
    if (field->kind == HL_MACHINE_FIELD_WORD) {
        int word;
        memcpy(&word, at, sizeof word);
        added = snprintf(end, room, "%s %d\n", path, word);
    } else if (field->kind == HL_MACHINE_FIELD_NAME || field->kind == HL_MACHINE_FIELD_TEXT) {
        const char *const *text = at;
        added = snprintf(end, room, "%s %s\n", path, *text ? *text : "-");
    } else {
        const haul_parameter *figure = at;
        added = snprintf(end, room, "%s %a %d %s\n", path, figure->value, (int)figure->provenance,
                         figure->source ? figure->source : "-");
    }
    assert_true(added > 0 && (size_t)added < room);
    list->used += (size_t)added;
    return 0;
}

static void assert_equal_machines(const haul_machine *a, const haul_machine *b)
{
    static field_list lists[2];
    const haul_machine *both[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        lists[i].used = 0;
        hl_machine_walk(both[i], print_field, &lists[i]);
    }
    assert_string_equal(lists[0].text, lists[1].text);
    assert_int_equal(a->copy_count, b->copy_count);
    for (size_t i = 0; i < a->copy_count; i++)
        for (size_t j = 0; j < (size_t)a->copies[i].points_from.value; j++) {
            assert_true(a->copies[i].points[j].bytes == b->copies[i].points[j].bytes);
            assert_true(a->copies[i].points[j].seconds == b->copies[i].points[j].seconds);
        }
}

static char *written(const haul_machine *machine)
{
    char *text = NULL;
    size_t size = 0;
    haul_error error;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(haul_machine_write(machine, out, &error), HAUL_OK);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void assert_round_trip(const haul_machine *machine)
{
    char *text = written(machine);
    haul_machine *again = parsed(text);
    assert_equal_machines(machine, again);
    char *text_again = written(again);
    assert_string_equal(text, text_again);
    free(text_again);
    free(text);
    haul_machine_free(again);
}

static double random_share(void)
{
    return rand() / (RAND_MAX + 1.0);
}

static const char *random_text(void)
{
    static const char *const texts[] = {
        "NVIDIA A100-SXM4-80GB",
        "Table II, page 7: \"explicit\" \\ mapped",
        "- not a list",
        "# not a comment",
        "{not: a mapping}",
        "'quoted'",
        "caf\xc3\xa9 \xe2\x80\x93 \xf0\x9f\x9a\x9a",
        "1.5",
        "null",
        "a #b: c,d [e] {f}",
        "%YAML 1.1",
        "@x",
        "https://x.org/a?b=c&d=e#f",
    };
    return texts[(size_t)rand() % (sizeof texts / sizeof *texts)];
}

static haul_parameter random_figure(double value)
{
    return (haul_parameter){.value = value,
                            .provenance = (haul_provenance)(1 + rand() % HAUL_PROVENANCE_SCALED),
                            .source = rand() % 3 ? random_text() : NULL};
}

static void fill_points(haul_copy_curve *curve)
{
    const size_t count = 1 + (size_t)rand() % HAUL_MACHINE_CURVE_POINTS;
    double bytes = rand() % 2 ? 0 : random_share() * 1e4;
    double seconds = random_share() * 1e-5;
    curve->points_from = random_figure((double)count);
    for (size_t i = 0; i < count; i++) {
        curve->points[i] = (haul_point){bytes, seconds};
        bytes = floor((bytes + 1) * (1 + 9 * random_share()) + 1);
        seconds += random_share() * seconds;
    }
}

/* A value that a field may have: at its limits, or anywhere between them, by their logarithm. */
static double random_value(const hl_machine_field *field)
{
    const hl_machine_parameter_limits limits = hl_machine_field_limits(field);
    const int choice = rand() % 10;
    if (choice < 2)
        return choice ? limits.most : limits.least;
    const double least = limits.least > 0 ? limits.least : 1e-15;
    const double value = least * pow(limits.most / least, random_share());
    return limits.whole ? floor(value) : fmin(fmax(value, limits.least), limits.most);
}

static void fill_mapping(const hl_machine_yaml_mapping *mapping, void *base);

static void fill_field(const hl_machine_field *field, void *base)
{
    void *at = (char *)base + field->offset;
    if (field->kind == HL_MACHINE_FIELD_TEXT)
        *(const char **)at = field->required || rand() % 2 ? random_text() : NULL;
    else if (field->kind == HL_MACHINE_FIELD_NAME)
        *(const char **)at = "a-1";
    else if (field->kind == HL_MACHINE_FIELD_PARAMETER && (field->required || rand() % 2))
        *(haul_parameter *)at = random_figure(random_value(field));
    else if (field->kind == HL_MACHINE_FIELD_POINTS && rand() % 2)
        fill_points(base);
    else if (field->kind == HL_MACHINE_FIELD_MAPPING)
        fill_mapping(field->mapping, at);
}

static void fill_mapping(const hl_machine_yaml_mapping *mapping, void *base)
{
    if (mapping->is_link && rand() % 4 == 0)
        return;
    if (mapping->is_link)
        ((haul_link *)base)->kind = (haul_link_kind)(1 + rand() % HAUL_LINK_FABRIC);
    for (size_t i = 0; i < mapping->count; i++) {
        const hl_machine_field *field = &mapping->fields[i];
        const bool pcie = mapping->is_link && ((haul_link *)base)->kind == HAUL_LINK_PCIE;
        if (field->links == HL_MACHINE_LINKS_ANY || pcie == (field->links == HL_MACHINE_LINKS_PCIE))
            fill_field(field, base);
    }
}

/* Products are told apart by all their sizes. */
static void measured_products_are_read(void **state)
{
    (void)state;
    static const char text[] = "haul: 1\nname: one\nsummary: with products\nfrom: measured\n"
                               "host: {}\ngpu: {}\nproducts:\n"
                               "  - {precision: fp32, batch: 1, rows: 64, columns: 128, inner: "
                               "256, time: 5 us}\n"
                               "  - {precision: fp16, batch: 1, rows: 64, columns: 128, inner: "
                               "256, time: 2 us}\n";
    haul_machine *machine = parsed(text);
    assert_int_equal(machine->product_count, 2);
    assert_int_equal(machine->products[1].precision, HAUL_PRECISION_FP16);
    CHECK_NEAR(machine->products[0].inner.value, 256, 0);
    CHECK_NEAR(machine->products[0].time_s.value, 5e-6, 1e-12);
    assert_round_trip(machine);
    haul_machine_free(machine);
}

static void random_machines_round_trip(void **state)
{
    (void)state;
    srand(7);
    for (int i = 0; i < 500; i++) {
        haul_machine machine = {0};
        haul_copy_curve curves[8] = {{0}};
        fill_mapping(&hl_machine_mapping, &machine);
        const size_t count = (size_t)rand() % 9;
        for (size_t j = 0; j < count; j++) {
            fill_mapping(&hl_machine_curve_mapping, &curves[j]);
            curves[j].direction = (haul_direction)(j & 1);
            curves[j].memory = (haul_memory)(j >> 1 & 1);
            curves[j].locality = (haul_locality)(j >> 2);
        }
        haul_machine *copy = NULL;
        haul_error error;
        assert_int_equal(haul_machine_with_copies(&machine, curves, count, &copy, &error), HAUL_OK);
        machine.copies = curves;
        machine.copy_count = count;
        assert_equal_machines(&machine, copy);
        assert_round_trip(copy);
        haul_machine_free(copy);
    }
}

static void any_text_can_be_written(void **state)
{
    (void)state;
    haul_machine machine = {.name = "a", .summary = "b"};
    machine.gpu.name = "bad \xff bytes\n\x1b[31m \xe2\x80\xa8 \xef\xbb\xbf\xc2\x80.";
    char *text = written(&machine);
    haul_machine *again = parsed(text);
    assert_string_equal(again->gpu.name, "bad ? bytes??[31m ??? ?????.");
    free(text);
    haul_machine_free(again);
}

static int count_figures(void *state, const char *path, int dimension, const haul_parameter *figure)
{
    size_t *count = state;
    assert_true(dimension >= HAUL_DIM_NUMBER && dimension <= HAUL_DIM_FLOPS);
    if (!strcmp(path, "copies[HtoD pinned far].rate")) {
        assert_int_equal(dimension, HAUL_DIM_RATE);
        assert_true(figure->value == 3e9);
    }
    ++*count;
    return !strcmp(path, "copies[HtoD pinned far].points") ? 17 : 0;
}

static void figures_are_visited(void **state)
{
    (void)state;
    haul_machine *machine =
        parsed(MEASURED "copies:\n- {direction: HtoD, memory: pinned, locality: "
                        "far, rate: 3 GB/s}\n");
    size_t count = 0;
    assert_int_equal(haul_machine_visit(machine, count_figures, &count), 17);
    assert_int_equal(count, 6 + 40 + 9 + 9 + 17);
    haul_machine_free(machine);
}

/* ---- links ---- */

static double pcie_peak(double generation, double lanes)
{
    haul_link link = {.kind = HAUL_LINK_PCIE,
                      .generation = {generation, HAUL_PROVENANCE_DATASHEET, "a"},
                      .lanes = {lanes, HAUL_PROVENANCE_PUBLISHED, "b"}};
    const haul_parameter peak = haul_link_peak(&link);
    if (peak.provenance) {
        assert_int_equal(peak.provenance, HAUL_PROVENANCE_DATASHEET);
        assert_string_equal(peak.source, "a");
    }
    return peak.value;
}

static void peaks_are_the_data_sheets(void **state)
{
    (void)state;
    CHECK_NEAR(pcie_peak(1, 16), 4e9, 1e-12);
    CHECK_NEAR(pcie_peak(2, 16), 8e9, 1e-12);
    CHECK_NEAR(pcie_peak(3, 16), 15.7538e9, 1e-5);
    CHECK_NEAR(pcie_peak(4, 16), 31.5077e9, 1e-5);
    CHECK_NEAR(pcie_peak(5, 16), 63.0154e9, 1e-5);
    CHECK_NEAR(pcie_peak(6, 16), 118e9, 1e-12);
    CHECK_NEAR(pcie_peak(4, 8), 15.7538e9, 1e-5);
    assert_true(pcie_peak(0, 16) == 0 && pcie_peak(7, 16) == 0 && pcie_peak(NAN, 16) == 0);
    haul_link nvlink = {.kind = HAUL_LINK_NVLINK, .links = {2, HAUL_PROVENANCE_DATASHEET, NULL}};
    assert_int_equal(haul_link_peak(&nvlink).provenance, HAUL_PROVENANCE_NOT_GIVEN);
    nvlink.link_rate_Bps = (haul_parameter){25e9, HAUL_PROVENANCE_DATASHEET, NULL};
    assert_true(haul_link_peak(&nvlink).value == 50e9);
    const haul_link none = {0};
    assert_int_equal(haul_link_peak(&none).provenance, HAUL_PROVENANCE_NOT_GIVEN);
}

static void provenances_have_an_order(void **state)
{
    (void)state;
    assert_int_equal(haul_provenance_weaker(HAUL_PROVENANCE_MEASURED, HAUL_PROVENANCE_DATASHEET),
                     HAUL_PROVENANCE_DATASHEET);
    assert_int_equal(haul_provenance_weaker(HAUL_PROVENANCE_SCALED, HAUL_PROVENANCE_FITTED),
                     HAUL_PROVENANCE_SCALED);
    assert_int_equal(haul_provenance_weaker(HAUL_PROVENANCE_NOT_GIVEN, HAUL_PROVENANCE_MEASURED),
                     HAUL_PROVENANCE_MEASURED);
    assert_string_equal(haul_provenance_text(HAUL_PROVENANCE_SCALED), "scaled");
    assert_string_equal(haul_provenance_text((haul_provenance)99), "not given");
}

static void slips_are_counted(void **state)
{
    (void)state;
    assert_int_equal(hl_base_edit_distance("", "abc"), 3);
    assert_int_equal(hl_base_edit_distance("abc", ""), 3);
    assert_int_equal(hl_base_edit_distance("clcok", "clock"), 1);
    assert_int_equal(hl_base_edit_distance("kitten", "sitting"), 3);
    assert_true(hl_base_is_near("k4o", "k40"));
    assert_false(hl_base_is_near("x", "summit"));
    char longer[200];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_int_equal(hl_base_edit_distance(longer, longer), 0);
}

/* ---- the catalogue ---- */

static void the_catalogue_round_trips(void **state)
{
    (void)state;
    char **names = NULL;
    size_t count = 0;
    haul_error error;
    assert_int_equal(haul_catalogue_list(&names, &count, &error), HAUL_OK);
    for (size_t i = 0; i < count; i++) {
        haul_machine *machine = NULL;
        char text[1200];
        if (haul_machine_load(names[i], &machine, &error))
            fail_msg("%s", haul_error_format(&error, text, sizeof text));
        assert_string_equal(machine->name, names[i]);
        assert_round_trip(machine);
        haul_machine_free(machine);
    }
    haul_names_free(names, count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_machine_is_read),
        cmocka_unit_test(errors_have_a_place),
        cmocka_unit_test(sizes_are_limited),
        cmocka_unit_test(a_byte_order_mark_is_no_matter),
        cmocka_unit_test(measured_products_are_read),
        cmocka_unit_test(random_machines_round_trip),
        cmocka_unit_test(any_text_can_be_written),
        cmocka_unit_test(figures_are_visited),
        cmocka_unit_test(peaks_are_the_data_sheets),
        cmocka_unit_test(provenances_have_an_order),
        cmocka_unit_test(slips_are_counted),
        cmocka_unit_test(the_catalogue_round_trips),
    };
    unsetenv("HAUL_MACHINES");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
