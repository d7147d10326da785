/* Marks of processes: threads that ask while one is made never take their process for a child, and
 * one thread of a child puts things right for all. */
#include "record/process_mark.h"

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { MARKS = 4000, ASKERS = 3, CLAIMERS = 8 };

static hl_record_process_mark marks[MARKS];

/* Follows the maker from mark to mark; returns how many it took for a child's. */
static void *follow(void *argument)
{
    size_t *wrong = argument;
    for (size_t i = 0; i < MARKS; i++)
        while (!hl_record_process_mark_page(&marks[i]))
            if (!hl_record_process_mark_is_own(&marks[i])) {
                ++*wrong;
                break;
            }
    return NULL;
}

static void a_mark_is_seen_whole_or_not_at_all(void **state)
{
    (void)state;
    pthread_t askers[ASKERS];
    size_t wrong[ASKERS] = {0};
    for (int i = 0; i < ASKERS; i++)
        assert_int_equal(pthread_create(&askers[i], NULL, follow, &wrong[i]), 0);
    for (size_t i = 0; i < MARKS; i++) {
        hl_record_process_mark_make(&marks[i]);
        if (i % 8 == 0)
            sched_yield();
    }
    for (int i = 0; i < ASKERS; i++) {
        pthread_join(askers[i], NULL);
        assert_int_equal(wrong[i], 0);
    }
}

static hl_record_process_mark shared;
static _Atomic int claims, early, work;

static void *claim(void *argument)
{
    if (hl_record_process_mark_is_own(&shared))
        return argument;
    if (hl_record_process_mark_claim(&shared)) {
        claims++;
        work++;
        hl_record_process_mark_make(&shared);
    } else if (!work) {
        early++;
    }
    return argument;
}

/* In a child. Returns 0 for success. */
static int claim_together(void)
{
    pthread_t threads[CLAIMERS];
    if (!hl_record_process_mark_page(&shared))
        return 0; /* a kernel that clears nothing */
    if (hl_record_process_mark_is_own(&shared))
        return 1;
    for (int i = 0; i < CLAIMERS; i++)
        if (pthread_create(&threads[i], NULL, claim, NULL))
            return 2;
    for (int i = 0; i < CLAIMERS; i++)
        pthread_join(threads[i], NULL);
    return claims != 1 || early || !hl_record_process_mark_is_own(&shared);
}

static void one_thread_of_a_child_claims_it(void **state)
{
    (void)state;
    hl_record_process_mark_make(&shared);
    for (int i = 0; i < 20; i++) {
        int status = 0;
        const pid_t child = fork();
        if (!child)
            _exit(claim_together());
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        assert_true(hl_record_process_mark_is_own(&shared));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mark_is_seen_whole_or_not_at_all),
        cmocka_unit_test(one_thread_of_a_child_claims_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
