/* Holds a machine file that is to join the catalogue against what is there. */
#include <stdio.h>
#include <string.h>

#include "haul/machine.h"
#include "haul/units.h"
#include "machine/gpu_names.h"

/* Two boards of one GPU, or a data sheet and a measurement, are closer than this. */
static const double ratio_most = 2;

typedef struct newcomer {
    const haul_machine *machine;
    const haul_machine *known; /* of the catalogue, with the same GPU */
    const char *path;
    const haul_parameter *parameter;
    haul_machine_finding visit;
    void *state;
} newcomer;

/* Both are the GPU's own; copies of pinned memory depend on the slot as well, and those of pageable
 * memory on the CPU. */
static bool is_comparable(const newcomer *self)
{
    if (!strncmp(self->path, "copies[", 7))
        return !strstr(self->path, "pageable") && !strstr(self->path, "uncertainty") &&
               haul_link_peak(&self->machine->link).value ==
                   haul_link_peak(&self->known->link).value;
    return !strncmp(self->path, "gpu.", 4) && strcmp(self->path, "gpu.count") != 0 &&
           strcmp(self->path, "gpu.per_link") != 0;
}

static int compare_known(void *state, const char *path, int dimension, const haul_parameter *known)
{
    newcomer *self = state;
    char own[32], other[32], text[256];
    if (strcmp(path, self->path) != 0)
        return 0;
    const double a = self->parameter->value, b = known->value;
    /* what was guessed for the other says nothing of this one */
    const bool is_known = known->provenance < HAUL_PROVENANCE_SCALED;
    if (is_known && a > 0 && b > 0 && (a > ratio_most * b || b > ratio_most * a)) {
        const haul_dimension of = (haul_dimension)dimension;
        (void)snprintf(text, sizeof text, "%s is %s, and '%.40s', with the same GPU, has %s (%s)",
                       path, haul_quantity_format(a, of, 4, own, sizeof own), self->known->name,
                       haul_quantity_format(b, of, 4, other, sizeof other),
                       haul_provenance_text(known->provenance));
        self->visit(self->state, text);
    }
    return 1;
}

static int compare_parameter(void *state, const char *path, int dimension,
                             const haul_parameter *parameter)
{
    newcomer *self = state;
    self->path = path;
    (void)dimension;
    self->parameter = parameter;
    if (parameter->provenance && is_comparable(self))
        (void)haul_machine_visit(self->known, compare_known, self);
    return 0;
}

static void check_whole(const newcomer *self)
{
    const haul_machine *machine = self->machine;
    const struct {
        bool is_there;
        const char *text;
    } needs[] = {
        {machine->gpu.name != NULL, "gpu.name is missing: as the vendor's tools print it"},
        {machine->gpu.architecture != NULL, "gpu.architecture is missing"},
        {machine->host.name != NULL, "host.name is missing: the CPUs"},
        {machine->link.kind != HAUL_LINK_NONE, "link is missing: in which slot the GPU is"},
        {machine->copy_count > 0, "copies are missing"},
    };
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (!needs[i].is_there)
            self->visit(self->state, needs[i].text);
}

static void check_beside(newcomer *self, const haul_machine *known, size_t *alike)
{
    char text[128];
    if (!strcmp(known->name, self->machine->name)) {
        (void)snprintf(text, sizeof text, "name is '%.60s', as that of a machine in the catalogue",
                       known->name);
        self->visit(self->state, text);
    } else if (hl_machine_gpu_same(&known->gpu, &self->machine->gpu)) {
        self->known = known;
        (void)haul_machine_visit(self->machine, compare_parameter, self);
        ++*alike;
    }
}

haul_status haul_machine_check_new(const haul_machine *machine, haul_machine_finding visit,
                                   void *state, size_t *alike, haul_error *error)
{
    newcomer self = {.machine = machine, .visit = visit, .state = state};
    char **names;
    size_t count;
    *alike = 0;
    HAUL_TRY(haul_catalogue_list(&names, &count, error));
    check_whole(&self);
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < count; i++) {
        haul_machine *known = NULL;
        status = haul_machine_load(names[i], &known, error);
        if (!status)
            check_beside(&self, known, alike);
        haul_machine_free(known);
    }
    haul_names_free(names, count);
    return status;
}
