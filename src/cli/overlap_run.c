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
    if (!status)
        status = cli_report(&self->given.results,
                            haul_report_run(&run, haul_device_describe(device)->name), error);
    haul_device_close(device);
    haul_machine_free(own);
    return status;
}
