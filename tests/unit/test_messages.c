/* Measured messages: what is read, and what is fitted to them. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comm/message_samples.h"

static const haul_message_source plain = {.memory = HAUL_MEMORY_UNKNOWN,
                                          .reach = HAUL_REACH_BETWEEN_NODES};

static haul_message_samples read_text(const char *text)
{
    haul_message_samples samples = {0};
    haul_error error = {0};
    if (hl_comm_message_samples_parse(text, strlen(text), "t", &plain, &samples, &error))
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    return samples;
}

/* 5 % is a number elsewhere, and no time, count or size. */
static void percentages_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "mem,locality,bytes,min_s\ncpu,socket,64,5%\n",
        "mem,locality,bytes,min_s\ncpu,socket,64,5 %\n",
        "mem,ppn,bytes_total,seconds\ncpu,400%,4096,1e-6\n",
        "mem,locality,bytes,min_s\ncpu,socket,64%,1e-6\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        haul_message_samples samples = {0};
        haul_error error = {0};
        assert_int_equal(hl_comm_message_samples_parse(texts[i], strlen(texts[i]), "t", &plain,
                                                       &samples, &error),
                         HAUL_STATUS_BAD_INPUT);
        assert_non_null(strstr(error.text, "expected"));
        assert_int_equal(error.line, 2);
    }
}

static void csv_tells_its_kind(void **state)
{
    (void)state;
    haul_message_samples samples =
        read_text("mem,locality,bytes,min_s\ncpu,socket,64,1e-6\ngpu,network,1 KiB,5 us\n");
    assert_int_equal(samples.count, 2);
    assert_int_equal(samples.items[0].op, HAUL_MESSAGE_PAIR);
    assert_int_equal(samples.items[0].reach, HAUL_REACH_ON_SOCKET);
    assert_int_equal(samples.items[1].memory, HAUL_MEMORY_DEVICE);
    assert_int_equal(samples.items[1].bytes, 1024);
    CHECK_NEAR(samples.items[1].seconds, 5e-6, 1e-9);
    haul_message_samples_free(&samples);
    samples = read_text("mem,ppn,bytes_total,seconds\ncpu,4,4096,1e-6\n");
    assert_int_equal(samples.items[0].op, HAUL_MESSAGE_RATE);
    assert_int_equal(samples.items[0].bytes, 1024);
    haul_message_samples_free(&samples);
    samples = read_text("kind,n_procs,bytes_each,min_s\nd2h,3,4096,1e-5\nd2d,1,4,1e-5\n");
    assert_int_equal(samples.count, 1);
    assert_int_equal(samples.items[0].op, HAUL_MESSAGE_COPY);
    assert_int_equal(samples.items[0].direction, HAUL_DIRECTION_DTOH);
    assert_int_equal(samples.items[0].processes, 3);
    haul_message_samples_free(&samples);
}

static void refused(const char *text, int line, const char *why)
{
    haul_message_samples samples = {0};
    haul_error error = {0};
    const haul_status status =
        hl_comm_message_samples_parse(text, strlen(text), "t", &plain, &samples, &error);
    assert_int_equal(status, HAUL_STATUS_BAD_INPUT);
    assert_int_equal(error.line, line);
    if (!strstr(error.text, why))
        fail_msg("'%s' has not '%s'", error.text, why);
    haul_message_samples_free(&samples);
}

static void what_is_wrong_has_a_place(void **state)
{
    (void)state;
    refused("bytes,min_s\n1,1e-6\n", 1, "mem");
    refused("mem,locality,bytes,min_s\ncpu,moon,1,1e-6\n", 2, "socket, node or network");
    refused("mem,locality,bytes,min_s\ncpu,node,1,0\n", 2, "duration");
    refused("system,mem,bytes,min_s\na,cpu,1,1e-6\nb,cpu,1,1e-6\n", 3, "several systems");
    refused("mem,ppn,bytes,min_s\ncpu,0,1,1e-6\n", 2, "whole number");
    refused("# OSU MPI Latency Test\n# Size Latency (us)\n8 x\n", 3, "time or a rate");
    refused("mem,bytes,min_s\n", 0, "no measured messages");
}

static void text_of_osu_is_read(void **state)
{
    (void)state;
    haul_message_samples samples = read_text("# OSU MPI-CUDA Latency Test v5.9\n"
                                             "# Size          Latency (us)\n"
                                             "0                       1.00\n"
                                             "8                       2.50\n"
                                             "1048576               100.00\n");
    assert_int_equal(samples.count, 2);
    assert_int_equal(samples.items[0].memory, HAUL_MEMORY_DEVICE);
    CHECK_NEAR(samples.items[0].seconds, 2.5e-6, 1e-9);
    haul_message_samples_free(&samples);
    samples = read_text("# OSU MPI Multiple Bandwidth / Message Rate Test v7.0\n"
                        "# [ pairs: 4 ] [ window size: 64 ]\n"
                        "# Size                  MB/s        Messages/s\n"
                        "1000                  4000.00        4000000.00\n");
    assert_int_equal(samples.items[0].op, HAUL_MESSAGE_RATE);
    assert_int_equal(samples.items[0].processes, 4);
    CHECK_NEAR(samples.items[0].seconds, 1e-6, 1e-3);
    assert_int_equal(samples.items[0].messages, 64);
    haul_message_samples_free(&samples);
}

/* From version 7 on a latency is headed as a mean, as collectives' always were, perhaps with its
 * tail beside. */
static void text_of_osu_7_is_read(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "# OSU MPI-CUDA Latency Test v7.5\n# Datatype: MPI_CHAR.\n"
        "# Size       Avg Latency(us)\n8       2.50\n",
        "# OSU MPI-CUDA Multi Latency Test v7.5\n# Datatype: MPI_CHAR.\n"
        "# Size       Avg Latency(us)   P50 Tail Lat(us)  P99 Tail Lat(us)\n8  2.50  2.00  9.00\n",
    };
    for (size_t i = 0; i < 2; i++) {
        haul_message_samples samples = read_text(texts[i]);
        assert_int_equal(samples.count, 1);
        assert_int_equal(samples.items[0].op, HAUL_MESSAGE_PAIR);
        assert_int_equal(samples.items[0].memory, HAUL_MEMORY_DEVICE);
        CHECK_NEAR(samples.items[0].seconds, 2.5e-6, 1e-9);
        haul_message_samples_free(&samples);
    }
    refused("# OSU MPI Broadcast Latency Test v7.5\n# Size  Avg Latency(us)\n8 2.5\n", 3,
            "of a collective");
    refused("# OSU MPI Bi-Directional Bandwidth Test v7.5\n# Size  Bandwidth (MB/s)\n8 2.5\n", 3,
            "of both directions");
}

/* Of a collective counts what a GPU sends, which takes the number of processes; a table behind it
 * has its own title. */
static void collectives_of_osu_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t bytes; /* of 1000, by 5 processes */
    } of[] = {{"Allreduce", 1600}, {"Reduce_scatter", 800},
              {"Allgather", 4000}, {"All-to-All Personalized Exchange", 4000},
              {"Broadcast", 1000}, {"Reduce", 1000}};
    char text[400];
    haul_message_source source = plain;
    source.processes = 5;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        haul_message_samples samples = {0};
        (void)snprintf(text, sizeof text,
                       "# OSU MPI-CUDA %s Latency Test v7.5\n# Datatype: MPI_CHAR.\n"
                       "# Size       Avg Latency(us)\n1000  20.00\n"
                       "# OSU MPI-CUDA Latency Test v7.5\n# Size  Avg Latency(us)\n1000  2.50\n",
                       of[i].name);
        assert_int_equal(
            hl_comm_message_samples_parse(text, strlen(text), "osu", &source, &samples, NULL),
            HAUL_OK);
        assert_int_equal(samples.count, 2);
        assert_int_equal(samples.items[0].memory, HAUL_MEMORY_DEVICE);
        assert_int_equal(samples.items[0].bytes, of[i].bytes);
        CHECK_NEAR(samples.items[0].seconds, 20e-6, 1e-9);
        assert_int_equal(samples.items[1].bytes, 1000);
        haul_message_samples_free(&samples);
    }
    static const char *const others[] = {"MPI Allreduce", "MPI-CUDA Gather",
                                         "MPI-CUDA Non-blocking Allreduce"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        haul_message_samples samples = {0};
        haul_error error;
        (void)snprintf(text, sizeof text,
                       "# OSU %s Latency Test v7.5\n# Size  Avg Latency(us)\n1000  20.00\n",
                       others[i]);
        assert_int_equal(
            hl_comm_message_samples_parse(text, strlen(text), "osu", &source, &samples, &error),
            HAUL_STATUS_BAD_INPUT);
        assert_non_null(strstr(error.text, "of a collective"));
        haul_message_samples_free(&samples);
    }
}

static const char imb[] =
    "# Intel(R) MPI Benchmarks 2021.3, MPI-1 part\n"
    "# Benchmarking PingPong \n# #processes = 2 \n# ( 2 additional processes waiting)\n"
    "   #bytes #repetitions      t[usec]   Mbytes/sec\n     1000   1000   1.20   833.33\n"
    "# Benchmarking Uniband \n# #processes = 4 \n"
    "   #bytes #repetitions   Mbytes/sec      Msg/sec\n     1000   1000   500.00   500000\n"
    "# Benchmarking Exchange \n# #processes = 2 \n"
    "   #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec\n"
    "     1000   1000   3.00   4.00   3.50   1000.00\n"
    "# Benchmarking Alltoallv \n# #processes = 2 \n"
    "   #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
    "        0   1000   0.03   0.03   0.03\n     1000   1000   5.00   6.00   5.50\n"
    "# Benchmarking Alltoallv \n# #processes = 4 \n"
    "   #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
    "     1000   1000   7.00   8.00   7.50\n"
    "# Benchmarking Barrier \n# #processes = 4 \n"
    " #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n  1000   0.43   0.43   0.43\n";

/* A table of IMB's for each benchmark and number of processes: of collectives the one that is asked
 * for, with the most processes or as many as are asked for. */
static void benchmarks_of_imb_are_chosen(void **state)
{
    (void)state;
    static const struct {
        const char *benchmark;
        uint32_t processes;
        uint64_t bytes;
        double seconds;
    } rows[] = {
        {"Exchange", 0, 2000, 4e-6}, {"Alltoallv", 0, 3000, 8e-6}, {"Alltoallv", 2, 1000, 6e-6}};
    haul_message_source source = plain;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        haul_message_samples samples = {0};
        source.memory = HAUL_MEMORY_DEVICE;
        source.benchmark = rows[i].benchmark;
        source.processes = rows[i].processes;
        assert_int_equal(
            hl_comm_message_samples_parse(imb, sizeof imb - 1, "imb", &source, &samples, NULL),
            HAUL_OK);
        assert_int_equal(samples.count, 1);
        assert_int_equal(samples.items[0].op, HAUL_MESSAGE_PAIR);
        assert_int_equal(samples.items[0].bytes, rows[i].bytes);
        CHECK_NEAR(samples.items[0].seconds, rows[i].seconds, 1e-9);
        haul_message_samples_free(&samples);
    }
    haul_message_samples samples = read_text(imb);
    assert_int_equal(samples.count, 2);
    assert_int_equal(samples.items[0].bytes, 1000);
    CHECK_NEAR(samples.items[0].seconds, 1.2e-6, 1e-9);
    assert_int_equal(samples.items[1].op, HAUL_MESSAGE_RATE);
    assert_true(samples.items[1].processes == 2 && samples.items[1].messages == 64);
    CHECK_NEAR(samples.items[1].seconds, 2 * 1000 / 500e6, 1e-9);
    haul_message_samples_free(&samples);
}

static void benchmarks_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *benchmark, *text;
    } wrong[] = {{"Alltoallv", "of host memory"},
                 {"Barrier", "not of this benchmark"},
                 {"Nothing", "no measured messages"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        haul_error error;
        haul_message_samples none = {0};
        haul_message_source source = plain;
        source.benchmark = wrong[i].benchmark;
        assert_int_equal(
            hl_comm_message_samples_parse(imb, sizeof imb - 1, "imb", &source, &none, &error),
            HAUL_STATUS_BAD_INPUT);
        assert_non_null(strstr(error.text, wrong[i].text));
        haul_message_samples_free(&none);
    }
}

/* A blank column, and sizes that a GPU keeps a part of. */
static void text_of_nccl_tests_is_read(void **state)
{
    (void)state;
    haul_message_samples samples =
        read_text("#       size         count    type   redop     time   algbw   busbw  error\n"
                  "#        (B)    (elements)                     (us)  (GB/s)  (GB/s)\n"
                  "           0             0   float             1.63    0.00    0.00    N/A\n"
                  "        8000            16   float            10.00    0.80    0.70    N/A\n"
                  "# Out of bounds values : 0 OK\n");
    assert_int_equal(samples.count, 1);
    assert_int_equal(samples.items[0].bytes, 7000);
    assert_int_equal(samples.items[0].memory, HAUL_MEMORY_DEVICE);
    CHECK_NEAR(samples.items[0].seconds, 1e-5, 1e-9);
    haul_message_samples_free(&samples);
}

/* Ranks on one host are of one node, whatever the usual reach of a text; what the user says counts
 * more. */
static void hosts_tell_the_reach(void **state)
{
    (void)state;
    static const char rows[] =
        "#       size         count    type   redop     time   algbw   busbw  error\n"
        "        8000            16   float            10.00    0.80    0.70    N/A\n";
    for (int i = 0; i < 3; i++) {
        char text[600];
        haul_message_samples samples = {0};
        haul_error error = {0};
        haul_message_source source = plain;
        source.is_reach_told = i == 2;
        (void)snprintf(text, sizeof text,
                       "#   Rank  0 Pid 167261 on localhost device  0 [0x00] A100-SXM4-40GB\n"
                       "#   Rank  1 Pid 167261 on %s device  1 [0x00] A100-SXM4-40GB\n%s",
                       i == 1 ? "other" : "localhost", rows);
        assert_int_equal(
            hl_comm_message_samples_parse(text, strlen(text), "t", &source, &samples, &error),
            HAUL_OK);
        assert_int_equal(samples.items[0].reach,
                         i == 0 ? HAUL_REACH_ON_NODE : HAUL_REACH_BETWEEN_NODES);
        haul_message_samples_free(&samples);
    }
}

static void add(haul_message_samples *samples, haul_message_sample sample)
{
    haul_error error;
    assert_int_equal(hl_comm_message_sample_add(samples, &sample, &error), HAUL_OK);
}

static double two_protocols(double bytes)
{
    return bytes < 8192 ? 1e-6 + bytes / 4e9 : 5e-6 + bytes / 12e9;
}

/* Two protocols with a time that is half as long again as it should be, gaps, and a node's rate. */
static haul_message_samples made(void)
{
    haul_message_samples samples = {0};
    for (uint64_t bytes = 4; bytes <= 1 << 20; bytes *= 2) {
        const double s = two_protocols((double)bytes) * (bytes == 64 ? 1.5 : 1);
        add(&samples, (haul_message_sample){HAUL_MESSAGE_PAIR, HAUL_MEMORY_HOST,
                                            HAUL_REACH_BETWEEN_NODES, 0, 0, 1, 1, bytes, s});
        for (uint32_t n = 1; n <= 4; n++) {
            const double gap_s = bytes < 8192 ? 4e-7 : 2e-6;
            const double each_s = gap_s + (double)bytes / (bytes < 8192 ? 4e9 : 12e9);
            add(&samples, (haul_message_sample){HAUL_MESSAGE_MANY, HAUL_MEMORY_HOST,
                                                HAUL_REACH_BETWEEN_NODES, 0, 0, 1, n, bytes,
                                                two_protocols((double)bytes) + (n - 1) * each_s});
        }
    }
    for (uint32_t p = 1; p <= 4; p++)
        add(&samples,
            (haul_message_sample){HAUL_MESSAGE_RATE, HAUL_MEMORY_HOST, HAUL_REACH_BETWEEN_NODES, 0,
                                  0, p, 1, 1 << 20, 5e-6 + p * 1048576.0 / fmin(p * 9e9, 20e9)});
    return samples;
}

static void protocols_are_found(void **state)
{
    (void)state;
    haul_message_samples samples = made();
    haul_message_fit fit;
    haul_error error;
    const haul_message_fit_options options = {.breaks = 3};
    assert_int_equal(haul_message_fit_make(&samples, &options, &fit, &error), HAUL_OK);
    assert_int_equal(fit.count, 1);
    const haul_message_curve *curve = &fit.curves[0];
    assert_int_equal(curve->count, 2);
    CHECK_NEAR(curve->pieces[1].from_bytes, 8192, 0);
    CHECK_NEAR(curve->pieces[0].latency_s, 1e-6, 1e-3);
    CHECK_NEAR(curve->pieces[1].per_byte_s, 1 / 12e9, 1e-3);
    CHECK_NEAR(curve->pieces[0].gap_s, 4e-7, 1e-2);
    CHECK_NEAR(curve->pieces[1].gap_s, 2e-6, 1e-2);
    assert_true(curve->median < 0.1 && curve->worst > 30 && curve->worst < 35);
    assert_int_equal(fit.injection_count, 4);
    CHECK_NEAR(fit.injection[3].rate_Bps.value, 20e9, 1e-6);
    haul_message_fit_free(&fit);
    haul_message_samples_free(&samples);
}

/* Published tables: given switches and least squares. */
static void given_switches_are_kept(void **state)
{
    (void)state;
    haul_message_samples samples = made();
    haul_message_fit fit;
    haul_error error;
    const double switches[] = {1024, 8192};
    const haul_message_fit_options options = {
        .switches = switches, .switch_count = 2, .is_absolute = true};
    assert_int_equal(haul_message_fit_make(&samples, &options, &fit, &error), HAUL_OK);
    assert_int_equal(fit.curves[0].count, 3);
    CHECK_NEAR(fit.curves[0].pieces[2].per_byte_s, 1 / 12e9, 1e-3);
    haul_message_fit_free(&fit);
    haul_message_samples_free(&samples);
}

/* Times that shrink with the size, one size alone, all times equal: never a negative figure. */
static void nothing_is_negative(void **state)
{
    (void)state;
    static const double times[][4] = {{4e-6, 3e-6, 2e-6, 1e-6}, {1e-6, 1e-6, 1e-6, 1e-6}};
    for (size_t of = 0; of < 2; of++)
        for (size_t count = 1; count <= 4; count++) {
            haul_message_samples samples = {0};
            haul_message_fit fit;
            haul_error error;
            for (size_t i = 0; i < count; i++)
                add(&samples,
                    (haul_message_sample){HAUL_MESSAGE_PAIR, HAUL_MEMORY_HOST, HAUL_REACH_ON_NODE,
                                          0, 0, 1, 1, (uint64_t)1 << (4 * i), times[of][i]});
            const haul_message_fit_options options = {.breaks = 3};
            assert_int_equal(haul_message_fit_make(&samples, &options, &fit, &error), HAUL_OK);
            for (size_t k = 0; k < fit.curves[0].count; k++)
                assert_true(fit.curves[0].pieces[k].latency_s >= 0 &&
                            fit.curves[0].pieces[k].per_byte_s >= 0);
            haul_message_fit_free(&fit);
            haul_message_samples_free(&samples);
        }
}

/* Small messages of one time, in which rounding leaves a slope: the fit is a machine that is read.
 */
static void equal_times_have_no_rate(void **state)
{
    (void)state;
    for (int n = 0; n < 2000; n++) {
        haul_message_samples samples = {0};
        haul_message_fit fit;
        haul_error error;
        const double seconds = 335.27e-9 + 0.013e-9 * n;
        for (uint64_t bytes = 1; bytes <= 256; bytes *= 2)
            add(&samples, (haul_message_sample){HAUL_MESSAGE_PAIR, HAUL_MEMORY_HOST,
                                                HAUL_REACH_ON_NODE, 0, 0, 1, 1, bytes, seconds});
        const haul_message_fit_options options = {.breaks = 3};
        assert_int_equal(haul_message_fit_make(&samples, &options, &fit, &error), HAUL_OK);
        assert_true(fit.curves[0].pieces[0].per_byte_s == 0);
        haul_message_fit_free(&fit);
        haul_message_samples_free(&samples);
    }
}

/* A rate is of the bytes alone: by eq. 2 with it each measured time comes out again, of one process
 * too. Messages of a window have one latency among them, times without ping-pongs none. */
static void rates_have_no_latency(void **state)
{
    (void)state;
    haul_message_fit fit;
    haul_error error;
    for (int window = 1; window <= 64; window += 63) {
        haul_message_samples samples = {0};
        for (uint64_t bytes = 1024; bytes <= 1 << 20; bytes *= 2) {
            const double n = (double)bytes;
            add(&samples,
                (haul_message_sample){HAUL_MESSAGE_PAIR, HAUL_MEMORY_HOST, HAUL_REACH_BETWEEN_NODES,
                                      0, 0, 1, 1, bytes, 5e-6 + n / 12e9});
            for (uint32_t p = 1; p <= 4; p++)
                add(&samples,
                    (haul_message_sample){HAUL_MESSAGE_RATE, HAUL_MEMORY_HOST,
                                          HAUL_REACH_BETWEEN_NODES, 0, 0, p, (uint32_t)window,
                                          bytes, 5e-6 / window + fmax(n / 12e9, p * n / 20e9)});
        }
        const haul_message_fit_options options = {.breaks = 3};
        assert_int_equal(haul_message_fit_make(&samples, &options, &fit, &error), HAUL_OK);
        assert_int_equal(fit.injection_count, 4);
        CHECK_NEAR(fit.injection[0].rate_Bps.value, 12e9, 1e-6);
        CHECK_NEAR(fit.injection[1].rate_Bps.value, 20e9, 1e-6);
        CHECK_NEAR(fit.injection[3].rate_Bps.value, 20e9, 1e-6);
        haul_message_fit_free(&fit);
        haul_message_samples_free(&samples);
    }
    haul_message_samples alone = {0};
    add(&alone, (haul_message_sample){HAUL_MESSAGE_RATE, HAUL_MEMORY_HOST, HAUL_REACH_BETWEEN_NODES,
                                      0, 0, 2, 1, 1000, 1e-6});
    assert_int_equal(haul_message_fit_make(&alone, &(haul_message_fit_options){0}, &fit, &error),
                     HAUL_OK);
    CHECK_NEAR(fit.injection[0].rate_Bps.value, 2e9, 1e-9);
    haul_message_fit_free(&fit);
    haul_message_samples_free(&alone);
}

static void a_fit_becomes_a_machine(void **state)
{
    (void)state;
    haul_message_samples samples = made();
    haul_message_fit fit;
    haul_error error;
    haul_machine *machine, *again;
    /* of the base those of memories and reaches that were not measured are kept */
    haul_message_protocol old[] = {
        {.memory = HAUL_MEMORY_HOST, .reach = HAUL_REACH_BETWEEN_NODES},
        {.memory = HAUL_MEMORY_HOST, .reach = HAUL_REACH_ON_NODE},
        {.memory = HAUL_MEMORY_DEVICE, .reach = HAUL_REACH_BETWEEN_NODES}};
    for (size_t i = 0; i < 3; i++) {
        old[i].from_bytes = (haul_parameter){0, HAUL_PROVENANCE_MEASURED, "before"};
        old[i].latency_s = (haul_parameter){7e-6, HAUL_PROVENANCE_MEASURED, "before"};
    }
    haul_injection rates[] = {{HAUL_MEMORY_HOST,
                               {1, HAUL_PROVENANCE_MEASURED, "before"},
                               {9e9, HAUL_PROVENANCE_MEASURED, "before"}},
                              {HAUL_MEMORY_DEVICE,
                               {1, HAUL_PROVENANCE_MEASURED, "before"},
                               {8e9, HAUL_PROVENANCE_MEASURED, "before"}}};
    const haul_machine base = {.name = "a",
                               .summary = "b",
                               .messages = old,
                               .message_count = 3,
                               .injection = rates,
                               .injection_count = 2};
    char *text;
    size_t size;
    const haul_message_fit_options options = {.breaks = 3};
    assert_int_equal(haul_message_fit_make(&samples, &options, &fit, &error), HAUL_OK);
    assert_int_equal(haul_message_fit_machine(&fit, &base, "a test", &machine, &error), HAUL_OK);
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(haul_machine_write(machine, out, &error), HAUL_OK);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(haul_machine_parse(text, size, "m", &again, &error), HAUL_OK);
    assert_int_equal(again->message_count, 4);
    assert_int_equal(again->injection_count, 5);
    assert_true(again->messages[2].reach == HAUL_REACH_ON_NODE);
    assert_true(again->messages[3].memory == HAUL_MEMORY_DEVICE);
    assert_string_equal(again->messages[3].latency_s.source, "before");
    CHECK_NEAR(again->injection[4].rate_Bps.value, 8e9, 1e-9);
    CHECK_NEAR(again->messages[1].from_bytes.value, 8192, 0);
    CHECK_NEAR(again->messages[1].rate_Bps.value, 12e9, 1e-3);
    /* the sizes of each piece, with the one time that is off as it was measured */
    assert_true(again->messages[0].points_from.value == 11);
    assert_true(again->messages[0].points[4].bytes == 64 &&
                again->messages[1].points[0].bytes == 8192);
    CHECK_NEAR(again->messages[0].points[4].seconds, 1.5 * two_protocols(64), 1e-5);
    assert_string_equal(again->messages[1].latency_s.source, "a test");
    free(text);
    haul_machine_free(again);
    haul_machine_free(machine);
    haul_message_fit_free(&fit);
    haul_message_samples_free(&samples);
}

/* A driver that takes turns of hundreds of microseconds at small sizes (Bienz et al., section IV):
 * one latency and rate cannot give these back, and the fit says so. */
static void turns_of_the_driver_are_told(void **state)
{
    (void)state;
    for (int takes_turns = 0; takes_turns < 2; takes_turns++) {
        haul_message_samples samples = {0};
        haul_message_fit fit;
        haul_error error;
        for (uint64_t bytes = 1024; bytes <= 1 << 20; bytes *= 4)
            for (uint32_t p = 1; p <= 6; p++) {
                const double n = (double)bytes;
                double s = p > 1 ? 10e-6 + (p - 1) * 3e-6 + p * n / 25e9 : 10e-6 + n / 40e9;
                if (takes_turns && p > 1 && bytes < 8192)
                    s = 830e-6;
                add(&samples, (haul_message_sample){HAUL_MESSAGE_COPY, 0, 0, HAUL_DIRECTION_DTOH,
                                                    HAUL_LOCALITY_NEAR, p, 1, bytes, s});
            }
        const haul_message_fit_options options = {.breaks = 3};
        assert_int_equal(haul_message_fit_make(&samples, &options, &fit, &error), HAUL_OK);
        const haul_message_curve *curve = &fit.curves[0];
        if (takes_turns) {
            CHECK_NEAR(curve->shared_measured_s, 830e-6, 1e-9);
            assert_true(curve->shared_fitted_s < 100e-6 && curve->shared_worst > 85);
            assert_true(curve->shared_processes == 2 && curve->shared_bytes <= 4096);
        } else {
            CHECK_NEAR(curve->shared_latency_s, 3e-6, 1e-3);
            assert_true(curve->shared_worst < 0.1);
        }
        haul_message_fit_free(&fit);
        haul_message_samples_free(&samples);
    }
}

/* T = latency + n per byte of the piece that n falls into. */
static void a_curve_gives_the_time_of_any_size(void **state)
{
    (void)state;
    const haul_message_curve curve = {
        .pieces = {{0, 1e-6, 1e-9, (double)NAN}, {8192, 5e-6, 1e-10, (double)NAN}}, .count = 2};
    CHECK_NEAR(haul_message_curve_time(&curve, 0), 1e-6, 1e-12);
    CHECK_NEAR(haul_message_curve_time(&curve, 4096), 1e-6 + 4096e-9, 1e-12);
    CHECK_NEAR(haul_message_curve_time(&curve, 8192), 5e-6 + 8192e-10, 1e-12);
    CHECK_NEAR(haul_message_curve_time(&curve, 1e6), 5e-6 + 1e-4, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentages_are_refused),
        cmocka_unit_test(csv_tells_its_kind),
        cmocka_unit_test(what_is_wrong_has_a_place),
        cmocka_unit_test(text_of_osu_is_read),
        cmocka_unit_test(text_of_nccl_tests_is_read),
        cmocka_unit_test(text_of_osu_7_is_read),
        cmocka_unit_test(collectives_of_osu_are_read),
        cmocka_unit_test(benchmarks_of_imb_are_chosen),
        cmocka_unit_test(benchmarks_that_do_not_fit_are_refused),
        cmocka_unit_test(protocols_are_found),
        cmocka_unit_test(given_switches_are_kept),
        cmocka_unit_test(nothing_is_negative),
        cmocka_unit_test(equal_times_have_no_rate),
        cmocka_unit_test(a_fit_becomes_a_machine),
        cmocka_unit_test(rates_have_no_latency),
        cmocka_unit_test(hosts_tell_the_reach),
        cmocka_unit_test(turns_of_the_driver_are_told),
        cmocka_unit_test(a_curve_gives_the_time_of_any_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
