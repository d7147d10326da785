/* Filters a picture on a device, chunk by chunk as one that does not fit would be, in one
 * of two ways; checks the result against the CPU's and says what was copied and how long it took.
 */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"

typedef struct conv_options {
    const conv_way *way;
    const char *device;
    bool count;
    bool check;
} conv_options;

static const char usage[] =
    "usage: convolution [OPTION]...\n"
    "  --device NAME           host, opencl:0, cuda:0, sim:k40, ... (the fastest kind)\n"
    "  --way plain|overlapped  how the chunks are moved (plain)\n"
    "  --rows N, --columns N   of the picture (2048, 2048)\n"
    "  --radius N              of the filter, 2 N + 1 pixels wide (3)\n"
    "  --chunk N               rows at once (128)\n"
    "  --frames N              how often the picture is filtered (1)\n"
    "  --count                 as CSV what was made, for comparing with a recorder\n"
    "  --no-check              without the CPU's result\n";

/* A whole number from 1 to `most`; 0 where the text is none. */
static size_t number(const char *text, size_t most)
{
    char *rest;
    const unsigned long value = strtoul(text, &rest, 10);
    return *rest || *text == '-' || value > most ? 0 : value;
}

static bool set_way(conv_options *options, const char *name)
{
    static const conv_way *const ways[] = {&way_plain, &way_overlapped};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (!strcmp(ways[i]->name, name))
            options->way = ways[i];
    return !strcmp(options->way->name, name);
}

static bool parse(int argc, char **argv, conv_job *job, conv_options *options)
{
    static const struct option known[] = {{"way", 1, NULL, 'w'},     {"rows", 1, NULL, 'r'},
                                          {"columns", 1, NULL, 'c'}, {"radius", 1, NULL, 'd'},
                                          {"chunk", 1, NULL, 'k'},   {"frames", 1, NULL, 'f'},
                                          {"count", 0, NULL, 'n'},   {"no-check", 0, NULL, 'x'},
                                          {"device", 1, NULL, 'v'},  {NULL, 0, NULL, 0}};
    size_t *value = NULL;
    int option;
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        switch (option) {
        case 'r':
            value = &job->rows;
            break;
        case 'c':
            value = &job->columns;
            break;
        case 'd':
            value = &job->radius;
            break;
        case 'k':
            value = &job->chunk_rows;
            break;
        case 'f':
            value = &job->frames;
            break;
        case 'n':
            options->count = true;
            continue;
        case 'x':
            options->check = false;
            continue;
        case 'v':
            options->device = optarg;
            continue;
        case 'w':
            if (set_way(options, optarg))
                continue;
            return false;
        default:
            return false;
        }
        *value = number(optarg, option == 'd' ? 100 : 100000);
        if (!*value)
            return false;
    }
    return optind == argc;
}

/* A filter whose weights fall off from the middle and sum to one. */
static void fill_filter(conv_job *self)
{
    const size_t width = job_width(self);
    double sum = 0;
    self->filter = malloc(job_filter_bytes(self));
    if (!self->filter)
        exit(1);
    for (size_t i = 0; i < width * width; i++) {
        const double y = (double)(i / width) - (double)self->radius;
        const double x = (double)(i % width) - (double)self->radius;
        self->filter[i] = (float)exp(-2 * (x * x + y * y) / (double)(self->radius * self->radius));
        sum += (double)self->filter[i];
    }
    for (size_t i = 0; i < width * width; i++)
        self->filter[i] = (float)((double)self->filter[i] / sum);
}

static size_t clamped(size_t at, size_t radius, size_t size)
{
    return at < radius ? 0 : at - radius < size ? at - radius : size - 1;
}

/* Values from 0 to 1 without a pattern of the chunks' or the rows' length. */
static float pixel(size_t row, size_t column)
{
    const uint32_t mixed = (uint32_t)(row * 2654435761U) ^ (uint32_t)(column * 2246822519U);
    return (float)((mixed * 3266489917U) >> 8) / 16777216.0F;
}

static void fill_picture(conv_job *self)
{
    float *to = self->in;
    for (size_t y = 0; y < self->rows + 2 * self->radius; y++)
        for (size_t x = 0; x < job_pitch(self); x++)
            *to++ = pixel(clamped(y, self->radius, self->rows),
                          clamped(x, self->radius, self->columns));
    memset(self->out, 0, job_out_bytes(self, self->rows));
}

static double expected(const conv_job *self, size_t y, size_t x)
{
    const size_t width = job_width(self);
    double sum = 0;
    for (size_t i = 0; i < width; i++) {
        const float *from = self->in + (y + i) * job_pitch(self) + x;
        for (size_t j = 0; j < width; j++)
            sum += (double)(from[j] * self->filter[i * width + j]);
    }
    return sum;
}

/* The largest difference to the CPU's result. Pixels and the filter's sum are about 1, so a sum of
 * n products may be off by n / 2 roundings of 2^-24. */
static double worst_error(const conv_job *self)
{
    double worst = 0;
    for (size_t y = 0; y < self->rows; y++)
        for (size_t x = 0; x < self->columns; x++) {
            const double got = (double)self->out[y * self->columns + x];
            const double off = fabs(got - expected(self, y, x));
            if (!(off <= worst))
                worst = off;
        }
    return worst;
}

static bool is_right(const conv_job *self, double error)
{
    const double products = (double)(job_width(self) * job_width(self));
    return error <= (products / 2 + 1) / 16777216.0;
}

static void print_csv(const conv_job *self)
{
    puts("operation,memory,count,bytes,time_ns");
    for (made kind = 0; kind < MADE_KINDS; kind++) {
        const tally_sum *sum = &self->done.sums[kind];
        printf("%s,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", made_name(kind), made_memory(kind),
               sum->count, sum->bytes, sum->time_ns);
    }
}

static void print_table(const conv_job *self, const conv_way *way, double wall_s)
{
    printf("%s: %zu x %zu pixels, filter %zu x %zu, %zu rows at once, on %s\n", way->name,
           self->rows, self->columns, job_width(self), job_width(self), self->chunk_rows,
           haul_device_describe(self->device)->name);
    for (made kind = 0; kind < MADE_KINDS; kind++) {
        const tally_sum *sum = &self->done.sums[kind];
        char moved[24] = "";
        if (sum->bytes)
            snprintf(moved, sizeof moved, "%.6f MB", 1e-6 * (double)sum->bytes);
        if (sum->count)
            printf("  %-6s %-8s %8" PRIu64 " %17s %12.3f ms\n", made_name(kind), made_memory(kind),
                   sum->count, moved, 1e-6 * (double)sum->time_ns);
    }
    printf("  all in %.3f ms\n", 1e3 * wall_s);
}

static int run(conv_job *self, const conv_options *options)
{
    int status = 0;
    job_open(self, options->device);
    fill_filter(self);
    options->way->begin(self);
    fill_picture(self);
    const int64_t begin_ns = haul_device_now(self->device);
    options->way->run(self);
    const double wall_s = 1e-9 * (double)(haul_device_now(self->device) - begin_ns);
    const double error = options->check ? worst_error(self) : 0;
    options->way->end(self);
    tally_settle(&self->done);
    if (options->count)
        print_csv(self);
    else
        print_table(self, options->way, wall_s);
    if (options->check && !options->count)
        printf("  largest difference to the CPU's result: %.2g\n", error);
    if (!is_right(self, error)) {
        fprintf(stderr, "convolution: wrong: off by %g\n", error);
        status = 1;
    }
    free(self->filter);
    tally_end(&self->done);
    job_close(self);
    return status;
}

int main(int argc, char **argv)
{
    conv_job job = {.rows = 2048, .columns = 2048, .radius = 3, .chunk_rows = 128, .frames = 1};
    conv_options options = {.way = &way_plain, .check = true};
    if (!parse(argc, argv, &job, &options)) {
        fputs(usage, stderr);
        return 2;
    }
    if (job.chunk_rows > job.rows)
        job.chunk_rows = job.rows;
    const int status = run(&job, &options);
    return fflush(stdout) ? 1 : status;
}
