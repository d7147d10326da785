/* The replay of every public profile: its timeline from its own durations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accuracy.h"
#include "base/fail.h"
#include "haul/timeline.h"
#include "haul/trace.h"
#include "profile_files.h"

static const double goal_percent = 1;

static const struct {
    haul_release release;
    const char *name;
} releases[] = {
    {HAUL_RELEASE_RECORDED, "recorded calls"},
    {HAUL_RELEASE_HOST, "simulated threads"},
};

enum { RELEASES = sizeof releases / sizeof releases[0] };

typedef struct tally {
    unsigned profiles;
    unsigned reached[RELEASES];
    double worst[RELEASES];
} tally;

/* Why a replay misses, found by looking at the profile. */
static const struct {
    const char *name; /* begins so */
    const char *cause;
} causes[] = {
    {"gtx1060-concurrent",
     "Recorded on Windows, whose driver (WDDM) hands work over in batches that do not overlap: "
     "before the first wait a copy back waits, its engine idle, until the next stream's kernel "
     "has ended too, and copies of one direction never start in another order than that of their "
     "calls (on a T4 under Linux they do). Where a batch ends is the driver's secret, so neither "
     "is modelled"},
    {"recsys-v100",
     "Its streams wait for each other's events, 186 times, and such a trace does not name them: "
     "kernels of NCCL, on a stream that is free, start up to 49 ms after their calls there, and at "
     "once here. Its first 614 operations were called for before the trace began, so nothing keeps "
     "the 5 ms of pauses between them"},
};

static const char *cause_of(const char *path)
{
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (!strncmp(profile_name(path), causes[i].name, strlen(causes[i].name)))
            return causes[i].cause;
    return "The cause is not known";
}

static void note_miss(const char *path, const char *calls, const haul_replay *replay, FILE *out)
{
    fprintf(out,
            "- %s, %s, misses by %.3f ms: half of its starts are off by %.3f ms or more, so what "
            "comes too early once goes on to the end. %s.\n",
            profile_name(path), calls,
            1e-6 * fabs((double)(replay->replayed_ns - replay->recorded_ns)),
            1e-6 * replay->start_median_ns, cause_of(path));
}

static haul_status print_profile(const char *path, tally *total, FILE *out, FILE *notes,
                                 haul_error *error)
{
    haul_workload *workload = NULL;
    haul_status status = haul_trace_load(path, &workload, error);
    for (int r = 0; !status && r < RELEASES; r++) {
        haul_replay replay;
        status = haul_timeline_replay(workload, releases[r].release, &replay, error);
        if (status)
            break;
        const double error_percent = fabs(replay.error);
        total->reached[r] += error_percent <= goal_percent;
        total->worst[r] = fmax(total->worst[r], error_percent);
        if (error_percent > goal_percent)
            note_miss(path, releases[r].name, &replay, notes);
        fprintf(out, "| %s | %s | %llu | %llu | %.3f | %.3f | %+.3f | %.1f | %.1f | %.1f |\n",
                profile_name(path), releases[r].name, (unsigned long long)replay.ops,
                (unsigned long long)replay.unissued, 1e-6 * (double)replay.recorded_ns,
                1e-6 * (double)replay.replayed_ns, replay.error, 1e-3 * replay.start_median_ns,
                1e-3 * replay.start_p90_ns, 1e-3 * replay.start_worst_ns);
    }
    total->profiles += !status;
    haul_workload_free(workload);
    return status;
}

static void print_verdict(const tally *total, FILE *out)
{
    for (int r = 0; r < RELEASES; r++)
        fprintf(out, "%s- With %s: %u of %u profiles within %.0f %%; the worst is %.2f %% off.\n",
                r ? "" : "\n", releases[r].name, total->reached[r], total->profiles, goal_percent,
                total->worst[r]);
}

static const char preface[] =
    "## Timelines: a profile rebuilt from its own durations\n\n"
    "`haul_timeline_replay`: each operation keeps its recorded duration, and the engine says when "
    "it starts: after its call, its stream, its events, when its copy engine is free, and kernels "
    "when one of their blocks finds room. Recorded calls: no call is made earlier than in the "
    "profile, and only waits make it later. Simulated "
    "threads: calls follow from what the thread did before, blocking copies and waits among it, so "
    "an error made early goes on to the end. From call to start the median of the profile's own "
    "operations that waited for nothing else, by kind. Operations whose call is not in the profile "
    "('uncalled': those of graphs) start no earlier than recorded, or, with simulated threads, as "
    "soon as their stream allows. Makespans in ms, their error in percent; |start - recorded "
    "start| in us.\n\n";

static const char kineto_preface[] =
    "\nTraces of PyTorch's profiler (Kineto). A wait for a stream does not name it there, unless "
    "the trace has events of synchronisation: it is taken for the one that its thread used last; "
    "waits of streams for events are left out.\n\n";

static const char heading[] =
    "| profile | calls | operations | uncalled | recorded | replayed | error | starts: median | "
    "90 % | worst |\n"
    "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";

static haul_status print_profiles(const profile_files *files, FILE *out, haul_error *error)
{
    char *noted = NULL;
    size_t size = 0;
    FILE *notes = open_memstream(&noted, &size);
    tally total = {0};
    haul_status status = notes ? HAUL_OK : haul_fail_no_memory(error);
    fputs(heading, out);
    for (size_t i = 0; !status && i < files->count; i++)
        status = print_profile(files->paths[i], &total, out, notes, error);
    if (notes)
        fclose(notes);
    if (!status) {
        print_verdict(&total, out);
        fputs(noted, out);
    }
    free(noted);
    return status;
}

static haul_status write_section(const char *data, FILE *out, haul_error *error)
{
    profile_files files = {0}, kineto = {0};
    haul_status status = profile_files_list(data, &files, error);
    if (!status)
        status = kineto_files_list(data, &kineto, error);
    fputs(preface, out);
    if (!status)
        status = print_profiles(&files, out, error);
    fputs(kineto_preface, out);
    if (!status)
        status = print_profiles(&kineto, out, error);
    profile_files_release(&files);
    profile_files_release(&kineto);
    return status;
}

const accuracy_section accuracy_timeline = {"timeline", write_section};
