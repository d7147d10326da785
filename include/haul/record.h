/* Recording a program: it runs unchanged, with libraries beside it that write what its GPU, or
 * other OpenCL device, does into a profile that haul_trace_load reads. See docs/record.md.
 *
 * Threads: one recording at a time in a process: it forks, and takes the calling thread's signals.
 */
#ifndef HAUL_RECORD_H
#define HAUL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "haul/status.h"

HAUL_BEGIN

/* A recorder (a shared library) as the bytes of its file. */
typedef struct haul_recorder_image {
    const void *bytes;
    size_t size;
} haul_recorder_image;

typedef struct haul_recording_options {
    const char *output;      /* path of the profile. %p stands for the program's process, %h for the
                              * host's name, %q{NAME} for what the environment has by that name, %% for
                              * %. Under an MPI launcher a path without %p or %q gets the rank */
    bool replace;            /* a profile that is there; never another file */
    char *const *program;    /* its name and arguments, ended by NULL; found as a shell finds it */
    double duration_s;       /* after which nothing more is recorded; 0 for no limit */
    uint64_t max_operations; /* of each process, likewise */
    bool stacks; /* the C call stack of each OpenCL call, too; each distinct one is kept once */
    bool mpi;    /* the calls of MPI, too; the program loads it as a library */
    /* For a program that carries the recorders within itself: they are written to a temporary
     * folder while the program runs. Of size 0: the recorder's file is looked for beside the
     * running program, then in its installation. */
    haul_recorder_image opencl;
    haul_recorder_image cuda;

    /* Told before the program starts and while haul waits for processes that it left. May be NULL.
     */
    void (*told)(void *context, const char *text);
    void *context;
    uint64_t reserved[4]; /* zeros: see haul/api.h */
} haul_recording_options;

/* How a recording went. */
typedef struct haul_recording {
    int exit_code;       /* the program's, 128 and the signal's number where one ended it */
    bool has_profile;    /* some process made a queue or stream of a device */
    bool met_runtime;    /* some process loaded OpenCL or CUDA */
    bool has_platform;   /* this system has some OpenCL platform */
    bool records_opencl; /* haul was built with OpenCL's headers */
    char output[4096];   /* the profile, as options->output came out */
    unsigned processes;  /* in the profile */
    uint64_t operations; /* copies, sets and kernels in the profile */
    uint64_t dropped;    /* records, or commands, that could not be kept */
    uint64_t in_flight;  /* commands of processes that ended without a word: not in the profile */
    int64_t
        unfetched_ns; /* of such processes: how long before the end CUDA's records were fetched */
    uint64_t beyond_limits; /* operations left out for a limit */
    unsigned damaged_parts; /* recorders whose memory the program overwrote */
    int64_t clock_error_ns; /* how far the devices' times may be from the host's; -1: not known */
    char incomplete[600];   /* why the profile lacks something, "" where it does not; in it too */
    char running[600]; /* processes that run on, which are not recorded any more; "" for none */
    char failure[600]; /* what stopped the recording of a process, "" for nothing */
} haul_recording;

/* Runs the program to its end, and waits for processes of it that are recorded and outlive it,
 * until a signal comes. The program's streams, signals and exit are its own; a signal that is sent
 * to the caller alone is sent on. The calling thread's environment and signals are as before
 * afterwards; no other thread may wait for children. Nothing is at options->output until the end; a
 * profile that is replaced is there until then. Returns ABSENT where haul has no library to record
 * with, IO where the profile cannot be made, is there already or is being recorded, or the program
 * cannot be run. */
HAUL_API haul_status haul_recording_run(const haul_recording_options *options,
                                        haul_recording *recording, haul_error *error);

HAUL_END

#endif
