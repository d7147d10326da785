/* Machines: what is read can be written, and is read back as the same machine; what is refused has
 * a place and a reason. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FIGURES_MOST = 2048 };

typedef struct figure_list {
    haul_parameter items[FIGURES_MOST];
    size_t count;
} figure_list;

static int add_figure(void *state, const char *path, int dimension, const haul_parameter *figure)
{
    (void)path;
    (void)dimension;
    figure_list *self = state;
    assert(self->count < FIGURES_MOST);
    self->items[self->count++] = *figure;
    return 0;
}

static int same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static void check_figures(const haul_machine *a, const haul_machine *b)
{
    static figure_list lists[2];
    lists[0].count = lists[1].count = 0;
    haul_machine_visit(a, add_figure, &lists[0]);
    haul_machine_visit(b, add_figure, &lists[1]);
    assert(lists[0].count == lists[1].count);
    for (size_t i = 0; i < lists[0].count; i++) {
        assert(lists[0].items[i].value == lists[1].items[i].value);
        assert(lists[0].items[i].provenance == lists[1].items[i].provenance);
        assert(same_text(lists[0].items[i].source, lists[1].items[i].source));
    }
}

static void check_curves(const haul_machine *a, const haul_machine *b)
{
    assert(a->copy_count == b->copy_count);
    for (size_t i = 0; i < a->copy_count; i++) {
        const haul_copy_curve *curve = &a->copies[i];
        const haul_copy_curve *again = &b->copies[i];
        assert(curve->direction == again->direction && curve->memory == again->memory &&
               curve->locality == again->locality);
        assert(haul_machine_curve(a, curve->direction, curve->memory, curve->locality) == curve);
        for (size_t j = 0; j < (size_t)curve->points_from.value; j++)
            assert(curve->points[j].bytes == again->points[j].bytes &&
                   curve->points[j].seconds == again->points[j].seconds);
    }
}

static void check_texts(const haul_machine *a, const haul_machine *b)
{
    assert(same_text(a->name, b->name) && same_text(a->summary, b->summary));
    assert(same_text(a->host.name, b->host.name) && same_text(a->gpu.name, b->gpu.name));
    assert(same_text(a->gpu.architecture, b->gpu.architecture));
    assert(a->link.kind == b->link.kind && a->peer.kind == b->peer.kind);
}

static void check_round_trip(const haul_machine *machine)
{
    char *text = NULL;
    size_t size = 0;
    haul_error error;
    haul_machine *again = NULL;
    FILE *out = open_memstream(&text, &size);
    assert(out && !haul_machine_write(machine, out, &error));
    assert(!fclose(out));
    assert(!haul_machine_parse(text, size, "written", &again, &error));
    check_texts(machine, again);
    check_figures(machine, again);
    check_curves(machine, again);
    assert(haul_link_peak(&machine->link).value == haul_link_peak(&again->link).value);
    haul_machine_free(again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    haul_machine *machine = NULL;
    haul_error error = {0};
    const haul_status status =
        haul_machine_parse((const char *)data, size, "input", &machine, &error);
    if (status) {
        assert(status == HAUL_STATUS_BAD_INPUT && error.text[0] && !strcmp(error.file, "input"));
        assert(!machine && (error.line > 0 || strstr(error.text, "larger")));
        return 0;
    }
    check_round_trip(machine);
    haul_machine_free(machine);
    return 0;
}
