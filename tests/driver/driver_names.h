/* How a name of the driver's interface is defined: CALL(name, (parameters), what it does). */
#ifndef HAUL_TESTS_DRIVER_NAMES_H
#define HAUL_TESTS_DRIVER_NAMES_H

#include "driver.h"

/* Under the driver's lock, unless the driver is not ready or lost. */
#define CALL(name, parameters, work)                                                               \
    DRIVER_VISIBLE int name parameters;                                                            \
    int name parameters                                                                            \
    {                                                                                              \
        static uint32_t number;                                                                    \
        const driver_api api = driver_enter(#name, &number);                                       \
        return driver_leave(&api, api.result ? api.result : (work));                               \
    }

/* Without the lock. */
#define PLAIN(name, parameters, work)                                                              \
    DRIVER_VISIBLE int name parameters;                                                            \
    int name parameters                                                                            \
    {                                                                                              \
        return work;                                                                               \
    }

/* Sets *to where the pointer is not NULL. */
#define SET(to, value) (*(to) = (value), DRIVER_OK)

#endif
