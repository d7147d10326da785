/* A generated trace of PyTorch's profiler, read: megabytes of JSON a second and memory, plain and
 * gzipped, beside yajl, which only checks the syntax, where that is installed, and Python's json on
 * a tenth of it, since that takes six times a document's size in memory. HolisticTraceAnalysis is
 * beside it in bench/kineto_peers.py. Each reading has a process of its own, for its peak.
 *
 * usage: bench_kineto [MEGABYTES [FOLDER]] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#ifdef HAVE_YAJL
#include <yajl/yajl_parse.h>
#endif

#include "base/byte_source.h"
#include "base/json_in.h"
#include "haul/trace.h"
#include "kineto_trace.h"
#include "took.h"

enum { STEP = 1 << 20 };

static void pack(const char *from, const char *to)
{
    static char buffer[STEP];
    FILE *in = fopen(from, "r");
    gzFile out = gzopen(to, "wb6");
    for (size_t got; in && out && (got = fread(buffer, 1, sizeof buffer, in));)
        (void)gzwrite(out, buffer, (unsigned)got);
    if (in)
        fclose(in);
    gzclose(out);
}

static void print(const char *what, double bytes, double begin_cpu_s, double begin_wall_s)
{
    const double cpu = cpu_s() - begin_cpu_s, wall = wall_s() - begin_wall_s;
    printf("%-42s %6.2f s %6.0f MB/s   cpu %6.2f s %6.0f MB/s\n", what, wall, 1e-6 * bytes / wall,
           cpu, 1e-6 * bytes / cpu);
}

static double skip_all(const char *path)
{
    hl_base_byte_source *source;
    hl_base_json_in in;
    haul_error error = {0};
    const double cpu = cpu_s(), wall = wall_s();
    if (hl_base_byte_source_open(path, &source, &error) ||
        hl_base_json_in_open(&in, path, hl_base_byte_source_read, source, &error))
        stop(&error);
    hl_base_json_in_skip(&in);
    if (hl_base_json_in_end(&in, &error))
        stop(&error);
    const double bytes = (double)in.offset + (double)(in.at - in.buffer);
    hl_base_json_in_close(&in);
    hl_base_byte_source_close(source);
    print("haul, syntax alone", bytes, cpu, wall);
    return bytes;
}

static void load_here(const char *what, const char *path, double bytes)
{
    haul_workload *workload;
    haul_error error = {0};
    const double cpu = cpu_s(), wall = wall_s();
    if (haul_trace_load(path, &workload, &error))
        stop(&error);
    print(what, bytes, cpu, wall);
    const double kept = (double)(workload->op_count * sizeof(haul_op));
    printf("%-42s %zu operations, %.0f MB; peak of the process %.0f MB, %.0f MB beyond them\n", "",
           workload->op_count, 1e-6 * kept, 1e-6 * peak_bytes(), 1e-6 * (peak_bytes() - kept));
    haul_workload_free(workload);
}

static void load(const char *what, const char *path, double bytes)
{
    kineto_trace_cache(path);
    const pid_t child = fork();
    if (!child) {
        load_here(what, path, bytes);
        exit(0);
    }
    waitpid(child, NULL, 0);
}

/* By its own clock, without the time that Python takes to begin. */
static void parse_with_python(const char *path)
{
    char command[2048];
    double seconds = 0, megabytes = 0;
    snprintf(command, sizeof command,
             "python3 -c 'import json, sys, time; text = open(sys.argv[1]).read(); "
             "begin = time.process_time(); json.loads(text); "
             "print(time.process_time() - begin, len(text) * 1e-6)' %s",
             path);
    FILE *const out = popen(command, "r");
    if (out && fscanf(out, "%lf %lf", &seconds, &megabytes) == 2)
        printf("%-42s %6.2f s %6.0f MB/s\n", "Python's json, a tenth", seconds,
               megabytes / seconds);
    if (out)
        pclose(out);
}

#ifdef HAVE_YAJL
static void parse_with_yajl(const char *path, double bytes)
{
    static unsigned char buffer[STEP];
    static const yajl_callbacks none = {0};
    const double cpu = cpu_s(), wall = wall_s();
    FILE *in = fopen(path, "r");
    yajl_handle parser = yajl_alloc(&none, NULL, NULL);
    yajl_status status = yajl_status_ok;
    for (size_t got; in && status == yajl_status_ok && (got = fread(buffer, 1, sizeof buffer, in));)
        status = yajl_parse(parser, buffer, got);
    if (yajl_complete_parse(parser) != yajl_status_ok)
        puts("yajl failed");
    yajl_free(parser);
    if (in)
        fclose(in);
    print("yajl, syntax alone", bytes, cpu, wall);
}
#endif

int main(int argc, char **argv)
{
    const double megabytes = argc > 1 ? strtod(argv[1], NULL) : 1000;
    const char *folder = argc > 2 ? argv[2] : "/tmp";
    char plain[1024], packed[1040];
    snprintf(plain, sizeof plain, "%.900s/haul-bench-kineto.json", folder);
    snprintf(packed, sizeof packed, "%s.gz", plain);
    setvbuf(stdout, NULL, _IOLBF, 0);
    kineto_trace_write(plain, megabytes, -1);
    puts("each file is read once before it is timed, so that it is in the page cache");
    for (int i = 0; i < 3; i++)
        load("haul, plain", plain, 1e6 * megabytes);
    const double bytes = skip_all(plain);
#ifdef HAVE_YAJL
    parse_with_yajl(plain, bytes);
#endif
    kineto_trace_write(packed, megabytes / 10, -1);
    parse_with_python(packed);
    unlink(packed);
    if (megabytes <= 1000) {
        pack(plain, packed);
        load("haul, gzipped", packed, bytes);
        unlink(packed);
    }
    if (argc <= 3)
        unlink(plain);
    puts("to beat: 500 MB of JSON a second on one core, 64 MB beyond the operations for 1 GB");
    return 0;
}
