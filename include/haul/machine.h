/* A machine: a node with one or more GPUs, as data. Every parameter carries where it came from.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_MACHINE_H
#define HAUL_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "haul/status.h"
#include "haul/workload.h"

HAUL_BEGIN

/* Where a parameter came from, strongest first. A prediction says the weakest that it rests on.
 * name in files */
#define HAUL_PROVENANCE_LIST(X)                                                                    \
    X(MEASURED, "measured")   /* on this machine */                                                \
    X(FITTED, "fitted")       /* a model's parameter, from measurements on this machine */         \
    X(PUBLISHED, "published") /* measured by others on such a machine */                           \
    X(DATASHEET, "datasheet") /* the maker's nominal value */                                      \
    X(SCALED, "scaled")       /* from another machine's value, by a ratio, or kept as it was */    \
    X(ASSUMED, "assumed")     /* no source gives it for this machine: what others like it have */

typedef enum haul_provenance {
    HAUL_PROVENANCE_NOT_GIVEN,
#define HAUL_PROVENANCE_ENUM(name, text) HAUL_PROVENANCE_##name,
    HAUL_PROVENANCE_LIST(HAUL_PROVENANCE_ENUM)
#undef HAUL_PROVENANCE_ENUM
} haul_provenance;

/* A value in base units (seconds, bytes, bytes per second, hertz, flop per second, or a number).
 * provenance HAUL_PROVENANCE_NOT_GIVEN: the machine does not have this parameter and value is 0. */
typedef struct haul_parameter {
    double value;
    haul_provenance provenance;
    const char *source; /* a sentence or a citation; NULL where not said */
} haul_parameter;

typedef enum haul_link_kind {
    HAUL_LINK_NONE,
    HAUL_LINK_PCIE,
    HAUL_LINK_NVLINK,
    HAUL_LINK_C2C,    /* NVLink chip to chip */
    HAUL_LINK_FABRIC, /* AMD Infinity Fabric, xGMI */
} haul_link_kind;

/* A link, each direction. PCIe is described by generation and lanes, NVLink and the others by the
 * number of links and the raw rate of one. */
typedef struct haul_link {
    haul_link_kind kind;
    haul_parameter generation;
    haul_parameter lanes;
    haul_parameter links;
    haul_parameter link_rate_Bps;         /* raw, of one link, one direction */
    haul_parameter payload_bytes;         /* PCIe: MPS; NVLink: the largest payload of a packet */
    haul_parameter read_request_bytes;    /* PCIe: MRRS */
    haul_parameter read_completion_bytes; /* PCIe: RCB */
    haul_parameter header_bytes;          /* NVLink: a flit */
    haul_parameter ack_share; /* of the wire, spent on acknowledgements and flow control */
} haul_link;

enum { HAUL_MACHINE_CURVE_POINTS = 16 };

/* One point of a measured curve. */
typedef struct haul_point {
    double bytes;
    double seconds;
} haul_point;

typedef enum haul_locality {
    HAUL_LOCALITY_NEAR, /* the memory of the CPU that the GPU hangs on */
    HAUL_LOCALITY_FAR,  /* another CPU's */
} haul_locality;

/* The times of copies of one direction and kind of memory. Durations are the device's, as profilers
 * record them; call_latency_s is what a host clock sees beside it around a copy and its
 * synchronisation. */
typedef struct haul_copy_curve {
    haul_direction direction;
    haul_memory memory;
    haul_locality locality;
    haul_parameter latency_s;       /* L+o: a copy of one byte */
    haul_parameter rate_Bps;        /* 1/G */
    haul_parameter gap_s;           /* g, between copies in a row */
    haul_parameter busy_rate_Bps;   /* 1/G while the other direction is busy */
    haul_parameter mapped_rate_Bps; /* 1/G while the other direction is busy with mapped memory */
    haul_parameter call_latency_s;
    /* several processes that copy from or to one GPU at once: what each after the first adds to the
     * latency, and the rate of all together */
    haul_parameter shared_latency_s;
    haul_parameter shared_rate_Bps;
    /* staged copies of pageable memory (docs/models.md, `staged`) */
    haul_parameter threshold_bytes; /* up to it a copy goes straight through, at small_rate_Bps */
    haul_parameter small_rate_Bps;
    haul_parameter chunk_bytes;     /* the staging buffer's */
    haul_parameter host_rate_Bps;   /* one core's copy into it, source in cache */
    haul_parameter cache_bytes;     /* above it the source comes from memory, */
    haul_parameter memory_rate_Bps; /* at this rate */
    /* by what share another measurement's median may lie above or below, in 95 of 100 cases, of
     * copies that are mostly latency and mostly bytes: 0.1 is from 1/1.1 to 1.1 times */
    haul_parameter latency_uncertainty;
    haul_parameter rate_uncertainty;
    /* a curve through at most HAUL_MACHINE_CURVE_POINTS points, ascending in bytes: straight
     * between them, the first and last pieces going on outside */
    haul_parameter points_from; /* value: the number of points */
    haul_point points[HAUL_MACHINE_CURVE_POINTS];
} haul_copy_curve;

/* name in files and reports. NONE: not told. TF32, FP16, BF16, FP8, INT8 and FP4 are on tensor or
 * matrix cores. */
#define HAUL_PRECISION_LIST(X)                                                                     \
    X(NONE, "")                                                                                    \
    X(FP64, "fp64")                                                                                \
    X(FP32, "fp32")                                                                                \
    X(TF32, "tf32")                                                                                \
    X(FP16, "fp16")                                                                                \
    X(BF16, "bf16")                                                                                \
    X(FP8, "fp8")                                                                                  \
    X(INT8, "int8")                                                                                \
    X(FP4, "fp4")

typedef enum haul_precision {
#define HAUL_PRECISION_ENUM(name, text) HAUL_PRECISION_##name,
    HAUL_PRECISION_LIST(HAUL_PRECISION_ENUM)
#undef HAUL_PRECISION_ENUM
        HAUL_PRECISIONS
} haul_precision;

typedef struct haul_gpu {
    const char *name; /* as the vendor's tools print it; NULL where unknown */
    const char *architecture;
    haul_parameter count;    /* in the node */
    haul_parameter per_link; /* of them, that share one link to the host: a PCIe switch's */
    haul_parameter multiprocessors;
    haul_parameter cores;         /* of one multiprocessor: single-precision lanes */
    haul_parameter clock_Hz;      /* the highest as it is sold: boost */
    haul_parameter base_clock_Hz; /* what the maker guarantees */
    haul_parameter memory_bytes;
    haul_parameter memory_bandwidth_Bps;
    haul_parameter memory_bus;          /* bits */
    haul_parameter memory_data_rate_Hz; /* transfers a second of each */
    haul_parameter inline_ecc; /* 1: its check bits share the memory's bus (GDDR with ECC on) */
    haul_parameter l2_bytes;
    haul_parameter memory_partitions; /* that addresses are spread over, each with a part of L2 */
    haul_parameter fp64_flops;
    haul_parameter fp32_flops;
    /* nominal, of tensor or matrix cores, without sparsity, by precision */
    haul_parameter tensor_flops[HAUL_PRECISIONS];
    haul_parameter copy_engines;
    haul_parameter
        implicit_sync; /* 1: the device synchronises streams by itself (CCGrid 2014, III) */
    haul_parameter launch_latency_s; /* of a kernel, on the device */
    haul_parameter kernel_gap_s;     /* from a kernel's end to the next of its stream */
    haul_parameter memory_gap_s;     /* the same around memsets and copies within the GPU */
    haul_parameter queue_gap_s;      /* each further small operation that the host queues */
    haul_parameter queue_depth;      /* operations of a stream in flight before a call waits */
    /* sustained, as measured: of large matrix products, by precision, in flop/s, and of kernels
     * that stream through the device's memory, in bytes read and written a second */
    haul_parameter product_flops[HAUL_PRECISIONS];
    haul_parameter stream_Bps;
    haul_parameter l2_Bps; /* the same out of L2: bytes read a second */
} haul_gpu;

typedef struct haul_host {
    const char *name;
    haul_parameter sockets;
    haul_parameter cores;                /* of the node */
    haul_parameter memory_bandwidth_Bps; /* nominal, one socket */
    haul_parameter copy_rate_Bps;        /* one core, memory to memory */
    haul_parameter cached_copy_rate_Bps; /* one core, source in cache */
    haul_parameter cache_bytes;          /* last level, one socket */
} haul_host;

/* Between which processes messages go. */
typedef enum haul_reach {
    HAUL_REACH_ON_SOCKET,
    HAUL_REACH_ON_NODE,
    HAUL_REACH_BETWEEN_NODES
} haul_reach;

/* Messages of one protocol of an MPI, from the host's or the GPU's memory (HAUL_MEMORY_HOST,
 * HAUL_MEMORY_DEVICE): T = latency + bytes/rate, the postal model (Bienz et al., HPEC 2021, eq. 1).
 * It serves from from_bytes on, up to the next protocol of the same memory and reach. */
typedef struct haul_message_protocol {
    haul_memory memory;
    haul_reach reach;
    haul_parameter from_bytes;
    haul_parameter most_bytes; /* the largest message that was measured; the last protocol has it */
    haul_parameter latency_s;
    haul_parameter rate_Bps; /* not given: more bytes take no longer */
    haul_parameter gap_s;    /* each further message of a process, beside its bytes */
    haul_parameter error;    /* median of |t - fit| / t over what it was fitted to */
    /* single messages as measured, ascending in bytes: between two of them, of this protocol or of
     * its neighbours, the time of one message is straight */
    haul_parameter points_from; /* value: the number of points */
    haul_point points[HAUL_MACHINE_CURVE_POINTS];
} haul_message_protocol;

/* The rate of a node while so many of its processes send to others: the max-rate model's
 * min(R_N, ppn R_b) as measured (eq. 2), of the bytes alone: the latency is the protocol's. */
typedef struct haul_injection {
    haul_memory memory;
    haul_parameter processes;
    haul_parameter rate_Bps;
} haul_injection;

/* A measured time of `batch` matrix products of rows x inner by inner x columns each. */
typedef struct haul_product_time {
    haul_precision precision;
    haul_parameter batch;
    haul_parameter rows;
    haul_parameter columns;
    haul_parameter inner;
    haul_parameter time_s; /* on the device, of all of them */
} haul_product_time;

typedef struct haul_machine {
    const char *name;
    const char *summary;
    haul_host host;
    haul_gpu gpu;
    haul_link link; /* host to GPU */
    haul_link peer; /* GPU to GPU */
    const haul_copy_curve *copies;
    size_t copy_count;
    const haul_message_protocol *messages;
    size_t message_count;
    const haul_injection *injection;
    size_t injection_count;
    const haul_product_time *products; /* that correct those near them in size */
    size_t product_count;
    int old_word_line;            /* of its file's first value in an old spelling; 0: none */
    haul_link_kind replaced_link; /* that haul_machine_set put PCIe in the place of, or NONE */
} haul_machine;

/* Reads a machine from a YAML file, or, where `name` has no '/' and no ".yaml", from the catalogue
 * (the folders of haul_catalogue_list). Checks names, units, ranges and what must be there. Returns
 * BAD_INPUT with file, line, column and what was expected. On success the caller owns *machine. */
HAUL_API haul_status haul_machine_load(const char *name, haul_machine **machine, haul_error *error);

/* The same from `size` bytes of YAML in memory; `file` names them in errors. */
HAUL_API haul_status haul_machine_parse(const char *yaml, size_t size, const char *file,
                                        haul_machine **machine, haul_error *error);

/* Writes a machine as YAML that haul_machine_parse reads back to equal values; bytes that a text of
 * a machine file may not hold become '?'. Returns IO. */
HAUL_API haul_status haul_machine_write(const haul_machine *machine, FILE *out, haul_error *error);

/* A copy of `machine` with the first `copy_count` of `copies` in place of its own, owned by the
 * caller. Strings are copied. Returns NO_MEMORY. */
HAUL_API haul_status haul_machine_with_copies(const haul_machine *machine,
                                              const haul_copy_curve *copies, size_t copy_count,
                                              haul_machine **out, haul_error *error);

/* A copy of `machine` with one parameter changed, owned by the caller: `assignment` is a path as
 * haul_machine_visit gives it and a value as in a file, "link.generation=6", "host.copy_rate=12
 * GB/s". The value counts as assumed. With the peak of the link to the host the rates of copies
 * over it change as much: as scaled. A generation of PCIe where the link is another puts PCIe of 16
 * lanes in its place: out->replaced_link has the old kind, and what was measured of copies over the
 * old link is dropped. Returns USAGE for a path that the machine has not, BAD_INPUT for a value
 * that a file could not have. */
HAUL_API haul_status haul_machine_set(const haul_machine *machine, const char *assignment,
                                      haul_machine **out, haul_error *error);

/* Whether haul_machine_set gave the value, also of a machine that was written and read since. */
HAUL_API bool haul_parameter_is_set(const haul_parameter *parameter);

HAUL_API void haul_machine_free(haul_machine *machine);

/* "PCIe", "NVLink", "C2C", "fabric"; "" for none. */
HAUL_API const char *haul_link_kind_text(haul_link_kind kind);

/* "near" or "far". */
HAUL_API const char *haul_locality_text(haul_locality locality);

/* Calls `visit` with a line of text for each thing that `machine` says in an old spelling, or whose
 * values contradict each other: peaks and clocks, rates and the links and memories that they cross,
 * an architecture and its cores. */
typedef void (*haul_machine_finding)(void *state, const char *text);
HAUL_API void haul_machine_check(const haul_machine *machine, haul_machine_finding visit,
                                 void *state);

/* The same of what a machine lacks that is to join the catalogue (the host's name, the slot), and
 * of figures that are less than half or more than twice those of the catalogue's machines with the
 * same GPU: the GPU's own, and where both are in equal slots copies of pinned memory. *alike is how
 * many such machines there are. Returns NO_MEMORY, or what is wrong with a file of the catalogue.
 */
HAUL_API haul_status haul_machine_check_new(const haul_machine *machine, haul_machine_finding visit,
                                            void *state, size_t *alike, haul_error *error);

/* The curve for a direction, memory and locality, or NULL. */
HAUL_API const haul_copy_curve *haul_machine_curve(const haul_machine *machine,
                                                   haul_direction direction, haul_memory memory,
                                                   haul_locality locality);

/* Calls `visit` for every parameter that a machine file may hold, in the file's order, with its
 * path ("gpu.memory_bandwidth", "copies[HtoD pinned].latency", "copies[DtoH pinned far].rate"), its
 * dimension (a haul_dimension) and the parameter, given or not. The path is good until `visit`
 * returns. Stops at the first non-zero return and returns it. */
typedef int (*haul_parameter_visitor)(void *state, const char *path, int dimension,
                                      const haul_parameter *parameter);
HAUL_API int haul_machine_visit(const haul_machine *machine, haul_parameter_visitor visit,
                                void *state);

/* The names of the machines in the catalogue: the files NAME.yaml in the folders of the
 * environment's HAUL_MACHINES (separated by ':'), in ../share/haul/machines beside the program's
 * own folder, in machines of the source tree and of the installation. Where two folders have the
 * same name the first counts. Fills `names` with an array of `count` strings, sorted, owned by the
 * caller and freed with haul_names_free; they may be none. Returns NO_MEMORY. */
HAUL_API haul_status haul_catalogue_list(char ***names, size_t *count, haul_error *error);
HAUL_API void haul_names_free(char **names, size_t count);

HAUL_API const char *haul_provenance_text(haul_provenance provenance);

/* The weaker of two. */
HAUL_API haul_provenance haul_provenance_weaker(haul_provenance a, haul_provenance b);

/* Raw rate of one direction in bytes per second after the line encoding (AHEAD, eq. 3 and 8): what
 * a data sheet calls the peak. NOT_GIVEN where the link is not described. */
HAUL_API haul_parameter haul_link_peak(const haul_link *link);

HAUL_END

#endif
