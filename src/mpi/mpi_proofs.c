/* Proofs of ways in a file: the next run of a program begins with the ways that this one has
 * proven. The first process reads and writes the file; what it reads goes to all. A file has a part
 * for each window, layout, MPI and list of hosts, for other parts say nothing of these. What cannot
 * be used is told by haul_comm_explain; what cannot be written is lost without a word, for a proof
 * only saves trials. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/textfile.h"
#include "haul/units.h"
#include "haul/version.h"
#include "mpi/mpi_parts.h"

enum { FILE_BYTES_MOST = 1 << 20, WORD_BYTES = 32 };

/* Of a part as it is sent to all. */
typedef struct message {
    uint64_t bytes;
    char said[sizeof((haul_comm *)NULL)->proofs_said];
} message;

static const char mark[] = "haul-proofs ";
static const char *const kinds[] = {"messages", "all-to-all", "all-to-all-v"};

const char *hl_mpi_proofs_path(const haul_comm_options *options)
{
    const char *path = getenv("HAUL_MPI_PROOFS");
    path = path ? path : options->proofs;
    return path && *path ? path : NULL;
}

static void make_head(char head[WORD_BYTES])
{
    (void)snprintf(head, WORD_BYTES, "%s1 %d.%d.%d\n", mark, HAUL_VERSION_MAJOR, HAUL_VERSION_MINOR,
                   HAUL_VERSION_PATCH);
}

static void join_words(char *text)
{
    for (; *text; text++)
        *text = (char)(isgraph((unsigned char)*text) ? *text : '_');
}

/* --- reading */

/* A line of what times rest on: equal hosts that follow each other are counted. */
static haul_status make_key(haul_comm *self, char *names, haul_error *error)
{
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    size_t size;
    (void)MPI_Get_library_version(mpi, &length);
    join_words(mpi);
    FILE *out = open_memstream(&self->proofs_key, &size);
    if (!out)
        return hl_base_fail_no_memory(error);
    (void)fprintf(out, "of window %u nodes %d mpi %s hosts", self->window, self->layout.nodes, mpi);
    for (int i = 0, run = 1; i < self->size; i += run) {
        char *name = names + (ptrdiff_t)i * MPI_MAX_PROCESSOR_NAME;
        for (run = 1;
             i + run < self->size && !strcmp(name, name + (ptrdiff_t)run * MPI_MAX_PROCESSOR_NAME);)
            run++;
        join_words(name);
        (void)fprintf(out, " %s*%d", name, run);
    }
    (void)fputc('\n', out);
    if (fclose(out) || !self->proofs_key)
        return hl_base_fail_no_memory(error);
    return HAUL_OK;
}

/* The names of all hosts come to the first process. */
static haul_status gather_key(haul_comm *self, haul_error *error)
{
    char own[MPI_MAX_PROCESSOR_NAME] = "";
    int length;
    char *names = self->rank ? NULL : calloc((size_t)self->size, sizeof own);
    if (!self->rank && !names)
        return hl_base_fail_no_memory(error);
    (void)MPI_Get_processor_name(own, &length);
    const int code =
        MPI_Gather(own, (int)sizeof own, MPI_CHAR, names, (int)sizeof own, MPI_CHAR, 0, self->all);
    haul_status status = code ? hl_mpi_failed(self, code, "gathering the hosts", error) : HAUL_OK;
    if (!status && names)
        status = make_key(self, names, error);
    free(names);
    return status;
}

/* The key of this communicator in a file of this version; NULL: not there. */
static char *find_key(const haul_comm *self, char *text)
{
    const size_t length = strlen(self->proofs_key);
    char *at = strchr(text, '\n');
    while (at && strncmp(at + 1, self->proofs_key, length) != 0)
        at = strchr(at + 1, '\n');
    return at ? at + 1 : NULL;
}

/* Behind the lines of a part. */
static char *find_end(char *part)
{
    char *next = strstr(part, "\nof ");
    return next ? next + 1 : part + strlen(part);
}

static bool has_head(const char *text)
{
    char head[WORD_BYTES];
    make_head(head);
    return !strncmp(text, head, strlen(head));
}

/* The lines behind this communicator's key; NULL, with the reason: none. */
static char *find_part(const haul_comm *self, char *text, message *sent)
{
    if (!has_head(text)) {
        (void)snprintf(sent->said, sizeof sent->said,
                       "the proofs of another version of haul are not used");
        return NULL;
    }
    char *key = find_key(self, text);
    if (key)
        return key + strlen(self->proofs_key);
    (void)snprintf(sent->said, sizeof sent->said,
                   "the proofs of other hosts, another MPI or window are not used");
    return NULL;
}

/* This communicator's lines as a text of their own; NULL: no memory. A file of something else is
 * not written to either. */
static char *read_part(haul_comm *self, message *sent)
{
    haul_error error = {.status = HAUL_OK};
    char *text = NULL, *part = NULL;
    size_t size = 0;
    if (access(self->proofs_path, F_OK))
        return strdup("");
    const bool is_read =
        !hl_base_textfile_read(self->proofs_path, FILE_BYTES_MOST, &text, &size, &error);
    if (is_read && (!size || !strncmp(text, mark, strlen(mark)))) {
        part = size ? find_part(self, text, sent) : NULL;
    } else {
        (void)snprintf(sent->said, sizeof sent->said, "proofs are not kept: %.100s",
                       is_read ? "the file is none of haul's proofs" : error.text);
        free(self->proofs_path);
        self->proofs_path = NULL;
    }
    char *own = part ? strndup(part, (size_t)(find_end(part) - part)) : strdup("");
    free(text);
    return own;
}

static bool take_number(const char **at, uint64_t *value)
{
    char *end = NULL;
    if (**at != ' ' || !isdigit((unsigned char)(*at)[1]))
        return false;
    *value = strtoull(*at + 1, &end, 10);
    *at = end;
    return *value <= PTRDIFF_MAX;
}

static bool take_word(const char **at, char word[WORD_BYTES])
{
    if (**at != ' ')
        return false;
    const size_t length = strcspn(*at + 1, " ");
    (void)snprintf(word, WORD_BYTES, "%.*s", (int)(length < WORD_BYTES ? length : 0), *at + 1);
    *at += 1 + length;
    return *word;
}

/* "WAY COUNT NS..." */
static bool take_tries(const char **at, hl_mpi_proof *proof)
{
    char word[WORD_BYTES];
    uint64_t tries, ns;
    const size_t of = proof->ways;
    if (of == HL_MPI_FINALISTS || !take_word(at, word) ||
        haul_way_parse(word, &proof->way[of], NULL) || !take_number(at, &tries) ||
        tries > HL_MPI_TRIES)
        return false;
    for (uint64_t i = 0; i < tries; i++) {
        if (!take_number(at, &ns))
            return false;
        proof->tried_s[of][i] = (double)ns * 1e-9;
    }
    proof->tries[of] = (unsigned)tries;
    proof->ways++;
    return true;
}

/* "proof KIND BYTES MESSAGES LARGEST AGREEMENT" and the tries of each way. */
static bool read_proof(const char *at, hl_mpi_proof *proof)
{
    char word[WORD_BYTES];
    uint64_t agreement_ns;
    const size_t count = sizeof kinds / sizeof *kinds;
    size_t kind = 0;
    *proof = (hl_mpi_proof){.ways = 0};
    if (strncmp(at, "proof ", 6) != 0)
        return false;
    at += 5;
    if (!take_word(&at, word))
        return false;
    while (kind < count && strcmp(word, kinds[kind]) != 0)
        kind++;
    proof->shape.kind = (haul_exchange_kind)kind;
    if (kind == count || !take_number(&at, &proof->shape.bytes) ||
        !take_number(&at, &proof->shape.messages) || !take_number(&at, &proof->shape.largest) ||
        !take_number(&at, &agreement_ns))
        return false;
    proof->agreement_s = (double)agreement_ns * 1e-9;
    while (*at)
        if (!take_tries(&at, proof))
            return false;
    return true;
}

/* Alike on all processes. */
static haul_status adopt_lines(haul_comm *self, char *text, haul_error *error)
{
    hl_mpi_proof proof;
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        if (read_proof(line, &proof))
            HAUL_TRY(hl_mpi_trials_adopt(self, &proof, error));
        else
            (void)snprintf(self->proofs_said, sizeof self->proofs_said,
                           "lines of the file that are no proofs are not used, as '%.40s'", line);
    return HAUL_OK;
}

haul_status hl_mpi_proofs_open(haul_comm *self, const haul_comm_options *options, haul_error *error)
{
    message sent = {.bytes = 0};
    char *text = NULL;
    haul_status status = gather_key(self, error);
    if (!self->rank && !status) {
        self->proofs_path = strdup(hl_mpi_proofs_path(options));
        text = self->proofs_path ? read_part(self, &sent) : NULL;
        sent.bytes = text ? strlen(text) + 1 : 0;
    }
    int code = MPI_Bcast(&sent, (int)sizeof sent, MPI_BYTE, 0, self->all);
    if (self->rank && sent.bytes)
        text = malloc(sent.bytes);
    if (!code && text)
        code = MPI_Bcast(text, (int)sent.bytes, MPI_BYTE, 0, self->all);
    memcpy(self->proofs_said, sent.said, sizeof sent.said);
    if (!status && code)
        status = hl_mpi_failed(self, code, "sharing the proofs", error);
    if (!status && !text)
        status = hl_base_fail_no_memory(error);
    if (!status)
        status = adopt_lines(self, text, error);
    free(text);
    return status;
}

/* --- writing */

static void write_proof(const haul_comm *self, const hl_mpi_choice *of, FILE *out)
{
    (void)fprintf(out, "proof %s %llu %llu %llu %.0f", kinds[of->shape.kind],
                  (unsigned long long)of->shape.bytes, (unsigned long long)of->shape.messages,
                  (unsigned long long)of->shape.largest, self->agreement_s * 1e9);
    for (size_t i = 0; i < of->finalists; i++) {
        const unsigned tries = of->tries[i], kept = tries < HL_MPI_TRIES ? tries : HL_MPI_TRIES;
        (void)fprintf(out, " %s %u", haul_way_text(of->times[i].way, HAUL_MEMORY_HOST), kept);
        for (unsigned k = tries - kept; k < tries; k++)
            (void)fprintf(out, " %.0f", of->tried_s[i][k % HL_MPI_TRIES] * 1e9);
    }
    (void)fputc('\n', out);
}

/* Other communicators' parts as they are now, as long as all have room. */
static void copy_others(const haul_comm *self, FILE *out)
{
    char *text = NULL;
    size_t size = 0;
    if (hl_base_textfile_read(self->proofs_path, FILE_BYTES_MOST / 2, &text, &size, NULL) ||
        !has_head(text)) {
        free(text);
        return;
    }
    char *first = strchr(text, '\n') + 1, *own = find_key(self, text);
    (void)fwrite(first, 1, (size_t)((own ? own : first + strlen(first)) - first), out);
    if (own)
        (void)fputs(find_end(own), out);
    free(text);
}

static void write_file(const haul_comm *self, FILE *out)
{
    char head[WORD_BYTES];
    make_head(head);
    (void)fputs(head, out);
    copy_others(self, out);
    (void)fputs(self->proofs_key, out);
    for (size_t i = 0; i < self->choice_count; i++)
        if (self->choices[i]->tries[0])
            write_proof(self, self->choices[i], out);
}

/* Written beside and renamed, so that a program that starts meanwhile reads a whole file. */
static void replace_file(const haul_comm *self)
{
    const size_t size = strlen(self->proofs_path) + sizeof ".XXXXXX";
    char *beside = hl_base_check_replaced(self->proofs_path, NULL) ? NULL : malloc(size);
    if (!beside)
        return;
    (void)snprintf(beside, size, "%s.XXXXXX", self->proofs_path);
    const int descriptor = mkstemp(beside);
    FILE *out = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    bool is_whole = out;
    if (out) {
        write_file(self, out);
        is_whole = !ferror(out);
        is_whole = !fclose(out) && is_whole;
    } else if (descriptor >= 0) {
        (void)close(descriptor);
    }
    if (descriptor >= 0 && (!is_whole || rename(beside, self->proofs_path)))
        (void)unlink(beside);
    free(beside);
}

void hl_mpi_proofs_close(haul_comm *self)
{
    bool has_proofs = false;
    for (size_t i = 0; i < self->choice_count; i++)
        has_proofs |= self->choices[i]->tries[0] > 0;
    if (self->proofs_path && self->proofs_key && has_proofs && !self->failure.status)
        replace_file(self);
    free(self->proofs_path);
    free(self->proofs_key);
    self->proofs_path = self->proofs_key = NULL;
}
