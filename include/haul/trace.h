/* Recorded programs: profiles read into workloads. The format is found by looking at the file, not
 * at its name.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_TRACE_H
#define HAUL_TRACE_H

#include <stdio.h>

#include "haul/workload.h"

HAUL_BEGIN

/* Reads the profile at `path`; "-" is standard input, and pipes are kept in a temporary file of
 * TMPDIR while they are read. Rows stream: memory is that of the workload (64 bytes an operation,
 * its names, its edges) and a constant. Rows that cannot be right are repaired and counted in
 * `repairs`; what the file lacks is in `missing`. Returns BAD_INPUT where the file is no profile
 * that haul knows, is truncated or corrupt; IO where it cannot be opened. On success the caller
 * owns *workload. */
HAUL_API haul_status haul_trace_load(const char *path, haul_workload **workload, haul_error *error);

/* Reads the profiles of `count` processes of one program, ranks, with as many threads as the
 * machine has cores, into one workload; a folder stands for the files in it that are named as
 * profiles are: each device has the rank of its process, which is what the
 * file says, else the file's number. Where all files say when their times begin they are kept in
 * step; else each is taken to begin at its first operation, and `missing` says so. One path is read
 * as haul_trace_load does. */
HAUL_API haul_status haul_trace_load_ranks(const char *const *paths, size_t count,
                                           haul_workload **workload, haul_error *error);

/* Whether haul_trace_load_ranks reads a file so named where it is given the file's folder. */
HAUL_API bool haul_trace_name_is_profile(const char *name);

/* Profiles sorted into jobs: each a workload, joined as haul_trace_load_ranks does where it has
 * several files. */
typedef struct haul_trace_jobs {
    haul_workload **items;
    size_t count;
    haul_error *unread; /* files that are in no job, and why they could not be read */
    size_t unread_count;
} haul_trace_jobs;

/* Reads profiles and joins those of one job: files whose processes run at the same time, by clocks
 * that both files give, those of different ranks on one kind of GPU at most 5 s from each other,
 * or, where one gives none, that name ranks and one kind of GPU; never two of one rank. A program
 * that was recorded twice, and two programs, are jobs of their own, in the order of their first
 * files. A file that cannot be read is told in `unread` beside those that can; where none can, the
 * first one's failure is returned. The caller releases *jobs with haul_trace_jobs_release. */
HAUL_API haul_status haul_trace_load_jobs(const char *const *paths, size_t count,
                                          haul_trace_jobs *jobs, haul_error *error);
HAUL_API void haul_trace_jobs_release(haul_trace_jobs *jobs);

/* The part of a workload between two times, in nanoseconds from its first operation's start:
 * operations that start in [from_ns, to_ns), with times as they were. An operation whose call is
 * outside of that loses it; *orphaned counts those. Free with haul_workload_free. */
HAUL_API haul_status haul_trace_cut(const haul_workload *workload, int64_t from_ns, int64_t to_ns,
                                    uint64_t *orphaned, haul_workload **part, haul_error *error);

/* Which of a workload's operations are meant; zero is all. */
typedef struct haul_selection {
    const char *range; /* called while their thread was in a range of this name; without a call or a
                        * thread, begun while any was */
    bool by_device;    /* on the devices of this number, and their host's */
    uint64_t device;
    int64_t from_ns; /* begun in [from_ns, to_ns), from the first start on a device; to_ns 0: to the
                      * end */
    int64_t to_ns;
} haul_selection;

/* The part of a workload that a selection names, as haul_trace_cut makes it. Returns MISSING where
 * no operation is in it, with the name that may have been meant. */
HAUL_API haul_status haul_trace_select(const haul_workload *workload,
                                       const haul_selection *selection, haul_workload **part,
                                       haul_error *error);

/* Writes a workload so that other tools can read it: a new SQLite file with the tables of Nsight
 * Systems' export, in place of one that is there; or a trace as PyTorch's profiler writes it, for
 * Chrome, Perfetto and PyTorch's tools. Read back, operations, their calls, names and ranges are
 * equal, operators, source lines and losses too; ids of processes, and of threads beyond 24 bits,
 * may be others in SQLite. Returns IO. */
HAUL_API haul_status haul_trace_write_sqlite(const haul_workload *workload, const char *path,
                                             haul_error *error);
HAUL_API haul_status haul_trace_write_json(const haul_workload *workload, FILE *out,
                                           haul_error *error);

/* Writes a workload's arrays as an archive for numpy.load: `ops`, `shapes`, `ranges`, `edges`,
 * `streams`, `threads`, `devices`, `losses` and `about` have the fields of haul/workload.h, and
 * `operators`, `lines` and `stacks` a text for each operation, or none at all; `kinds`,
 * `directions` and `memories` the words of its enumerations; a text is an id into `string_ends`,
 * which says where each ends in `string_bytes`. A million operations are 64 MB. Needs memory for
 * the texts once more. Returns IO, NO_MEMORY. */
HAUL_API haul_status haul_trace_write_npz(const haul_workload *workload, FILE *out,
                                          haul_error *error);

/* Reads what was written at `path` and says in `text`, of `size` bytes, what differs from the
 * workload that it was written from: "waits for an operation (3), named ranges (1)"; "" where
 * nothing does. Numbers of processes, which are made anew, are not compared. Returns what reading
 * returns. */
HAUL_API haul_status haul_trace_written_check(const haul_workload *workload, const char *path,
                                              char *text, size_t size, haul_error *error);

HAUL_END

#endif
