/* Exchanges of data between GPUs of several nodes, and what each way of making them takes.
 *
 * The ways are those of Bienz, Olson, Gropp and Lockhart (HPEC 2021), and three more. haul/mpi.h
 * makes exchanges in them, also of the host's memory:
 *
 *   direct             a message to each peer, some at a time, from where the data is: of a GPU's
 *                      memory "gpudirect", for which the MPI must take pointers to it
 *   3-step             copy to the host, messages between hosts, copy to the GPU; the copy is one,
 *                      whatever the number of messages (section V)
 *   extra-message      3-step, with the data spread over the cores of the GPU's share of the node
 *                      by messages within it, and gathered again (section IV)
 *   duplicate-pointer  every core copies its share of the data itself (section IV)
 *   chunked-3-step     3-step in chunks: copies and messages of different chunks overlap
 *   aggregated         3-step of an all-to-all, with one message between each two nodes
 *   bruck              3-step of an MPI_Alltoall, in log2 P rounds (Bruck et al., 1997)
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_EXCHANGE_H
#define HAUL_EXCHANGE_H

#include "haul/machine.h"
#include "haul/timeline.h"

HAUL_BEGIN

/* name, text. Zero is no way: it leaves the choice to haul/mpi.h, to which PLAIN belongs too. */
#define HAUL_WAY_LIST(X)                                                                           \
    X(CHOSEN, "chosen")                                                                            \
    X(PLAIN, "plain") /* MPI_Alltoall or MPI_Alltoallv of the MPI itself */                        \
    X(DIRECT, "direct")                                                                            \
    X(THREE_STEP, "3-step")                                                                        \
    X(EXTRA_MESSAGE, "extra-message")                                                              \
    X(DUPLICATE_POINTER, "duplicate-pointer")                                                      \
    X(CHUNKED, "chunked-3-step")                                                                   \
    X(AGGREGATED, "aggregated")                                                                    \
    X(BRUCK, "bruck")

typedef enum haul_way {
#define HAUL_WAY_ENUM(name, text) HAUL_WAY_##name,
    HAUL_WAY_LIST(HAUL_WAY_ENUM)
#undef HAUL_WAY_ENUM
        HAUL_WAYS
} haul_way;

/* The ways that haul_exchange_predict knows: from DIRECT on. */
enum { HAUL_WAYS_PREDICTED = HAUL_WAYS - HAUL_WAY_DIRECT };

/* The name of a way for data in the memory of GPUs or hosts: of GPUs, `direct` is "gpudirect". */
HAUL_API const char *haul_way_text(haul_way way, haul_memory memory);

/* Reads either name. Returns USAGE, naming the text, for one that no way has. */
HAUL_API haul_status haul_way_parse(const char *text, haul_way *way, haul_error *error);

typedef enum haul_exchange_kind {
    HAUL_EXCHANGE_MESSAGES, /* each GPU that takes part sends `messages` of `bytes` */
    HAUL_EXCHANGE_ALL,      /* MPI_Alltoall: `bytes` from each GPU to each */
    HAUL_EXCHANGE_ALL_V,    /* MPI_Alltoallv as messages: the same, or by `counts` */
} haul_exchange_kind;

typedef struct haul_exchange {
    haul_exchange_kind kind;
    uint32_t nodes; /* of all-to-alls */
    uint32_t gpus;  /* of a node, that take part at once; 0: one of MESSAGES, else the machine's */
    uint32_t cores; /* of a node, for all of its GPUs; 0: the machine's */
    uint32_t messages; /* of MESSAGES */
    uint64_t bytes;
    uint64_t unique_bytes;  /* of MESSAGES: what is copied to the host once, for data that goes to
                             * several; 0: all */
    const uint64_t *counts; /* of ALL_V: bytes from GPU i to GPU j at [i * nodes * gpus + j] */
    double kernel_s;        /* of a kernel on each GPU that makes the data; 0: it is there */
} haul_exchange;

/* The time of one way. */
typedef struct haul_way_time {
    haul_way way;
    double seconds; /* NaN: `missing` */
    double low_s, high_s;
    double timeline_s; /* NaN, or what haul_exchange_schedule gives */
    double copies_s;   /* the parts; they may overlap */
    double spread_s;   /* messages within the node, of extra-message */
    double messages_s;
    uint32_t processes; /* of a GPU */
    uint32_t chunks;
    double largest_bytes; /* of a message; above `measured_bytes` the time is extrapolated */
    double measured_bytes;
    haul_provenance weakest;
    char missing[96];   /* the parameter that the machine lacks; "": none */
    bool is_impossible; /* this exchange cannot be made so; its times are NaN */
} haul_way_time;

/* Times of all ways on a machine, the fastest first, then those that lack a parameter, then those
 * in which the exchange cannot be made. An interval is of the parameters' errors, for all-to-alls
 * also of the contention between nodes, which the model has not (docs/comm.md). Returns BAD_INPUT
 * for an exchange of no bytes, messages or GPUs or beyond 2^53 bytes, MISSING where the machine
 * lacks a parameter for every way, NO_MEMORY. */
HAUL_API haul_status haul_exchange_predict(const haul_machine *machine,
                                           const haul_exchange *exchange,
                                           haul_way_time times[HAUL_WAYS_PREDICTED],
                                           haul_error *error);

/* How a missing parameter, as haul_way_time has it, is measured: an imperative, without a full
 * stop.
 */
HAUL_API const char *haul_exchange_hint(const char *missing);

/* Whether a way can be written as a workload and as GOAL: others have formulas alone. */
HAUL_API bool haul_way_has_workload(haul_way way);

/* The same way as a workload: what the processes, the GPUs and the network interface of one node do
 * while all others do the same. Devices are the node's GPUs and, the last, its interface. Takes
 * way, processes and chunks of `time`. The caller frees *workload. Returns as above. */
HAUL_API haul_status haul_exchange_workload(const haul_machine *machine,
                                            const haul_exchange *exchange,
                                            const haul_way_time *time, haul_workload **workload,
                                            haul_error *error);

/* That workload on the machine's resources: two copy engines a GPU where it does not say. The
 * caller frees *timeline. Returns what haul_timeline_run does. */
HAUL_API haul_status haul_exchange_timeline(const haul_machine *machine,
                                            const haul_workload *workload, haul_timeline **timeline,
                                            haul_error *error);

/* Sets timeline_s of all ways that can be written as a workload. Where the formulas' assumptions
 * hold, one phase after another and no contention of copies, it equals `seconds`. */
HAUL_API void haul_exchange_schedule(const haul_machine *machine, const haul_exchange *exchange,
                                     haul_way_time times[HAUL_WAYS_PREDICTED]);

enum { HAUL_COUNTS_MOST = 4096 };

/* name in options */
#define HAUL_PATTERN_LIST(X)                                                                       \
    X(UNIFORM, "uniform")       /* as much to each */                                              \
    X(NEIGHBOURS, "neighbours") /* to the two next to it on each side, round the ring */           \
    X(SKEWED, "skewed")         /* from half to one and a half times the mean, by the receiver */  \
    X(RANDOM, "random")         /* 0 to twice the mean, the same at each call */

typedef enum haul_pattern {
#define HAUL_PATTERN_ENUM(name, text) HAUL_PATTERN_##name,
    HAUL_PATTERN_LIST(HAUL_PATTERN_ENUM)
#undef HAUL_PATTERN_ENUM
        HAUL_PATTERNS
} haul_pattern;

HAUL_API const char *haul_pattern_text(haul_pattern pattern);

/* Makes a matrix of counts by a pattern, nothing from a GPU to itself; `bytes` is the mean of those
 * that are sent. The caller frees *counts. Returns USAGE for ranks as below, BAD_INPUT for more
 * than 2^46 bytes. */
HAUL_API haul_status haul_counts_make(haul_pattern pattern, size_t ranks, uint64_t bytes,
                                      uint64_t **counts, haul_error *error);

/* Reads a matrix of counts, a line for each of `ranks` GPUs, blanks or commas between. The caller
 * frees *counts. Returns USAGE for more than HAUL_COUNTS_MOST, BAD_INPUT with the place, IO. */
HAUL_API haul_status haul_counts_load(const char *path, size_t ranks, uint64_t **counts,
                                      haul_error *error);

HAUL_END

#endif
