/* Pages: hostile names stay text, bars keep what they stand for, pages of many operations stay
 * small. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drawn_workload.h"
#include "haul/page.h"
#include "page/html.h"
#include "page/lanes.h"
#include "trace/trace_builder.h"

typedef struct written {
    char *text;
    size_t size;
} written;

static written write_page(const haul_page *page)
{
    written made = {0};
    haul_error error;
    FILE *out = open_memstream(&made.text, &made.size);
    assert_non_null(out);
    assert_int_equal(haul_page_write(page, out, &error), HAUL_OK);
    assert_int_equal(fclose(out), 0);
    return made;
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}

static char *escaped(const char *text, size_t most)
{
    char *made = NULL;
    size_t size;
    FILE *out = open_memstream(&made, &size);
    assert_non_null(out);
    hl_page_html_text_cut(text, most, out);
    assert_int_equal(fclose(out), 0);
    return made;
}

static void check_escaped(const char *text, const char *expected)
{
    char *made = escaped(text, SIZE_MAX);
    assert_string_equal(made, expected);
    free(made);
}

static void keeps_text_text(void **state)
{
    (void)state;
    check_escaped("plain, \xc3\xa9, \xe2\x82\xac, \xf0\x9f\x98\x80",
                  "plain, \xc3\xa9, \xe2\x82\xac, \xf0\x9f\x98\x80");
    check_escaped("<b a=\"1\" b='2'>&", "&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;");
    check_escaped("a\xff\xc0\xaf|\xed\xa0\x80", "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|"
                                                "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    check_escaped("a\x01\n\x7f\xc2\x85", "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    /* turned writing, an end of line, no character */
    check_escaped("\xe2\x80\xae|\xe2\x81\xa6|\xe2\x80\xa8|\xef\xbf\xbf",
                  "\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd");
    char *cut = escaped("\xc3\xa9\xc3\xa9\xc3\xa9", 2);
    assert_string_equal(cut, "\xc3\xa9\xc3\xa9\xe2\x80\xa6");
    free(cut);
}

static void keeps_json_within_its_element(void **state)
{
    (void)state;
    char *made = NULL;
    size_t size;
    FILE *out = open_memstream(&made, &size);
    assert_non_null(out);
    hl_page_html_json_text("</script><!--\"\\&\x01\xff", SIZE_MAX, out);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(made, "\"\\u003c/script\\u003e\\u003c!--\\\"\\\\\\u0026"
                              "\xef\xbf\xbd\xef\xbf\xbd\"");
    free(made);
}

/* --- what bars stand for */

typedef struct sums {
    uint64_t count[HL_PAGE_LOOKS];
    uint64_t bars;
    int64_t last_ns;
    int64_t window_ns;
    bool all_alone;
} sums;

static void add_bar(void *state, const hl_page_bar *bar)
{
    sums *self = state;
    self->count[bar->look] += bar->count;
    self->bars++;
    self->all_alone &= !bar->shares;
    assert_true(bar->start_ns >= self->last_ns);
    assert_true(bar->end_ns >= bar->start_ns && bar->end_ns <= self->window_ns);
    assert_true(bar->busy_ns >= 0 && bar->busy_ns <= bar->end_ns - bar->start_ns);
    assert_true(bar->base >= 0 && bar->base <= 1);
    assert_true(bar->count > 0 && (bar->count == 1 || bar->shares));
    self->last_ns = bar->start_ns;
}

static sums sum_bars(const hl_page_lanes *lanes, int64_t fine_ns)
{
    sums all = {.window_ns = lanes->window_ns, .all_alone = true};
    for (size_t i = 0; i < lanes->count; i++) {
        all.last_ns = 0;
        hl_page_lane_bars(lanes, &lanes->lanes[i], fine_ns, add_bar, &all);
    }
    return all;
}

/* Of each look, collectives apart: how many moments of the window its operations take. */
static void check_sums(const hl_page_lanes *lanes)
{
    const haul_drawn *drawn = lanes->drawn;
    uint8_t *taken = calloc((size_t)lanes->window_ns + 1, 1);
    assert_non_null(taken);
    for (int k = 0; k <= HL_PAGE_LOOKS; k++) {
        const hl_page_sum *sum = k < HL_PAGE_LOOKS ? &lanes->sums[k] : &lanes->collectives;
        int64_t busy_ns = 0;
        memset(taken, 0, (size_t)lanes->window_ns + 1);
        for (size_t i = 0; i < drawn->workload->op_count; i++) {
            const haul_op *op = &drawn->workload->ops[i];
            const bool is_collective = haul_op_is_collective(op);
            if (k < HL_PAGE_LOOKS ? is_collective || hl_page_look_of(op) != (hl_page_look)k
                                  : !is_collective)
                continue;
            const int64_t start_ns = drawn->spans ? drawn->spans[i].start_ns : op->start_ns;
            const int64_t end_ns = drawn->spans ? drawn->spans[i].end_ns : start_ns + op->dur_ns;
            for (int64_t at = start_ns; at < end_ns; at++)
                if (at >= lanes->origin_ns && at < lanes->origin_ns + lanes->window_ns)
                    taken[at - lanes->origin_ns] = 1;
        }
        for (int64_t at = 0; at < lanes->window_ns; at++)
            busy_ns += taken[at];
        assert_int_equal(sum->busy_ns, busy_ns);
        assert_true(sum->time_ns >= 0 && (sum->count > 0 || !sum->time_ns));
    }
    free(taken);
}

static void check_lanes(const haul_drawn *drawn)
{
    hl_page_lanes lanes;
    haul_error error;
    assert_int_equal(hl_page_lanes_make(drawn, 64, &lanes, &error), HAUL_OK);
    assert_int_equal(lanes.hidden, 0);
    check_sums(&lanes);
    uint64_t least = UINT64_MAX;
    for (int64_t fine_ns = 0; fine_ns <= lanes.window_ns; fine_ns = 2 * fine_ns + 1) {
        const sums all = sum_bars(&lanes, fine_ns);
        for (int look = 0; look < HL_PAGE_LOOKS; look++)
            assert_int_equal(all.count[look], lanes.ops[look]);
        if (!fine_ns)
            assert_true(all.all_alone);
        least = all.bars < least ? all.bars : least;
    }
    for (uint64_t most = least; most < 4 * least; most += 1 + least / 3) {
        const int64_t fine_ns = hl_page_lanes_fineness(&lanes, 0, most);
        if (fine_ns <= lanes.window_ns)
            assert_true(sum_bars(&lanes, fine_ns).bars <= most);
    }
    hl_page_lanes_release(&lanes);
}

static void bars_stand_for_all_operations(void **state)
{
    (void)state;
    drawn_workload *random = calloc(1, sizeof *random);
    haul_span *spans = calloc(DRAWN_OPS, sizeof *spans);
    assert_non_null(random);
    assert_non_null(spans);
    srand(7);
    for (uint32_t round = 0; round < 60; round++) {
        draw_workload(random, 1 + draw(round < 50 ? 300 : DRAWN_OPS), 0);
        const haul_drawn recorded = {.workload = &random->workload};
        check_lanes(&recorded);
        for (size_t i = 0; i < random->workload.op_count; i++) {
            spans[i].start_ns = draw(5000);
            spans[i].end_ns = spans[i].start_ns + draw(50);
        }
        const haul_drawn elsewhere = {.workload = &random->workload, .spans = spans};
        check_lanes(&elsewhere);
    }
    free(spans);
    free(random);
}

/* --- pages */

/* A workload of our own, with names. */
typedef struct named_workload {
    hl_workload_owned_workload owned; /* first: haul_workload_string looks behind what is seen */
    haul_op *ops;
    haul_workload_stream streams[4];
    haul_workload_device device;
} named_workload;

static const char *const evil_names[] = {
    "</script><script>window.hacked = 1</script>",
    "\"><img src=x onerror=\"window.hacked = 2\">",
    "<!--<script>",
    "javascript:window.hacked=3",
    "\xff\xfe<svg onload=window.hacked=4>\xe2\x80\xae",
};

enum { EVIL_NAMES = sizeof evil_names / sizeof *evil_names };

static const haul_workload *make_named(named_workload *self, size_t count)
{
    memset(self, 0, sizeof *self);
    self->ops = calloc(count, sizeof *self->ops);
    assert_non_null(self->ops);
    for (size_t i = 0; i < EVIL_NAMES; i++)
        hl_base_strings_add(&self->owned.strings, evil_names[i], strlen(evil_names[i]));
    for (size_t i = 0; i < count; i++) {
        haul_op *op = &self->ops[i];
        *op = (haul_op){.start_ns = (int64_t)(1000 * (i / 4)),
                        .dur_ns = 100 + (int64_t)(i * 7919 % 800),
                        .kind = i % 5 == 4 ? HAUL_OP_COPY : HAUL_OP_KERNEL,
                        .shape = HAUL_NONE,
                        .name = (uint32_t)(i % 5),
                        .stream = (uint32_t)(i % 4),
                        .thread = HAUL_NONE};
        if (op->kind == HAUL_OP_COPY)
            op->bytes = 1 + i * 104729 % 1000000;
    }
    for (unsigned s = 0; s < 4; s++)
        self->streams[s] = (haul_workload_stream){.id = s, .name = s ? evil_names[s] : NULL};
    self->device.name = evil_names[1];
    self->owned.seen = (haul_workload){.source = evil_names[0],
                                       .format = evil_names[0],
                                       .ops = self->ops,
                                       .op_count = count,
                                       .streams = self->streams,
                                       .stream_count = 4,
                                       .devices = &self->device,
                                       .device_count = 1,
                                       .counts = {.device_ops = count}};
    return &self->owned.seen;
}

static void release_named(named_workload *self)
{
    hl_base_strings_release(&self->owned.strings);
    free(self->ops);
}

static haul_machine *evil_machine(void)
{
    static const char yaml[] =
        "haul: 1\nname: evil\n"
        "summary: '\"><img src=x onerror=\"window.hacked = 6\">'\n"
        "gpu:\n  copy_engines: {value: 2, from: published, source: '<a href=javascript:hack()>'}\n"
        "  implicit_sync: {value: 0, from: published, source: 'a'}\n";
    haul_machine *machine = NULL;
    haul_error error;
    if (haul_machine_parse(yaml, sizeof yaml - 1, "evil.yaml", &machine, &error))
        return NULL;
    return machine;
}

static const haul_advised_calls evil_calls = {.name = evil_names[0], .count = 1};
static haul_advice evil_piece = {.change = "pin",
                                 .what = evil_names[0],
                                 .why = evil_names[1],
                                 .assumes = evil_names[2],
                                 .needs = evil_names[3],
                                 .apart = evil_names[4],
                                 .calls = &evil_calls,
                                 .call_count = 1,
                                 .saved_ns = 1000,
                                 .share = 0.0001};
static const char *evil_note = evil_names[1];
static const haul_advice_list evil_advice = {.machine = evil_names[0],
                                             .items = &evil_piece,
                                             .count = 1,
                                             .together = {1, 1000, 0.0001},
                                             .with_speculative = {2, 1000, 0.0001},
                                             .notes = &evil_note,
                                             .note_count = 1};

/* All that a page can hold, and names that would like to be more than text. */
static written write_evil_page(size_t count)
{
    named_workload named;
    const haul_workload *workload = make_named(&named, count);
    haul_analysis *analysis;
    haul_error error;
    assert_int_equal(haul_analysis_make(workload, &analysis, &error), HAUL_OK);
    const haul_drawn drawn[] = {{.label = evil_names[0], .workload = workload},
                                {.label = evil_names[1], .workload = workload, .named = true}};
    haul_machine *machine = evil_machine();
    assert_non_null(machine);
    haul_report *reports[] = {haul_report_analysis(workload, analysis),
                              haul_report_advice(workload, &evil_advice),
                              haul_report_machine(machine)};
    const haul_page page = {.title = evil_names[0],
                            .command = evil_names[2],
                            .timelines = drawn,
                            .timeline_count = 2,
                            .reports = (const haul_report *const *)reports,
                            .report_count = 3,
                            .analysis = analysis};
    const written made = write_page(&page);
    for (int i = 0; i < 3; i++)
        haul_report_free(reports[i]);
    haul_machine_free(machine);
    haul_analysis_free(analysis);
    release_named(&named);
    return made;
}

static void a_section_can_be_linked_to(void **state)
{
    (void)state;
    haul_report *report = haul_report_new("own");
    haul_report_say(report, "the answer");
    haul_report_section(report, "empty", "Nothing");
    haul_report_section(report, "own-times", "Times");
    haul_report_say(report, "in the section");
    const haul_report *const reports[] = {report};
    written made = write_page(&(haul_page){.title = "own", .reports = reports, .report_count = 1});
    const char *section = strstr(made.text, "<section id=\"own-times\"");
    assert_non_null(section);
    assert_non_null(strstr(section, "Times"));
    assert_non_null(strstr(section, "in the section"));
    assert_non_null(strstr(made.text, "href=\"#own-times\""));
    assert_null(strstr(made.text, "\"empty\""));
    free(made.text);
    haul_report_free(report);
}

static void hostile_names_stay_text(void **state)
{
    (void)state;
    written page = write_evil_page(200);
    assert_int_equal(count_of(page.text, "<script"), 2); /* the data and the page's own */
    assert_int_equal(count_of(page.text, "</script"), 2);
    assert_int_equal(count_of(page.text, "<img"), 0);
    assert_int_equal(count_of(page.text, "<!--"), 0);
    assert_int_equal(count_of(page.text, "<svg on"), 0);
    assert_int_equal(count_of(page.text, "href=\"javascript"), 0);
    /* the name of SVG's elements, in the script and in the icon */
    assert_int_equal(count_of(page.text, "http://"), 2);
    assert_int_equal(count_of(page.text, "http://www.w3.org/2000/svg"), 2);
    assert_int_equal(count_of(page.text, "https://"), 0);
    for (const char *at = page.text; *at; at++)
        assert_true((unsigned char)*at >= 0x20 || *at == '\n');
    free(page.text);
}

static void pages_of_many_operations_stay_small(void **state)
{
    (void)state;
    written page = write_evil_page(1000000);
    assert_true(page.size < 5 * 1000 * 1000);
    assert_non_null(strstr(page.text, "1,000,000 operations in "));
    free(page.text);
}

static void draws_nothing_where_there_is_nothing(void **state)
{
    (void)state;
    named_workload named;
    const haul_workload *workload = make_named(&named, 1);
    named.owned.seen.op_count = 0;
    haul_analysis *analysis;
    haul_error error;
    assert_int_equal(haul_analysis_make(workload, &analysis, &error), HAUL_OK);
    const haul_drawn drawn = {.workload = workload};
    haul_report *report = haul_report_analysis(workload, analysis);
    const haul_page page = {.title = "empty",
                            .timelines = &drawn,
                            .timeline_count = 1,
                            .reports = (const haul_report *const *)&report,
                            .report_count = 1,
                            .analysis = analysis};
    written made = write_page(&page);
    haul_report_free(report);
    assert_null(strstr(made.text, "nan"));
    free(made.text);
    const haul_page bare = {.title = "bare"};
    made = write_page(&bare);
    assert_non_null(strstr(made.text, "<title>bare</title>"));
    free(made.text);
    haul_analysis_free(analysis);
    release_named(&named);
}

/* A profile whose tables are empty has no array of operations at all. */
static void an_empty_profile_has_no_lanes(void **state)
{
    (void)state;
    const haul_workload nothing = {0};
    const haul_drawn drawn = {.workload = &nothing};
    hl_page_lanes lanes;
    haul_error error;
    assert_int_equal(hl_page_lanes_make(&drawn, 10, &lanes, &error), HAUL_OK);
    assert_int_equal(lanes.count, 0);
    assert_int_equal(lanes.window_ns, 0);
    hl_page_lanes_release(&lanes);
}

static void says_what_cannot_be_written(void **state)
{
    (void)state;
    FILE *full = fopen("/dev/full", "w");
    if (!full)
        skip();
    (void)setvbuf(full, NULL, _IONBF, 0);
    const haul_page page = {.title = "full"};
    haul_error error;
    assert_int_equal(haul_page_write(&page, full, &error), HAUL_STATUS_IO);
    (void)fclose(full);
}

/* A page for the test in a browser. */
static int write_for_browser(const char *path)
{
    const written page = write_evil_page(4000);
    FILE *out = fopen(path, "w");
    const int failed = !out || fwrite(page.text, 1, page.size, out) != page.size || fclose(out);
    free(page.text);
    return failed;
}

typedef struct stretches {
    haul_span found[8];
    size_t count;
} stretches;

static void keep_stretch(void *state, haul_span stretch)
{
    stretches *self = state;
    assert_true(self->count < 8);
    self->found[self->count++] = stretch;
}

/* The copies that advice removes keep their place, with no time, wherever their calls are made. */
static void a_removed_operation_is_not_drawn(void **state)
{
    (void)state;
    enum { OPS = 24, GONE = 4, FAR_NS = 600000000 };
    named_workload named;
    haul_span spans[OPS];
    const haul_workload *workload = make_named(&named, OPS);
    for (size_t i = 0; i < OPS; i++)
        spans[i] = (haul_span){(int64_t)i * 1000, (int64_t)i * 1000 + 500};
    spans[GONE] = (haul_span){FAR_NS, FAR_NS};
    for (int changed = 0; changed < 2; changed++) {
        const haul_drawn drawn = {.workload = workload, .spans = spans, .changed = changed};
        hl_page_lanes lanes;
        haul_error error;
        assert_int_equal(hl_page_lanes_make(&drawn, 8, &lanes, &error), HAUL_OK);
        uint64_t count = 0;
        for (size_t i = 0; i < lanes.count; i++)
            count += lanes.lanes[i].count;
        assert_int_equal(lanes.window_ns, changed ? (OPS - 1) * 1000 + 500 : FAR_NS);
        assert_int_equal(count, changed ? OPS - 1 : OPS);
        hl_page_lanes_release(&lanes);
    }
    release_named(&named);
}

/* Of two streams every second operation, then the last two of one. */
static void marks_what_decides_the_end(void **state)
{
    (void)state;
    named_workload named;
    const haul_workload *workload = make_named(&named, 24);
    static const uint32_t critical[] = {0, 5, 8, 13, 16, 20};
    const haul_drawn drawn = {.workload = workload, .critical = critical, .critical_count = 6};
    hl_page_lanes lanes;
    haul_error error;
    assert_int_equal(hl_page_lanes_make(&drawn, 8, &lanes, &error), HAUL_OK);
    assert_int_equal(lanes.count, 4);
    stretches first = {0}, second = {0}, third = {0}, together = {0};
    hl_page_lane_critical(&lanes, &lanes.lanes[0], 0, keep_stretch, &first);
    hl_page_lane_critical(&lanes, &lanes.lanes[1], 0, keep_stretch, &second);
    hl_page_lane_critical(&lanes, &lanes.lanes[2], 0, keep_stretch, &third);
    hl_page_lane_critical(&lanes, &lanes.lanes[0], 1000, keep_stretch, &together);
    assert_int_equal(first.count, 4);
    assert_int_equal(second.count, 2);
    assert_int_equal(third.count, 0);
    assert_int_equal(first.found[1].start_ns, 2000);
    assert_int_equal(first.found[1].end_ns, 2000 + named.ops[8].dur_ns);
    assert_int_equal(together.count, 3); /* the last two are closer than that */
    assert_int_equal(together.found[2].end_ns, 5000 + named.ops[20].dur_ns);
    hl_page_lanes_release(&lanes);
    release_named(&named);
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "write"))
        return write_for_browser(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_text_text),
        cmocka_unit_test(keeps_json_within_its_element),
        cmocka_unit_test(bars_stand_for_all_operations),
        cmocka_unit_test(marks_what_decides_the_end),
        cmocka_unit_test(a_removed_operation_is_not_drawn),
        cmocka_unit_test(hostile_names_stay_text),
        cmocka_unit_test(a_section_can_be_linked_to),
        cmocka_unit_test(pages_of_many_operations_stay_small),
        cmocka_unit_test(draws_nothing_where_there_is_nothing),
        cmocka_unit_test(an_empty_profile_has_no_lanes),
        cmocka_unit_test(says_what_cannot_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
