/* What the forms of advice share. */
#ifndef HAUL_REPORT_REPORT_ADVICE_H
#define HAUL_REPORT_REPORT_ADVICE_H

#include "haul/report.h"

haul_status haul_advice_print_json(const haul_workload *workload, const haul_advice_list *list,
                                   FILE *out, haul_error *error);

#endif
