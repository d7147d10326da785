/* haul overlap --run: the strategies on a device. */
#include <string.h>

#include "cli/overlap_tiles.h"
#include "haul/overlap_run.h"

enum { DATA_MOST = 512 }; /* the side of a simulated problem whose results are computed too */

/* The machine that was given, or the one that a simulated device is. */
static haul_status find_machine(const overlap_request *self, haul_machine **own, haul_error *error)
{
    char name[256];
    if (self->machine)
        return HAUL_OK;
    if (!self->device || strncmp(self->device, "sim:", 4) != 0)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "--machine M is missing: 'haul measure --device %.60s -o here.yaml' "
                              "makes one",
                              self->device ? self->device : "D");
    (void)snprintf(name, sizeof name, "%s", self->device + 4);
    return haul_machine_load(name, own, error);
}

haul_status cli_overlap_run(const overlap_request *self, haul_error *error)
{
    const uint64_t side = self->size.count ? self->size.side[0] : 0;
    const bool is_simulated = self->device && !strncmp(self->device, "sim", 3);
    const haul_device_options how = {.without_data = is_simulated && side > DATA_MOST};
    const haul_run_options options = {.kernel = self->run, .side = (uint32_t)side};
    haul_machine *own = NULL;
    haul_device *device = NULL;
    haul_run run;
    haul_status status = find_machine(self, &own, error);
    if (!status)
        status = haul_device_open(self->device, &how, &device, error);
    if (!status) {
        cli_progress_begin("running", self->run);
        status = haul_overlap_run(device, own ? own : self->machine, &options, &run, error);
        cli_progress_end();
    }
    if (!status) {
        char title[200];
        const char *name = haul_device_describe(device)->name;
        (void)snprintf(title, sizeof title, "%.60s on %.100s", self->run, name);
        cli_answer answer = {.report = haul_report_run(&run, name),
                             .page = {.title = title, .run = &run},
                             .machines = {own ? own : self->machine}};
        status = cli_answer_write(&self->given.results, &answer, error);
    }
    haul_device_close(device);
    haul_machine_free(own);
    return status;
}
