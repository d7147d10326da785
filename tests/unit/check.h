/* cmocka with the headers that it needs before it. */
#ifndef HAUL_TESTS_CHECK_H
#define HAUL_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

/* |a - b| <= relative * |b| */
#define CHECK_NEAR(a, b, relative)                                                                 \
    assert_true(fabs((double)(a) - (double)(b)) <= (relative)*fabs((double)(b)))

/* How many random cases a sweep tries: fewer under a sanitizer, which is slow and looks for what
 * few cases have already. */
#ifdef HAUL_SANITIZED
#define SWEEP(cases) ((cases) / 5)
#else
#define SWEEP(cases) (cases)
#endif

#endif
