/* The tile runtime: scripts of calls, each run on several devices and with several options beside a
 * model of what the arrays hold. Arrays of one script differ in everything: dimensions, sizes,
 * cells beyond the edges, boundaries, elements, regions, contexts. A call that one run refuses all
 * must refuse. A script that fails is cut down to the calls that it takes. */
#include "check.h"

#include "tile_script_loops.h"

/* --- runs of loops */

/* Shapes that differ are refused; boundaries' kernels and files stay with the arrays. */
static bool exchange(run *self, slot *a, slot *b)
{
    tell("swap %d %d\n", number_of(self, a), number_of(self, b));
    if (!may(self, haul_array_swap(a->array, b->array, &self->error)))
        return false;
    const slot old = *a;
    a->is.cells = b->is.cells;
    a->is_lost = b->is_lost;
    b->is.cells = old.is.cells;
    b->is_lost = old.is_lost;
    if (!model_is_alike(&a->is, &b->is) || memcmp(a->is.ghost, b->is.ghost, sizeof a->is.ghost))
        blame(self, "arrays of different shapes are exchanged");
    return true;
}

static void swap_two(run *self)
{
    slot *a = draw_slot(self), *b = draw_slot(self);
    if (a && a != b && a->is.edge == b->is.edge)
        exchange(self, a, b);
}

/* A stencil back and forth, or from one array to another that then exchange their contents. */
static void chain(run *self)
{
    const unsigned count = 2 + draw(self, 10);
    const bool is_swapped = draw(self, 2);
    loop of;
    model cell;
    if (!draw_loop(self, &of, LOOP_SHIFT, &cell) || of.uses[1]->is_lost)
        return;
    slot *u = of.uses[0], *v = of.uses[1];
    for (unsigned i = 0; i < count && !self->has_failed && !self->is_over; i++) {
        draw_value(self, &of);
        run_loop(self, &of);
        if (self->statuses[self->done])
            return;
        if (is_swapped && (u->is.edge != v->is.edge || !exchange(self, u, v)))
            return;
        if (!is_swapped) {
            of.uses[0] = i % 2 ? u : v;
            of.uses[1] = i % 2 ? v : u;
            of.is.of[0] = &of.uses[0]->is;
            of.is.of[1] = &of.uses[1]->is;
            go_over_all(&of);
        }
        if (!has_room(&of))
            return;
    }
}

/* A tile's loop: it finds edges that the tiles before it have changed. */
static void apply_tile(run *self, const loop *of, const haul_tiles *tiles)
{
    loop part = *of;
    for (int d = 0; d < of->dims; d++) {
        const haul_box *tile = &tiles->box;
        part.is.lo[d] = tile->lo[d] > of->is.lo[d] ? tile->lo[d] : of->is.lo[d];
        part.is.hi[d] = tile->hi[d] < of->is.hi[d] ? tile->hi[d] : of->is.hi[d];
    }
    if (!is_no_cell(part.is.lo, part.is.hi))
        apply_loop(self, &part);
}

/* A loop over tiles of the array that it writes, and other calls between. */
static void over_tiles(run *self)
{
    static const loop_kind kinds[] = {LOOP_SHIFT, LOOP_FAR, LOOP_ACC, LOOP_PAIR, LOOP_LOOK};
    loop of;
    model cell = {.cells = NULL};
    const void *arguments[8];
    int size[3];
    if (!draw_loop(self, &of, kinds[draw(self, 5)], &cell) || !has_room(&of))
        return;
    slot *along = of.uses[of.count - 1];
    const bool on_device = draw(self, 3);
    const unsigned between = draw(self, 4), when = draw(self, 6);
    const size_t count = list_arguments(self, &of, arguments);
    for (int d = 0; d < 3; d++) {
        size[d] = draw(self, 2) ? 0 : 1 + (int)draw(self, 9);
        of.is.lo[d] = of.is.lo[d] > 0 ? of.is.lo[d] : 0;
        of.is.hi[d] = of.is.hi[d] < along->is.size[d] ? of.is.hi[d] : along->is.size[d];
        of.box.lo[d] = of.is.lo[d];
        of.box.hi[d] = of.is.hi[d];
    }
    tell_loop(self, &of);
    tell("  in tiles of %d %d %d, on the device %d\n", size[0], size[1], size[2], on_device);
    haul_tiles tiles = haul_tiles_make(along->array, size);
    unsigned tile = 0;
    for (haul_tiles_reset(&tiles, on_device); haul_tiles_valid(&tiles); haul_tiles_next(&tiles)) {
        if (!may(self,
                 haul_tiles_compute(&tiles, of.kernel, arguments, count, &of.box, &self->error)))
            return;
        apply_tile(self, &of, &tiles);
        if (tile++ == when && between == 1)
            must(self, haul_context_wait(self->contexts[of.number], &self->error), "wait");
        else if (tile == when && between == 2)
            (void)haul_array_regions(of.uses[0]->array);
    }
    note_set(&of);
}

/* --- the host */

static number draw_number(run *self, int type)
{
    number a = {{0}};
    for (int i = 0; i < cell_types[type].parts; i++)
        a.parts[i] =
            ((uint64_t)draw(self, 1u << 30) << 33 ^ draw(self, 1u << 30)) & cell_types[type].mask;
    return a;
}

static void check_cell(run *self, const slot *of, const int c[3], const void *at, const char *what)
{
    const number expected = *model_at(&of->is, c), got = number_load(of->is.type, at);
    if (memcmp(&expected, &got, sizeof got) != 0)
        blame(self, "%s: array %d, cell %d %d %d is %llx, not %llx", what, number_of(self, of),
              c[0], c[1], c[2], (unsigned long long)got.parts[0],
              (unsigned long long)expected.parts[0]);
}

/* Cells within the edges, from or to memory where they follow each other. */
static void read_all(run *self, const slot *of)
{
    const size_t bytes = type_bytes(of->is.type);
    int lo[3], hi[3], c[3] = {0, 0, 0};
    model_range(&of->is, false, lo, hi);
    char *cells = malloc(of->is.count * bytes), *at = cells;
    tell("read %d\n", number_of(self, of));
    if (must(self, haul_array_read(of->array, cells, &self->error), "read") && !of->is_lost)
        do {
            check_cell(self, of, c, at, "the array as it is read");
            at += bytes;
        } while (next_cell(c, lo, hi));
    free(cells);
}

static void write_all(run *self, slot *of)
{
    const size_t bytes = type_bytes(of->is.type);
    int lo[3], hi[3], c[3] = {0, 0, 0};
    model_range(&of->is, false, lo, hi);
    char *cells = malloc(of->is.count * bytes), *at = cells;
    tell("write %d\n", number_of(self, of));
    do {
        *model_at(&of->is, c) = draw_number(self, of->is.type);
        number_store(of->is.type, *model_at(&of->is, c), at);
        at += bytes;
    } while (next_cell(c, lo, hi));
    of->is_lost = false;
    must(self, haul_array_write(of->array, cells, &self->error), "write");
    free(cells);
}

/* The host's cells of a region, those beyond the edges too where they are what the model says. */
static void touch_cells(run *self, slot *of, const haul_region *region, haul_use use)
{
    const int outer = of->is.dims - 1;
    const bool ghosts = use == HAUL_USE_WRITE || model_is_fixed(&of->is);
    int lo[3], hi[3];
    model_range(&of->is, ghosts, lo, hi);
    lo[outer] = lo[outer] > region->first ? lo[outer] : region->first;
    hi[outer] = hi[outer] < region->end ? hi[outer] : region->end;
    if (is_no_cell(lo, hi))
        return;
    int c[3] = {lo[0], lo[1], lo[2]};
    do {
        int64_t place = (c[outer] - region->first) * region->plane;
        place += outer > 0 ? c[0] : 0;
        place += outer > 1 ? c[1] * region->row : 0;
        char *at = (char *)region->cells + place * (int64_t)type_bytes(of->is.type);
        if ((use & HAUL_USE_READ) && !(of->is_lost && model_has(&of->is, c)))
            check_cell(self, of, c, at, "a region");
        if (use == HAUL_USE_WRITE || (use == HAUL_USE_BOTH && !draw(self, 3))) {
            *model_at(&of->is, c) = draw_number(self, of->is.type);
            number_store(of->is.type, *model_at(&of->is, c), at);
        }
    } while (next_cell(c, lo, hi));
}

static void touch(run *self, slot *of, int index, haul_use use)
{
    haul_region region;
    tell("touch %d, region %d, use %d\n", number_of(self, of), index, (int)use);
    if (must(self, haul_array_access(of->array, index, use, &region, &self->error), "access"))
        touch_cells(self, of, &region, use);
}

static int regions_of(run *self, const slot *of)
{
    const int regions = haul_array_regions(of->array);
    if (!regions)
        must(self, haul_context_start(self->contexts[of->context], &self->error), "regions");
    return regions;
}

static void touch_one(run *self)
{
    slot *of = draw_slot(self);
    const int regions = of ? regions_of(self, of) : 0;
    const haul_use use = (haul_use)(1 + draw(self, 3));
    if (regions)
        touch(self, of, (int)draw(self, (unsigned)regions), use);
}

static void check_results(run *self)
{
    for (int c = 0; c < self->context_count; c++)
        for (int r = 0; r < RESULTS && !self->is_over; r++) {
            unsigned char bytes[8];
            double got = 0;
            unsigned whole;
            must(self, haul_array_read(self->results[c][r], bytes, &self->error), "result");
            memcpy(r == REAL ? (void *)&got : &whole, bytes, r == REAL ? sizeof got : sizeof whole);
            got = r == REAL ? got : whole;
            if (!self->is_over && got != self->expected[c][r])
                blame(self, "result %d of context %d is %.17g, not %.17g", r, c, got,
                      self->expected[c][r]);
        }
}

static void discard(run *self)
{
    slot *of = draw_slot(self);
    if (!of)
        return;
    tell("discard %d\n", number_of(self, of));
    haul_array_discard(of->array);
    of->is_lost = true;
}

/* One array's cells, by way of a file, become another's. */
static void save_and_load(run *self)
{
    slot *from = draw_slot(self), *to = draw_slot(self);
    char path[] = "/tmp/haul-script-XXXXXX";
    if (!from || from->is_lost)
        return;
    const int file = mkstemp(path);
    if (file >= 0)
        close(file);
    tell("save %d, load %d\n", number_of(self, from), number_of(self, to));
    if (may(self, haul_array_save(from->array, path, &self->error)) &&
        may(self, haul_array_load(to->array, path, &self->error))) {
        int lo[3], hi[3], c[3] = {0, 0, 0};
        model_range(&to->is, false, lo, hi);
        if (!model_is_alike(&from->is, &to->is))
            blame(self, "an array of another shape is loaded");
        else
            do
                *model_at(&to->is, c) = *model_at(&from->is, c);
            while (next_cell(c, lo, hi));
        to->is_lost = false;
    }
    (void)remove(path);
}

/* Two arrays by way of one file, those beyond the edges too: each comes back, or, where their
 * shapes are alike, as the other. Cells beyond the edges that are set before they are read may be
 * any until then: an array that keeps them does not get them. */
static void stop_and_go_on(run *self)
{
    slot *a = draw_slot(self), *b = draw_slot(self);
    char path[] = "/tmp/haul-script-XXXXXX";
    if (!a || !b || a == b || a->is_lost || b->is_lost)
        return;
    const bool is_traded = model_is_alike(&a->is, &b->is) &&
                           model_is_fixed(&a->is) == model_is_fixed(&b->is) &&
                           !memcmp(a->is.ghost, b->is.ghost, sizeof a->is.ghost) && draw(self, 2);
    const haul_named_array saved[] = {{"a", a->array}, {"b", b->array}};
    const haul_named_array loaded[] = {{is_traded ? "b" : "a", a->array},
                                       {is_traded ? "a" : "b", b->array}};
    const int file = mkstemp(path);
    if (file >= 0)
        close(file);
    tell("save %d and %d, load them%s\n", number_of(self, a), number_of(self, b),
         is_traded ? " as each other" : "");
    if (may(self, haul_arrays_save(saved, 2, path, &self->error)) &&
        may(self, haul_arrays_load(loaded, 2, path, &self->error)) && is_traded)
        for (size_t i = 0; i < a->is.count; i++) {
            const number cell = a->is.cells[i];
            a->is.cells[i] = b->is.cells[i];
            b->is.cells[i] = cell;
        }
    (void)remove(path);
}

/* --- calls that are wrong */

/* A call that must fail: for its own reason, or by loops that the memory does not do for. */
static void must_not(run *self, haul_status status, const char *call)
{
    self->is_over = self->is_over || status == HAUL_STATUS_DEVICE_FULL;
    if (!status)
        blame(self, "%s", call);
}

static void wrong_array(run *self)
{
    static const haul_array_spec specs[] = {
        {.size = {-1}},
        {.size = {4, 0, 4}},
        {.size = {4}, .ghost = {-2}},
        {.size = {2, 2}, .ghost = {3}, .boundary = {HAUL_BOUNDARY_PERIODIC}},
        {.size = {4}, .region = -3},
        {.size = {4, 4}, .boundary_kernel = &edge_1_w4, .element_bytes = 4},
        {.size = {4}, .boundary_kernel = &shift_1_w4, .element_bytes = 4},
    };
    haul_array *array;
    const haul_array_spec *spec = &specs[draw(self, sizeof specs / sizeof *specs)];
    must_not(self, haul_array_new(self->contexts[0], spec, &array, &self->error),
             "an array that cannot be is made");
}

/* Arrays of another kind, another context, or the same twice. */
static void wrong_loop(run *self)
{
    slot *u = draw_slot(self), *v = draw_slot(self);
    const script_value value = {.k = 1, .n = {1, 1, 1}};
    if (!u)
        return;
    const void *arguments[] = {u->array, v->array, &value};
    const size_t count = draw(self, 5) ? 3 : 2;
    const bool is_right = count == 3 && u != v && u->context == v->context &&
                          u->is.type == v->is.type && u->is.dims == v->is.dims;
    if (is_right || (count == 3 && u->is.dims != v->is.dims))
        return;
    tell("wrong loop: %d %d, %zu arguments\n", number_of(self, u), number_of(self, v), count);
    const haul_kernel_source *kernel = typed[LOOP_SHIFT][u->is.dims - 1][u->is.type];
    must_not(
        self,
        haul_loop_queue(self->contexts[u->context], kernel, arguments, count, NULL, &self->error),
        "a loop that cannot be is taken");
}

static void wrong_call(run *self)
{
    haul_region region;
    slot *of = draw_slot(self);
    const unsigned what = draw(self, 3);
    if (what == 0)
        wrong_array(self);
    else if (what == 1)
        wrong_loop(self);
    else if (of)
        must_not(self,
                 haul_array_access(of->array, draw(self, 2) ? -1 : 1000, HAUL_USE_READ, &region,
                                   &self->error),
                 "a region that is not there");
}

static void other_call(run *self)
{
    char *text;
    haul_context *context = self->contexts[draw(self, (unsigned)self->context_count)];
    const unsigned what = draw(self, 4);
    tell("wait, start, explain or count: %u\n", what);
    if (what == 0)
        must(self, haul_context_wait(context, &self->error), "wait");
    else if (what == 1)
        must(self, haul_context_start(context, &self->error), "start");
    else if (what == 2 && must(self, haul_context_explain(context, &text, &self->error), "explain"))
        free(text);
    else
        (void)haul_context_count(context);
}

/* --- scripts */

static void one_call(run *self)
{
    const unsigned what = draw(self, 100);
    slot *of = draw_slot(self);
    if (what < 42)
        one_loop(self);
    else if (what < 52)
        chain(self);
    else if (what < 57)
        over_tiles(self);
    else if (what < 66)
        touch_one(self);
    else if (what < 70 && of)
        write_all(self, of);
    else if (what < 74 && of)
        read_all(self, of);
    else if (what < 76)
        check_results(self);
    else if (what < 79)
        discard(self);
    else if (what < 86)
        swap_two(self);
    else if (what < 91)
        renew(self);
    else if (what < 92)
        save_and_load(self);
    else if (what < 93)
        stop_and_go_on(self);
    else if (what < 96)
        wrong_call(self);
    else
        other_call(self);
}

/* Device memory from a few planes to all. */
static uint64_t draw_memory(run *self, uint64_t *random)
{
    static const unsigned parts[] = {2, 3, 5, 8, 12, 20, 30, 100, 100, 300};
    uint64_t bytes = 2 * type_bytes(self->type);
    for (int d = 0; d < self->dims; d++)
        bytes *= (uint64_t)(d + 1 < self->dims ? self->sizes[0][d] : self->sizes[0][2]) + 10;
    return SLOTS * bytes * parts[draw_from(random, 10)] / 100 + 4096;
}

static void open_contexts(run *self)
{
    uint64_t random = self->how->seed;
    const haul_device_options device = {
        .test = &(haul_device_test){.order = self->how->order, .seed = random + 1}};
    haul_context_options options = {.device_options = &device};
    if (self->how->seed) {
        options.memory_bytes = draw_memory(self, &random);
        options.steps = draw_from(&random, 3) ? 0 : 1 + draw_from(&random, 6);
        options.rows = draw_from(&random, 2) ? 0 : 1 + (int)draw_from(&random, 6);
        options.host_share = draw_from(&random, 3) ? 0 : 0.1 * draw_from(&random, 11) - 0.1;
        options.fused = draw_from(&random, 2) ? 1 + 2 * draw_from(&random, 4) : 0;
        options.check = !draw_from(&random, 3);
        options.exchange_first = !draw_from(&random, 3);
        options.keep_plan = !draw_from(&random, 5);
        options.exchange_steps = draw_from(&random, 3) ? 1 + draw_from(&random, 7) : 0;
        options.relay = (int)draw_from(&random, 3) - 1;
    }
    tell("memory %llu, steps %u, rows %d, share %g, fused %u, checked %d\n",
         (unsigned long long)options.memory_bytes, options.steps, options.rows, options.host_share,
         options.fused, options.check);
    for (int c = 0; c < self->context_count && !self->has_failed; c++)
        must(self, haul_context_open(self->how->device, &options, &self->contexts[c], &self->error),
             "open");
}

static void make_results(run *self)
{
    const haul_array_spec whole = {.size = {1}, .element_bytes = 4}, real = {.size = {1}};
    for (int c = 0; c < self->context_count; c++)
        for (int r = 0; r < RESULTS && !self->is_over; r++)
            must(self,
                 haul_array_new(self->contexts[c], r == REAL ? &real : &whole, &self->results[c][r],
                                &self->error),
                 "result");
}

static void begin(run *self)
{
    self->random = self->of->seed * 0x9e3779b97f4a7c15 + 77;
    (void)draw(self, 2);
    self->dims = 1 + (int)draw(self, 3);
    self->type = (int)draw(self, TYPES);
    self->context_count = 1 + !draw(self, 5);
    self->has_files = !draw(self, 4) && !self->how->is_shared;
    for (int i = 0; i < 2; i++)
        for (int d = 0; d < 3; d++)
            self->sizes[i][d] = 1 + (int)draw(self, d == 2 ? 40 : self->dims == 3 ? 9 : 14);
    open_contexts(self);
    if (self->has_failed)
        return;
    make_results(self);
    for (int i = 0; i < SLOTS && !self->has_failed && !self->is_over; i++) {
        self->random = (self->of->seed + 3) * 0x9e3779b97f4a7c15 + (uint64_t)i * 0xbf58476d1ce4e5b9;
        self->slots[i].context = (int)draw(self, (unsigned)self->context_count);
        draw_spec(self, &self->slots[i]);
        make_array(self, &self->slots[i]);
    }
}

/* All that the arrays hold. */
static void end(run *self)
{
    for (int i = 0; i < SLOTS && !self->is_over && !self->has_failed; i++)
        if (self->slots[i].array)
            read_all(self, &self->slots[i]);
    for (int i = 0; i < SLOTS && !self->is_over && !self->has_failed; i++) {
        const int regions = self->slots[i].array ? regions_of(self, &self->slots[i]) : 0;
        for (int r = 0; r < regions && !self->is_over; r++)
            touch(self, &self->slots[i], r, HAUL_USE_READ);
    }
    if (!self->is_over && !self->has_failed)
        check_results(self);
}

static void tidy_up(run *self)
{
    for (int i = 0; i < SLOTS; i++)
        drop_array(&self->slots[i]);
    for (int c = 0; c < self->context_count; c++) {
        for (int r = 0; r < RESULTS; r++)
            haul_array_free(self->results[c][r]);
        haul_context_close(self->contexts[c]);
    }
}

static void run_script(run *self, const script *of, const manner *how)
{
    *self = (run){.of = of, .how = how};
    tell("script %llu on %s, order %d, options %llu\n", (unsigned long long)of->seed, how->device,
         (int)how->order, (unsigned long long)how->seed);
    begin(self);
    for (int i = 0; i < of->count && !self->is_over && !self->has_failed; i++) {
        self->random = (of->seed + 1) * 0x9e3779b97f4a7c15 + (uint64_t)i * 0xbf58476d1ce4e5b9;
        (void)draw(self, 2);
        self->done = i;
        if (of->is_left_out[i])
            continue;
        tell("%d ", i);
        one_call(self);
        if (self->is_over)
            break;
        self->done = i + 1;
    }
    if (!self->has_failed && !self->is_over)
        end(self);
    tidy_up(self);
}

/* Calls that one of the two runs refuses, and the other does not. */
static void compare_refusals(run *self, const run *plain)
{
    const int done = self->done < plain->done ? self->done : plain->done;
    for (int i = 0; i < done; i++)
        if (!self->has_failed && self->statuses[i] != plain->statuses[i])
            blame(self, "call %d ends with status %d, on the host with %d", i,
                  (int)self->statuses[i], (int)plain->statuses[i]);
}

static bool fails(run *self, const script *of, const manner *how)
{
    static run plain;
    const manner plainly = {.device = "host", .is_shared = how->is_shared};
    run_script(&plain, of, &plainly);
    run_script(self, of, how);
    if (plain.has_failed)
        blame(self, "on the host, where nothing is asked for: %s", plain.why);
    compare_refusals(self, &plain);
    return self->has_failed;
}

/* Leaves out what the failure does not need, and tells what is left. */
static void tell_shortest(script *of, const manner *how)
{
    static run self;
    bool is_shorter = true;
    while (is_shorter) {
        is_shorter = false;
        for (int i = of->count - 1; i >= 0; i--) {
            if (of->is_left_out[i])
                continue;
            of->is_left_out[i] = true;
            const bool still = fails(&self, of, how);
            of->is_left_out[i] = still;
            is_shorter = is_shorter || still;
        }
    }
    is_telling = true;
    (void)fails(&self, of, how);
    is_telling = false;
    fprintf(stderr, "%s\n", self.why);
}

static bool try_script(uint64_t seed, const manner *how, bool *is_whole)
{
    static run self;
    script of = {.seed = seed, .count = 3 + (int)(seed * 7919 % (CALLS - 3))};
    const char *words = getenv("SCRIPT_CALLS");
    if (words)
        of.count = (int)strtol(words, NULL, 10);
    if (!fails(&self, &of, how)) {
        *is_whole = !self.is_over;
        return true;
    }
    fprintf(stderr, "script %llu on %s, order %d, options %llu: %s\n", (unsigned long long)seed,
            how->device, (int)how->order, (unsigned long long)how->seed, self.why);
    if (!getenv("SCRIPT_WHOLE"))
        tell_shortest(&of, how);
    return false;
}

typedef struct device_case {
    manner how;
    int scripts; /* in the quick test */
    int share;   /* of a hundred in the slow one */
} device_case;

/* Returns how many failed. */
static int run_case(const device_case *of, int first, int scripts)
{
    int whole = 0, wrong = 0;
    for (int i = first; i < first + scripts; i++) {
        manner how = of->how;
        bool is_whole = false;
        how.seed = (uint64_t)i % 5 ? (uint64_t)i : 0;
        how.is_shared = strchr(how.device, ',');
        wrong += !try_script((uint64_t)i, &how, &is_whole);
        whole += is_whole;
    }
    printf("%s, order %d: %d of %d scripts fit, %d failed\n", of->how.device, (int)of->how.order,
           whole, scripts, wrong);
    (void)fflush(stdout);
    return wrong;
}

static const device_case cases[] = {
    {{.device = "host", .order = HAUL_ORDER_USUAL}, 60, 25},
    {{.device = "sim:k40", .order = HAUL_ORDER_USUAL}, 30, 10},
    {{.device = "sim:k40", .order = HAUL_ORDER_LATE}, 40, 20},
    {{.device = "sim:k40", .order = HAUL_ORDER_RANDOM}, 30, 15},
    {{.device = "opencl:0", .order = HAUL_ORDER_USUAL}, 1, 3},
    {{.device = "host,host", .order = HAUL_ORDER_USUAL}, 20, 7},
    {{.device = "sim:k40,sim:k20,host", .order = HAUL_ORDER_LATE}, 20, 10},
    {{.device = "sim:p100-pcie3,sim:k40", .order = HAUL_ORDER_RANDOM}, 20, 10},
};

static int slow_scripts; /* of all devices; 0: the quick test */

static void test_scripts(void **state)
{
    (void)state;
    haul_context *context;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!haul_context_open(cases[i].how.device, NULL, &context, NULL)) {
            haul_context_close(context);
            const int quick = SWEEP(cases[i].scripts);
            assert_int_equal(run_case(&cases[i], slow_scripts ? 1000 : 1,
                                      slow_scripts ? slow_scripts / 100 * cases[i].share : quick),
                             0);
        }
}

static int number_in(const char *word)
{
    return (int)strtol(word, NULL, 10);
}

/* DEVICE ORDER FIRST [SCRIPTS]: those of one device; SCRIPTS: so many, of all devices. */
int main(int argc, char **argv)
{
    if (argc > 3) {
        const device_case on = {{.device = argv[1], .order = (haul_order)number_in(argv[2])}, 1, 0};
        return run_case(&on, number_in(argv[3]), argc > 4 ? number_in(argv[4]) : 1) != 0;
    }
    slow_scripts = argc == 2 ? number_in(argv[1]) : 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scripts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
