/* Shared by the examples of tiles: the command line, errors, progress, a picture, and the check
 * against plain loops. */
#ifndef EXAMPLES_TILES_EXAMPLE_H
#define EXAMPLES_TILES_EXAMPLE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "haul/tile.h"

static haul_error error;

static inline void must(haul_status status)
{
    char text[1200];
    if (!status)
        return;
    fprintf(stderr, "%s\n", haul_error_format(&error, text, sizeof text));
    exit(status == HAUL_STATUS_ABSENT ? 77 : 1);
}

typedef struct example {
    haul_context *context;
    int size; /* cells along an edge */
    int steps;
    const char *picture; /* NULL: none */
} example;

/* `size` and `steps` are the program's own. With little device memory arrays stream through it. */
static inline example begin(int argc, char **argv, int size, int steps)
{
    example self = {.size = size, .steps = steps};
    int option, most = 2048;
    while ((option = getopt(argc, argv, "s:n:o:")) != -1) {
        if (option == 's')
            self.size = atoi(optarg);
        else if (option == 'n')
            self.steps = atoi(optarg);
        else if (option == 'o')
            self.picture = optarg;
        else
            self.size = 0;
    }
    if (self.size < 1 || self.size > most || self.steps < 0 || optind + 2 < argc) {
        fprintf(stderr, "usage: %s [-s SIZE] [-n STEPS] [-o PICTURE.pgm] [DEVICE [MEGABYTES]]\n",
                argv[0]);
        exit(2);
    }
    const haul_context_options options = {
        .memory_bytes = optind + 1 < argc ? (uint64_t)(atof(argv[optind + 1]) * 1e6) : 0,
    };
    must(haul_context_open(optind < argc ? argv[optind] : NULL, &options, &self.context, &error));
    return self;
}

static inline haul_array *make_array(haul_context *context, haul_array_spec spec)
{
    haul_array *array;
    must(haul_array_new(context, &spec, &array, &error));
    return array;
}

static inline void *make_cells(size_t count, size_t bytes)
{
    void *cells = calloc(count, bytes);
    if (!cells) {
        fputs("no memory\n", stderr);
        exit(1);
    }
    return cells;
}

/* A bar on a terminal. Loops only queue: the bar waits for them, so it is drawn 20 times in all. */
static inline void show_progress(const example *self, int done)
{
    enum { WIDTH = 20 };
    const int every = self->steps < WIDTH ? 1 : self->steps / WIDTH;
    if (!isatty(STDERR_FILENO) || (done % every && done < self->steps))
        return;
    must(haul_context_wait(self->context, &error));
    const int filled = done * WIDTH / self->steps;
    fprintf(stderr, "\r[%-*.*s] step %d of %d", WIDTH, filled, "####################", done,
            self->steps);
    if (done == self->steps)
        fputs("\r\033[K", stderr);
}

/* A picture in shades of grey (PGM): `width` cells a row, `height` rows, `pitch` cells apart. */
static inline void draw(const example *self, const double *cells, int width, int height,
                        size_t pitch)
{
    double least = INFINITY, most = -INFINITY;
    FILE *file = self->picture ? fopen(self->picture, "wb") : NULL;
    if (!self->picture)
        return;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            least = fmin(least, cells[(size_t)y * pitch + (size_t)x]);
            most = fmax(most, cells[(size_t)y * pitch + (size_t)x]);
        }
    const double scale = most > least ? 255 / (most - least) : 0;
    if (file)
        fprintf(file, "P5\n%d %d\n255\n", width, height);
    for (int y = 0; y < height && file; y++)
        for (int x = 0; x < width; x++)
            putc((int)((cells[(size_t)y * pitch + (size_t)x] - least) * scale), file);
    const int failed = !file || ferror(file);
    if ((file && fclose(file)) || failed) {
        perror(self->picture);
        exit(1);
    }
}

/* Says what was done, and ends the program with 1 where results differ by more than `most`. */
static inline int report(const example *self, const char *what, double difference, double most)
{
    const haul_context_counts counts = haul_context_count(self->context);
    printf("%s on %s: %llu loops in %llu passes, %.1f MB in, %.1f MB out; differs from plain loops "
           "by %.1g\n",
           what, haul_device_describe(haul_context_device(self->context))->name,
           (unsigned long long)counts.loops, (unsigned long long)counts.passes,
           (double)counts.bytes_up * 1e-6, (double)counts.bytes_down * 1e-6, difference);
    haul_context_close(self->context);
    return !(difference <= most);
}

static inline double largest_difference(const double *a, const double *b, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(a[i] - b[i]));
    return largest;
}

#endif
