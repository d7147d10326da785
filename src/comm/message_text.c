/* The text that OSU's micro-benchmarks, Intel's (IMB) and nccl-tests print: a table of numbers
 * below lines that begin with '#', one of which names the columns. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "comm/message_samples.h"

enum { LINE_BYTES = 1024, TOKENS = 24, NONE = -1 };

/* Of osu_bw and osu_mbw_mr, where the text does not tell it: their default. */
enum { OSU_WINDOW = 64 };

/* Columns by their place; NONE where the text has no such. */
typedef struct columns {
    int size;
    int latency;        /* OSU and IMB: microseconds */
    int rate;           /* OSU: millions of bytes a second */
    int time;           /* nccl-tests: microseconds */
    int algorithm, bus; /* nccl-tests: GB/s, of `size` and of what the links carry */
    int count;
    bool is_osu;
} columns;

typedef struct reader {
    haul_message_sample like; /* what all samples of the file share */
    columns at;
    haul_message_samples *samples;
    char host[256];     /* of nccl-tests' first rank */
    bool has_hosts;     /* other ranks are on others */
    uint32_t window;    /* messages that OSU's rates have on their way at once */
    size_t first;       /* of this file's samples */
    double algorithm;   /* of the fastest row, */
    double share;       /* and there what a GPU sends by `size`; 0: not known */
    char imb[64];       /* IMB's benchmark of this table; empty: another text */
    bool is_passed;     /* and its table is not asked for */
    uint32_t most;      /* processes of its tables so far */
    const char *unlike; /* what a title says that the times are of; NULL: single messages */
    double sent;        /* of collectives: what a GPU sends by `size` */
} reader;

/* The words of a line, cut in place; '#' and units in parentheses are none. */
static int split_words(char *line, char *tokens[TOKENS])
{
    static const char blanks[] = " \t\r#";
    int count = 0;
    for (char *at = line + strspn(line, blanks); *at && count < TOKENS; at += strspn(at, blanks)) {
        const size_t length = strcspn(at, blanks);
        const bool is_last = !at[length];
        at[length] = '\0';
        if (*at != '(')
            tokens[count++] = at;
        at += is_last ? length : length + 1;
    }
    return count;
}

static int find_token(const char *name, char *const *tokens, int count)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(tokens[i], name))
            return i;
    return NONE;
}

/* Whether OSU's title is a collective's, "OSU MPI Broadcast Latency Test": between two processes it
 * is "OSU MPI-CUDA Latency Test", for several pairs "Multi Latency" or "Multi-threaded Latency". */
static bool is_of_collective(char *const *tokens, int count)
{
    const int latency = find_token("Latency", tokens, count);
    return latency > 1 && latency + 1 < count && !strcmp(tokens[latency + 1], "Test") &&
           strncmp(tokens[latency - 1], "MPI", 3) != 0 &&
           strncmp(tokens[latency - 1], "Multi", 5) != 0;
}

/* The bytes that one of so many GPUs sends, by the size that OSU and IMB print: of a block for each
 * process where there are such, else of a buffer; 0: of another collective. The same as nccl-tests'
 * busbw. */
static double sent_share(const char *name, uint32_t processes)
{
    static const struct {
        const char *name;
        double each, of_buffer; /* times n - 1; times (n - 1) / n */
        double whole;
    } rows[] = {{"Allreduce", 0, 2, 0},
                {"Reduce_scatter", 0, 1, 0},
                {"Allgather", 1, 0, 0},
                {"Allgatherv", 1, 0, 0},
                {"All-to-All", 1, 0, 0},
                {"Alltoall", 1, 0, 0},
                {"Alltoallv", 1, 0, 0},
                {"Broadcast", 0, 0, 1},
                {"Bcast", 0, 0, 1},
                {"Reduce", 0, 0, 1},
                {"Sendrecv", 0, 0, 1},
                {"Exchange", 0, 0, 2},
                {"Reduce_scatter_block", 0, 1, 0}};
    const double others = processes - 1.0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(name, rows[i].name))
            return rows[i].each * others + rows[i].of_buffer * others / processes + rows[i].whole;
    return 0;
}

static const char of_host[] = "a collective of host memory ('--memory device': it was a GPU's)";

/* A title of OSU begins a table. */
static void read_title(reader *self, const haul_message_source *source, char *const *tokens,
                       int count)
{
    if (count < 3 || strcmp(tokens[0], "OSU") != 0)
        return;
    self->unlike = NULL;
    self->sent = 1;
    const bool is_collective = is_of_collective(tokens, count);
    if (is_collective &&
        (self->like.memory != HAUL_MEMORY_DEVICE || !(sent_share(tokens[2], 2) > 0)))
        self->unlike = of_host;
    else if (is_collective && source->processes < 2)
        self->unlike = "a collective of an unknown number of processes";
    else if (is_collective)
        self->sent = sent_share(tokens[2], source->processes);
    if (find_token("Bi-Directional", tokens, count) != NONE)
        self->unlike = "both directions at once";
}

/* "#  Rank  0 Group  0 Pid 167261 on localhost device  0 [0x00] A100-SXM4-40GB": whether all ranks
 * so far are on one host. */
static void read_rank(reader *self, char *const *tokens, int count)
{
    const int on = find_token("on", tokens, count);
    if (count < 1 || strcmp(tokens[0], "Rank") != 0 || on == NONE || on + 2 >= count ||
        strcmp(tokens[on + 2], "device") != 0)
        return;
    if (!*self->host)
        (void)snprintf(self->host, sizeof self->host, "%s", tokens[on + 1]);
    self->has_hosts |= strncmp(self->host, tokens[on + 1], sizeof self->host - 1) != 0;
}

/* How many a title says; 1 where that cannot be. */
static uint32_t read_number_of(const char *text)
{
    const long count = strtol(text, NULL, 10);
    return count > 0 && count < 1 << 20 ? (uint32_t)count : 1;
}

/* IMB's output has several benchmarks, each with a table for each number of processes:
 * "# Benchmarking Alltoall". One message is timed by PingPong, a node's rate by Uniband; of
 * others, which times one after another would mix, the one that is asked for counts. */
static void read_imb_title(reader *self, const haul_message_source *source, const char *name)
{
    const bool is_single = !strcmp(name, "PingPong") || !strcmp(name, "Uniband");
    (void)snprintf(self->imb, sizeof self->imb, "%s", name);
    self->sent = 1;
    self->unlike = NULL;
    self->is_passed = source->benchmark ? strcmp(name, source->benchmark) != 0 : !is_single;
    if (is_single || self->is_passed)
        return;
    if (!(sent_share(name, 2) > 0))
        self->unlike = "this benchmark of IMB";
    else if (self->like.memory != HAUL_MEMORY_DEVICE)
        self->unlike = of_host;
}

/* Of a collective's tables that of most processes counts, or that of as many as are asked for.
 * Uniband has one sender for two processes. */
static void read_imb_processes(reader *self, const haul_message_source *source, uint32_t processes)
{
    const bool is_single = !(sent_share(self->imb, 2) > 0);
    self->like.processes = is_single && processes > 1 ? processes / 2 : 1;
    if (is_single || self->is_passed)
        return;
    if (source->processes ? processes != source->processes : processes < self->most) {
        self->is_passed = true;
        return;
    }
    self->samples->count = self->first;
    self->most = processes;
    self->sent = sent_share(self->imb, processes);
}

static void read_imb(reader *self, const haul_message_source *source, char *const *tokens,
                     int count)
{
    if (count > 1 && !strcmp(tokens[0], "Benchmarking"))
        read_imb_title(self, source, tokens[1]);
    if (count > 2 && *self->imb && !strcmp(tokens[0], "processes"))
        read_imb_processes(self, source, read_number_of(tokens[2]));
    if (count < 3 || strcmp(tokens[0], "bytes") != 0 || strcmp(tokens[1], "repetitions") != 0)
        return;
    const int single = find_token("t[usec]", tokens, count);
    const bool is_rate = !strcmp(self->imb, "Uniband");
    self->at =
        (columns){.size = 0,
                  .latency = single != NONE ? single : find_token("t_max[usec]", tokens, count),
                  .is_osu = true,
                  .rate = is_rate ? find_token("Mbytes/sec", tokens, count) : NONE,
                  .time = NONE,
                  .algorithm = NONE,
                  .bus = NONE,
                  .count = count};
}

/* A line of comment: the names of columns, a title that tells the memory ("OSU MPI-CUDA Latency
 * Test", "Send Buffer on DEVICE (D)"), or the number of pairs ("[ pairs: 4 ]"). */
static void read_comment(reader *self, const haul_message_source *source, char *line)
{
    char *tokens[TOKENS];
    const char *pairs = strstr(line, "pairs:"), *window = strstr(line, "window size:");
    const bool is_device = strstr(line, "CUDA") || strstr(line, "ROCM") || strstr(line, "DEVICE");
    if (is_device && source->memory == HAUL_MEMORY_UNKNOWN)
        self->like.memory = HAUL_MEMORY_DEVICE;
    if (pairs)
        self->like.processes = read_number_of(pairs + strlen("pairs:"));
    if (window)
        self->window = read_number_of(window + strlen("window size:"));
    const int count = split_words(line, tokens);
    read_rank(self, tokens, count);
    const int osu = find_token("Size", tokens, count), nccl = find_token("size", tokens, count);
    read_imb(self, source, tokens, count);
    read_title(self, source, tokens, count);
    if (osu == 0 || nccl == 0) {
        const int bandwidth = find_token("Bandwidth", tokens, count);
        /* "Latency (us)", and from version 7 on "Avg Latency(us)", which are two words here */
        const int mean = find_token("Latency(us)", tokens, count);
        self->at =
            (columns){.size = 0,
                      .latency = mean == 2 ? 1 : find_token("Latency", tokens, count),
                      .is_osu = osu == 0,
                      .rate = bandwidth != NONE ? bandwidth : find_token("MB/s", tokens, count),
                      .time = find_token("time", tokens, count),
                      .algorithm = find_token("algbw", tokens, count),
                      .bus = find_token("busbw", tokens, count),
                      .count = count};
        if (nccl == 0 && source->memory == HAUL_MEMORY_UNKNOWN)
            self->like.memory = HAUL_MEMORY_DEVICE;
        if (*self->host && !source->is_reach_told)
            self->like.reach = self->has_hosts ? HAUL_REACH_BETWEEN_NODES : HAUL_REACH_ON_NODE;
    }
}

/* The number in a column; NaN where there is none. Places of nccl-tests count from the end of the
 * line: it leaves "redop" blank where an operation has none. */
static double number_at(const columns *self, int column, char *const *tokens, int count)
{
    char *end;
    const int at = column && !self->is_osu ? column - self->count + count : column;
    if (column == NONE || at < 0 || at >= count)
        return (double)NAN;
    const double value = strtod(tokens[at], &end);
    return *end ? (double)NAN : value;
}

static haul_status read_numbers(reader *self, char *line, haul_error *error)
{
    char *tokens[TOKENS];
    const int count = split_words(line, tokens);
    const columns *at = &self->at;
    haul_message_sample sample = self->like;
    const double size = number_at(at, at->size, tokens, count);
    const double latency = number_at(at, at->latency, tokens, count);
    const double rate = number_at(at, at->rate, tokens, count);
    const double time = number_at(at, at->time, tokens, count);
    const double algorithm = number_at(at, at->algorithm, tokens, count);
    if (!count || size == 0 || self->is_passed)
        return HAUL_OK; /* no message has no bytes */
    if (!(size > 0 && size * self->sent <= 0x1p53 && size == floor(size)))
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "expected a size in bytes, not '%.60s'",
                              tokens[0]);
    if (self->unlike)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "expected times of single messages, not of %s", self->unlike);
    sample.bytes = (uint64_t)size;
    if (latency > 0) {
        sample.op = HAUL_MESSAGE_PAIR;
        sample.processes = 1; /* pairs of other cores do not disturb a latency */
        sample.seconds = 1e-6 * latency;
        sample.bytes = (uint64_t)fmax(1, round(size * self->sent));
    } else if (rate > 0) {
        sample.op = HAUL_MESSAGE_RATE;
        sample.messages = self->window;
        sample.seconds = (double)sample.processes * size / (1e6 * rate);
    } else if (time > 0) {
        sample.op = HAUL_MESSAGE_PAIR;
        sample.seconds = 1e-6 * time;
        if (algorithm > self->algorithm) {
            self->algorithm = algorithm;
            self->share = number_at(at, at->bus, tokens, count) / algorithm;
        }
    } else {
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "expected a time or a rate for %s bytes", tokens[0]);
    }
    return hl_comm_message_sample_add(self->samples, &sample, error);
}

haul_status hl_comm_message_text_read(const char *text, const char *file,
                                      const haul_message_source *source,
                                      haul_message_samples *samples, haul_error *error)
{
    reader self = {
        .samples = samples,
        .window = OSU_WINDOW,
        .sent = 1,
        .first = samples->count,
        .at = {NONE, NONE, NONE, NONE, NONE, NONE, 0, false},
        .like = {.memory = source->memory, .reach = source->reach, .processes = 1, .messages = 1}};
    if (source->memory == HAUL_MEMORY_UNKNOWN)
        self.like.memory = HAUL_MEMORY_HOST;
    int number = 1;
    for (const char *at = text; *at; number++) {
        char line[LINE_BYTES];
        const size_t length = strcspn(at, "\n");
        haul_status status = HAUL_OK;
        (void)snprintf(line, sizeof line, "%.*s", length < LINE_BYTES ? (int)length : LINE_BYTES,
                       at);
        const char *start = line + strspn(line, " \t\xEF\xBB\xBF");
        if (*start == '#')
            read_comment(&self, source, line);
        else if (self.at.size != NONE && *start >= '0' && *start <= '9')
            status = read_numbers(&self, line, error);
        if (status) {
            hl_base_error_at(error, (hl_base_place){file, number, 1});
            return status;
        }
        at += length + (at[length] == '\n');
    }
    if (*self.imb && samples->count == self.first)
        return haul_error_set(
            error, HAUL_STATUS_BAD_INPUT,
            "no measured messages in it: of IMB's benchmarks PingPong and Uniband "
            "are read, another one by '--benchmark NAME'");
    /* The ratio of nccl-tests' two rates is what the links carry of `size`: (n-1)/n for an
     * all-to-all, 2(n-1)/n for an all-reduce, 1 for sendrecv (its PERFORMANCE.md). They are printed
     * with two decimals, so the fastest row tells it best. */
    const bool is_share = isfinite(self.share) && self.share > 0 && self.share <= 2;
    for (size_t i = self.first; self.at.time != NONE && is_share && i < self.samples->count; i++) {
        haul_message_sample *sample = &self.samples->items[i];
        const uint64_t bytes = (uint64_t)llround((double)sample->bytes * self.share);
        sample->bytes = bytes ? bytes : 1;
    }
    return HAUL_OK;
}
