/* The queue of a timeline's events beside a list that is searched. */
#include "check.h"

#include "timeline/event_queue.h"

enum { ACTORS_MOST = 70, STEPS = 20000 };

static uint32_t random_state = 20261123;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % below;
}

/* The first of the earliest. */
static uint32_t first_of(const int64_t *times, uint32_t actors)
{
    uint32_t first = 0;
    for (uint32_t a = 1; a < actors; a++)
        if (times[a] < times[first])
            first = a;
    return first;
}

/* Events are set, moved and taken, and some actors get no other; times are few, so that many are
 * equal. */
static void events_come_by_time_then_by_actor(void **state)
{
    (void)state;
    for (uint32_t actors = 1; actors <= ACTORS_MOST; actors += 1 + actors / 8) {
        int64_t times[ACTORS_MOST + 8];
        hl_timeline_event_queue queue;
        uint32_t count = actors;
        assert_true(hl_timeline_event_queue_init(&queue, actors));
        for (uint32_t a = 0; a < ACTORS_MOST + 8; a++)
            times[a] = INT64_MAX;
        for (int step = 0; step < STEPS / 10; step++) {
            const uint32_t actor = draw(count);
            times[actor] = draw(40);
            hl_timeline_event_queue_set(&queue, actor, times[actor]);
            const uint32_t first = first_of(times, count);
            assert_true(hl_timeline_event_queue_next_ns(&queue) == times[first]);
            if (draw(2)) {
                assert_int_equal(hl_timeline_event_queue_take(&queue), first);
                times[first] = draw(3) ? 10 + draw(40) : INT64_MAX;
                if (times[first] != INT64_MAX)
                    hl_timeline_event_queue_set(&queue, first, times[first]);
            }
            const int64_t now_ns = draw(40);
            assert_int_equal(hl_timeline_event_queue_is_due(&queue, now_ns),
                             times[first_of(times, count)] <= now_ns);
            if (step == STEPS / 20) { /* more actors, as a device's new stream */
                assert_true(hl_timeline_event_queue_next_ns(&queue) ==
                            times[first_of(times, count)]);
                assert_true(hl_timeline_event_queue_grow(&queue, count, count + 8));
                count += 8;
            }
        }
        hl_timeline_event_queue_release(&queue);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(events_come_by_time_then_by_actor)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
