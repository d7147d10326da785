/* Buffers of CUPTI's stand-in, completed in the order that FAKE_CUPTI asks for. Records have more
 * behind what is declared, as real ones do. */
#include "cupti_buffers.h"

#include <time.h>

#include "driver_words.h"

enum { BEHIND = 40 }; /* bytes behind a record that the recorder does not know */

cupti_state cupti;

/* --- what FAKE_CUPTI says */

static bool take_flag(const char *word)
{
    const struct {
        const char *word;
        bool *flag;
    } flags[] = {
        {"old", &cupti.options.old},         {"ancient", &cupti.options.ancient},
        {"refuses", &cupti.options.refuses}, {"many", &cupti.options.many},
        {"driver", &cupti.options.driver},   {"late", &cupti.options.late},
        {"taken", &cupti.options.taken},
    };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (!strcmp(word, flags[i].word))
            return *flags[i].flag = true;
    return !strcmp(word, "new");
}

static bool take_word(const char *word, const uint64_t *number)
{
    if (!number)
        return take_flag(word);
    if (!strcmp(word, "drop"))
        cupti.options.drop = *number;
    else if (!strcmp(word, "refuse") && *number < 64)
        cupti.options.refused |= UINT64_C(1) << *number;
    else if (!strcmp(word, "shuffle"))
        cupti.options.shuffle = true, cupti.options.seed = *number;
    else
        return false;
    return true;
}

void cupti_read_options(void)
{
    driver_read_words("FAKE_CUPTI", "new", take_word);
    const bool known = !cupti.options.many && !cupti.options.driver;
    atomic_store(&cupti.dropped, known ? 3 : 0);
}

uint64_t cupti_now(void)
{
    struct timespec now;
    if (cupti.clock)
        return cupti.clock();
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* --- batches */

/* A number that differs from call to call, and is the same in each run of one seed and thread. */
static size_t draw(size_t below)
{
    uint64_t x = cupti.options.seed + UINT64_C(0x9e3779b97f4a7c15) * ++cupti.draws;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9); /* splitmix64 */
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (size_t)((x ^ x >> 31) % below);
}

/* Until CUDA 12.8 records of events and waits were shorter. */
static size_t size_of(uint32_t kind, size_t size)
{
    if (!cupti.options.old)
        return size;
    return kind == HL_RECORD_ABI_EVENT  ? offsetof(hl_record_abi_event, device)
           : kind == HL_RECORD_ABI_SYNC ? offsetof(hl_record_abi_sync, sync_id)
                                        : size;
}

void cupti_put(cupti_batch *to, const void *record, size_t size)
{
    uint32_t kind;
    memcpy(&kind, record, sizeof kind);
    if (kind < 63 && !(cupti.enabled >> kind & 1))
        return;
    if (to->count == to->room) {
        to->room = to->room ? 2 * to->room : 64;
        to->records = realloc(to->records, to->room * sizeof *to->records);
    }
    if (!to->records || size > sizeof to->records->bytes)
        abort();
    driver_record *next = &to->records[to->count++];
    next->size = size_of(kind, size);
    memcpy(next->bytes, record, next->size);
}

static void shuffle(cupti_batch *batch)
{
    for (size_t i = batch->count; i > 1; i--) {
        const size_t j = draw(i);
        const driver_record kept = batch->records[j];
        batch->records[j] = batch->records[i - 1];
        batch->records[i - 1] = kept;
    }
}

/* --- buffers */

typedef struct filled {
    uint8_t *bytes;
    size_t size, used;
    struct filled *next;
} filled;

/* The next buffer of the recorder before `others`; the same again where it gives none. */
static filled *ask(filled *others)
{
    filled got = {.next = others};
    size_t limit;
    cupti.request(&got.bytes, &got.size, &limit);
    if (!got.bytes)
        return others;
    filled *kept = malloc(sizeof *kept);
    if (!kept)
        abort();
    *kept = got;
    return kept;
}

static bool append(filled *to, const driver_record *record)
{
    const uint64_t whole = (record->size + BEHIND + 15) / 8 * 8;
    if (!to || to->used + whole + 8 > to->size)
        return false;
    uint8_t *at = to->bytes + to->used;
    memcpy(at, &whole, 8); /* for cuptiActivityGetNextRecord */
    memset(at + 8, 0xee, whole - 8);
    memcpy(at + 8, record->bytes, record->size);
    to->used += whole;
    return true;
}

static filled *fill(const cupti_batch *batch)
{
    filled *buffers = ask(NULL);
    for (size_t i = 0; i < batch->count; i++) {
        const driver_record *record = &batch->records[i];
        bool kept = !cupti.options.drop || draw(cupti.options.drop);
        if (kept && !append(buffers, record)) {
            buffers = ask(buffers);
            kept = append(buffers, record);
        }
        if (!kept)
            cupti.dropped++;
    }
    return buffers;
}

/* The last one filled is completed first. */
void cupti_deliver(cupti_batch *batch)
{
    if (cupti.options.taken && atomic_exchange(&cupti.delivered, true)) {
        free(batch->records);
        *batch = (cupti_batch){0};
        return;
    }
    if (cupti.options.shuffle)
        shuffle(batch);
    for (filled *next, *buffer = fill(batch); buffer; buffer = next) {
        next = buffer->next;
        cupti.complete(NULL, 0, buffer->bytes, buffer->size, buffer->used);
        free(buffer);
    }
    free(batch->records);
    *batch = (cupti_batch){0};
}
