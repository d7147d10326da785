/* An ocean of SIZE x SIZE columns of 42 levels that is stirred where it is unstable: tiles_ocean
 * [-s SIZE] [-n STEPS] [-o PICTURE.pgm] [DEVICE [MEGABYTES]] */
#include "example.h"
#include "ocean.kernel.h"

enum { LEVELS = 42, T = 0, S, RHO, BY_T, BY_S, ADJACENT, SURFACE, NEXT_T, NEXT_S, ARRAYS };

static const double dbar = 100, share = 0.2;

typedef struct ocean {
    haul_array *at[ARRAYS];
    haul_array *top_t, *top_s;
} ocean;

static void step_ocean(haul_context *context, const ocean *self, int n)
{
    haul_array *const *at = self->at;
    const haul_box surface = {{0, 0, 0}, {n, n, 1}};
    const haul_loop_options of_surface = {.box = &surface};
    const void *const tops[] = {at[T], at[S], self->top_t, self->top_s};
    must(haul_loop_queue(context, &keep_surface, tops, 4, &of_surface, &error));
    must(HAUL_LOOP(context, &error, &state, at[T], at[S], at[RHO], at[BY_T], at[BY_S], &dbar));
    must(HAUL_LOOP(context, &error, &buoydiff, at[T], at[S], self->top_t, self->top_s, at[ADJACENT],
                   at[SURFACE], &dbar));
    must(HAUL_LOOP(context, &error, &stir, at[T], at[ADJACENT], at[NEXT_T], &share));
    must(HAUL_LOOP(context, &error, &stir, at[S], at[ADJACENT], at[NEXT_S], &share));
    must(haul_array_swap(at[T], at[NEXT_T], &error));
    must(haul_array_swap(at[S], at[NEXT_S], &error));
}

/* The same on plain arrays: a level above the first is the first, one below the last the last. */
static void step_plainly(double *const at[ARRAYS], size_t level)
{
    for (size_t i = 0; i < LEVELS * level; i++) {
        const double t = at[T][i], s = at[S][i],
                     p = ((double)(i - i % level) / (double)level + 1) * dbar;
        const size_t above = i < level ? i : i - level, top = i % level;
        at[RHO][i] = density_of(t, s, p);
        at[BY_T][i] = 50 * (density_of(t + 0.01, s, p) - density_of(t - 0.01, s, p));
        at[BY_S][i] = 50 * (density_of(t, s + 0.01, p) - density_of(t, s - 0.01, p));
        at[ADJACENT][i] = 9.80616 * (1 - density_of(at[T][above], at[S][above], p) / at[RHO][i]);
        at[SURFACE][i] = 9.80616 * (1 - density_of(at[T][top], at[S][top], p) / at[RHO][i]);
    }
    for (size_t i = 0; i < LEVELS * level; i++) {
        const size_t above = i < level ? i : i - level;
        const size_t below = i + level < LEVELS * level ? i + level : i;
        for (int of = T; of <= S; of++) {
            const double *from = at[of];
            const double up = at[ADJACENT][i] < 0 ? from[above] - from[i] : 0;
            const double down = at[ADJACENT][below] < 0 ? from[below] - from[i] : 0;
            at[NEXT_T + of][i] = from[i] + share * (up + down);
        }
    }
    memcpy(at[T], at[NEXT_T], LEVELS * level * sizeof(double));
    memcpy(at[S], at[NEXT_S], LEVELS * level * sizeof(double));
}

/* Warm above cold, with a cold and salty patch at the surface, which will sink. */
static void fill(double *t, double *s, int n)
{
    for (int z = 0; z < LEVELS; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                const double r = hypot(x - n / 2.0, y - n / 2.0) / n;
                const double patch = z < 8 ? exp(-20 * r * r) : 0;
                *t++ = 4 + 16 * exp(-z / 10.0) - 17 * patch;
                *s++ = 34 + z / 42.0 + 2 * patch;
            }
}

int main(int argc, char **argv)
{
    const example self = begin(argc, argv, 24, 10);
    const int n = self.size;
    const size_t level = (size_t)n * (size_t)n, cells = LEVELS * level;
    const haul_boundary copied = HAUL_BOUNDARY_COPY;
    const haul_array_spec spec = {
        .size = {n, n, LEVELS}, .ghost = {1, 1, 1}, .boundary = {copied, copied, copied}};
    const haul_array_spec flat = {.size = {n, n}};
    double *plain[ARRAYS], *got = make_cells(cells, sizeof(double)), difference = 0;
    ocean sea = {.top_t = make_array(self.context, flat), .top_s = make_array(self.context, flat)};
    for (int i = 0; i < ARRAYS; i++) {
        sea.at[i] = make_array(self.context, spec);
        plain[i] = make_cells(cells, sizeof(double));
    }
    fill(plain[T], plain[S], n);
    must(haul_array_write(sea.at[T], plain[T], &error));
    must(haul_array_write(sea.at[S], plain[S], &error));
    for (int step = 0; step < self.steps; step++) {
        step_ocean(self.context, &sea, n);
        step_plainly(plain, level);
        show_progress(&self, step + 1);
    }
    for (int i = T; i < NEXT_T; i++) {
        must(haul_array_read(sea.at[i], got, &error));
        difference = fmax(difference, largest_difference(got, plain[i], cells));
    }
    must(haul_array_read(sea.at[T], got, &error));
    draw(&self, got + level / 2, n, LEVELS, level); /* a section: x and level */
    free(got);
    haul_array_free(sea.top_t);
    haul_array_free(sea.top_s);
    for (int i = 0; i < ARRAYS; i++) {
        haul_array_free(sea.at[i]);
        free(plain[i]);
    }
    return report(&self, "ocean", difference, 1e-9);
}
