/* The promise of include/haul/status.h about every haul_..._free and haul_..._close. */
#include "check.h"

#include "haul/advise.h"
#include "haul/analysis.h"
#include "haul/compare.h"
#include "haul/cost.h"
#include "haul/csv.h"
#include "haul/device.h"
#include "haul/document.h"
#include "haul/fit.h"
#include "haul/kernel.h"
#include "haul/kernel_class.h"
#include "haul/kernel_file.h"
#include "haul/kernel_times.h"
#include "haul/machine.h"
#include "haul/measure.h"
#include "haul/message.h"
#include "haul/project.h"
#include "haul/simulate.h"
#include "haul/tile.h"
#include "haul/timeline.h"
#include "haul/workload.h"

static void null_is_freed(void **state)
{
    (void)state;
    haul_timeline_free(NULL);
    haul_context_close(NULL);
    haul_array_free(NULL);
    haul_report_free(NULL);
    haul_kernel_fit_free(NULL);
    haul_machine_free(NULL);
    haul_names_free(NULL, 0);
    haul_csv_close(NULL);
    haul_schedule_free(NULL);
    haul_simulation_free(NULL);
    haul_kernel_file_free(NULL);
    haul_samples_free(NULL);
    haul_fit_groups_free(NULL);
    haul_device_close(NULL);
    haul_buffer_free(NULL);
    haul_stream_free(NULL);
    haul_event_free(NULL);
    haul_kernel_free(NULL);
    haul_workload_free(NULL);
    haul_message_samples_free(NULL);
    haul_message_fit_free(NULL);
    haul_kernel_classes_free(NULL);
    haul_analysis_free(NULL);
    haul_kernel_times_free(NULL);
    haul_kernel_groups_free(NULL);
    haul_advice_free(NULL);
    haul_projection_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(null_is_freed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
