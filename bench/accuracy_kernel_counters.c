/* What bounds kernels on the source GPU: by their expressions, and by the GPUs' own counters. */
#include <stdlib.h>
#include <string.h>

#include "accuracy.h"
#include "haul/csv.h"
#include "kernel_rows.h"

enum { GTX_750 = 3, SECTOR = 32 /* bytes of a transaction */ };

typedef struct traffic {
    double bytes;
    double seconds;
} traffic;

/* Transactions and seconds: the throughputs beside them change their unit from row to row. */
static haul_status read_rows(haul_csv *csv, traffic *sum, haul_error *error)
{
    static const char *const names[] = {"Device.Memory.Read.Transactions",
                                        "Device.Memory.Write.Transactions", "Duration"};
    size_t columns[3];
    haul_status status = HAUL_OK;
    for (int i = 0; i < 3 && status == HAUL_OK; i++)
        status = haul_csv_find(csv, names[i], &columns[i], error);
    const char *const *fields = NULL;
    while (status == HAUL_OK) {
        status = haul_csv_next(csv, &fields, error);
        if (status || !fields)
            break;
        double values[3];
        bool known = true;
        for (int i = 0; i < 3; i++) {
            char *end;
            values[i] = strtod(fields[columns[i]], &end);
            known = known && end != fields[columns[i]] && values[i] >= 0; /* some are "NA" */
        }
        if (!known)
            continue;
        sum->bytes += SECTOR * (values[0] + values[1]);
        sum->seconds += values[2];
    }
    return status;
}

static haul_status read_counters(const char *data, int p, int b, traffic *sum, haul_error *error)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/kernels/counters/%s-%s.csv", data, kernel_programs[p],
             kernel_boards[b].in_data);
    haul_csv *csv = NULL;
    const haul_status opened = haul_csv_open(path, &csv, error);
    if (opened)
        return opened;
    const haul_status status = read_rows(csv, sum, error);
    haul_csv_close(csv);
    return status;
}

/* As the fit takes it. */
static double share_of_expression(const kernel_series *series, double rate)
{
    traffic sum = {0};
    for (size_t i = 0; i < series->count; i++) {
        sum.bytes += series->samples[i].counts.bytes;
        sum.seconds += series->samples[i].seconds;
    }
    return sum.bytes / sum.seconds / rate;
}

typedef struct agreement {
    int pairs;
    int agreed;
} agreement;

static haul_status print_program(const char *data, const kernel_rows *rows, int p, agreement *both,
                                 FILE *out, haul_error *error)
{
    const double half = 0.5;
    fprintf(out, "| %s |", kernel_programs[p]);
    for (int b = 0; b < KERNEL_BOARDS; b++) {
        if (b == GTX_750)
            continue;
        const haul_gpu *gpu = &rows->machines[b]->gpu;
        const double rate = gpu->memory_bandwidth_Bps.value * (gpu->inline_ecc.value > 0 ? 0.8 : 1);
        traffic sum = {0};
        const haul_status status = read_counters(data, p, b, &sum, error);
        if (status)
            return status;
        const double by_expression = share_of_expression(&rows->series[p][b], rate);
        const double by_counters = sum.seconds > 0 ? sum.bytes / sum.seconds / rate : 0;
        both->pairs++;
        both->agreed += (by_expression >= half) == (by_counters >= half);
        fprintf(out, " %.2f / %.2f |", by_expression, by_counters);
    }
    fputc('\n', out);
    return HAUL_OK;
}

static haul_status write_tables(const char *data, const kernel_rows *rows, FILE *out,
                                haul_error *error)
{
    agreement both = {0};
    haul_status status = HAUL_OK;
    for (int p = 0; p < KERNEL_PROGRAMS && status == HAUL_OK; p++)
        if (strcmp(kernel_programs[p], "quicksort") != 0) /* has none */
            status = print_program(data, rows, p, &both, out, error);
    if (status == HAUL_OK)
        fprintf(out, "\nThe two agree on the bound in %d of %d cases.\n", both.agreed, both.pairs);
    return status;
}

static haul_status write_section(const char *data, FILE *out, haul_error *error)
{
    kernel_rows *rows = NULL;
    haul_status status = kernel_rows_read(data, &rows, error);
    if (status)
        return status;
    fputs("## Kernels: what bounds them on the source GPU\n\n"
          "Data: `kernels/counters`. The share of the device memory's bandwidth that is in use, by "
          "the bytes that must cross it (the expressions) and by the GPU's own transactions of "
          "32 bytes, over all sizes: from 0.5 up `roofline` follows the memory, below it what goes "
          "on inside the multiprocessors. quicksort has no counters; those of the GTX 750 are "
          "other programs'.\n\n"
          "| program | gtx-680 | gtx-titan | k40 | gtx-970 |\n| --- | --- | --- | --- | --- |\n",
          out);
    status = write_tables(data, rows, out, error);
    kernel_rows_free(rows);
    return status;
}

const accuracy_section accuracy_kernel_counters = {"kernel-counters", write_section};
