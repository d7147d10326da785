#include "record/stack_tables.h"

#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/grow.h"

enum { MOST_ASKED = 256, LONGEST = 1024 };

/* A frame that some stack has. */
typedef struct frame {
    const char *file; /* of `names`, as the two others; not ended by a zero */
    const char *function;
    const char *address;
    int file_length, function_length, address_length;
    uint32_t symbol; /* its text's number */
    uint32_t module; /* 0: none */
} frame;

typedef struct frames {
    hl_record_profile_tables *tables;
    hl_base_strings *names;
    hl_base_strings lines; /* of the texts of recorders, each once; by number as `items` */
    frame *items;
    size_t capacity;
    uint32_t *stacks; /* numbers of names */
    size_t stack_count;
    size_t stack_capacity;
    int code;
} frames;

/* --- frames of all stacks */

/* The next part of a line, which a tab or its end ends. */
static const char *next_part(const char **at, int *length)
{
    const char *const part = *at;
    *length = (int)strcspn(part, "\t\n");
    *at = part + *length + (part[*length] != '\0');
    return part;
}

static void add_frame(frames *self, const char *line, size_t length)
{
    const size_t before = self->lines.count;
    const uint32_t number = hl_base_strings_add(&self->lines, line, length);
    if (number == UINT32_MAX ||
        !hl_base_grow(&self->items, &self->capacity, self->lines.count, sizeof *self->items)) {
        self->code = SQLITE_NOMEM;
        return;
    }
    if (self->lines.count == before)
        return;
    frame *const made = &self->items[number];
    const char *at = self->lines.texts[number];
    *made = (frame){0};
    made->file = next_part(&at, &made->file_length);
    made->function = next_part(&at, &made->function_length);
    made->address = next_part(&at, &made->address_length);
}

/* The stacks that calls name. */
static void find_stacks(frames *self)
{
    sqlite3_stmt *statement = NULL;
    self->code = sqlite3_prepare_v2(self->tables->db,
                                    "SELECT DISTINCT callchainId FROM CUPTI_ACTIVITY_KIND_RUNTIME "
                                    "WHERE callchainId IS NOT NULL",
                                    -1, &statement, NULL);
    int step = SQLITE_DONE;
    while (self->code == SQLITE_OK && (step = sqlite3_step(statement)) == SQLITE_ROW) {
        const int64_t id = sqlite3_column_int64(statement, 0);
        if (id < 1 || (uint64_t)id > self->names->count)
            continue;
        if (!hl_base_grow(&self->stacks, &self->stack_capacity, self->stack_count + 1,
                          sizeof *self->stacks))
            self->code = SQLITE_NOMEM;
        else
            self->stacks[self->stack_count++] = (uint32_t)id;
    }
    sqlite3_finalize(statement);
    if (self->code == SQLITE_OK && step != SQLITE_DONE)
        self->code = step;
    for (size_t i = 0; self->code == SQLITE_OK && i < self->stack_count; i++) {
        const char *text = self->names->texts[self->stacks[i] - 1];
        for (const char *end; self->code == SQLITE_OK && (end = strchr(text, '\n')); text = end + 1)
            add_frame(self, text, (size_t)(end - text));
    }
}

/* --- names */

/* The number of a text, which the profile gets where it is new. */
static uint32_t name_of(frames *self, const char *text, size_t length)
{
    const size_t before = self->names->count;
    const uint32_t number =
        self->code == SQLITE_OK ? hl_base_strings_add(self->names, text, length) : UINT32_MAX;
    if (number == UINT32_MAX) {
        self->code = self->code == SQLITE_OK ? SQLITE_NOMEM : self->code;
        return 0;
    }
    if (self->names->count > before)
        self->code =
            hl_record_profile_tables_string(self->tables, number + 1, self->names->texts[number]);
    return number + 1;
}

/* "src/heat.c:42 in step", of addr2line's "step" and "/home/u/app/src/heat.c:42 (discriminator 3)":
 * the file's folder tells it from others of its name. False where no line is known. */
static bool set_line(frames *self, frame *of, const char *function, const char *place)
{
    const size_t length = strcspn(place, " ");
    const char *const colon = memchr(place, ':', length);
    char text[2 * LONGEST + 8];
    if (!colon || *place == '?' || colon[1] < '1' || colon[1] > '9')
        return false;
    const char *begin = colon;
    for (int folders = 0; begin > place; begin--)
        if (begin[-1] == '/' && folders++)
            break;
    const int made =
        snprintf(text, sizeof text, "%.*s in %s", (int)(place + length - begin), begin, function);
    of->symbol = name_of(self, text, (size_t)made < sizeof text ? (size_t)made : sizeof text - 1);
    return true;
}

/* Of a frame whose file has no line addr2line names the function at best. */
static void set_function(frames *self, frame *of, const char *function)
{
    if (of->symbol)
        return;
    if (*function && *function != '?')
        of->symbol = name_of(self, function, strlen(function));
    else if (of->function_length)
        of->symbol = name_of(self, of->function, (size_t)of->function_length);
    if (of->symbol)
        of->module = name_of(self, of->file, (size_t)of->file_length);
}

/* --- addr2line */

/* Two lines for each address: the function, then file and line. */
static void read_answers(frames *self, FILE *answers, frame *const *asked, size_t count)
{
    char function[LONGEST], place[LONGEST];
    for (size_t i = 0; i < count && fgets(function, sizeof function, answers) &&
                       fgets(place, sizeof place, answers);
         i++) {
        function[strcspn(function, "\n")] = '\0';
        place[strcspn(place, "\n")] = '\0';
        if (!set_line(self, asked[i], function, place))
            set_function(self, asked[i], function);
    }
}

/* Lines of the system's libraries, of which some systems have them, tell nothing of the program; by
 * their functions and files readers know them. */
static bool is_of_system(const frame *of)
{
    static const char *const folders[] = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (!strncmp(of->file, folders[i], strlen(folders[i])))
            return true;
    return false;
}

/* Runs addr2line for frames of one file. Where it cannot be run, nothing is known but what the
 * recorder told. */
static void ask_addr2line(frames *self, frame *const *asked, size_t count)
{
    extern char **environ;
    char file[LONGEST], addresses[MOST_ASKED][24];
    char *arguments[MOST_ASKED + 6] = {"addr2line", "-C", "-f", "-e", file};
    int ends[2];
    pid_t child;
    posix_spawn_file_actions_t actions;
    (void)snprintf(file, sizeof file, "%.*s", asked[0]->file_length, asked[0]->file);
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(addresses[i], sizeof addresses[i], "0x%.*s", asked[i]->address_length,
                       asked[i]->address);
        arguments[5 + i] = addresses[i];
    }
    if (access(file, R_OK) || pipe(ends))
        return;
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    (void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    (void)posix_spawn_file_actions_addclose(&actions, ends[1]);
    const bool runs = !posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    FILE *const answers = fdopen(ends[0], "r");
    if (runs && answers)
        read_answers(self, answers, asked, count);
    if (answers)
        (void)fclose(answers);
    else
        close(ends[0]);
    if (runs)
        (void)waitpid(child, NULL, 0);
}

static int compare_files(const void *a, const void *b)
{
    const frame *const x = *(frame *const *)a, *const y = *(frame *const *)b;
    const int order =
        strncmp(x->file, y->file,
                (size_t)(x->file_length < y->file_length ? x->file_length : y->file_length));
    return order ? order : x->file_length - y->file_length;
}

/* Asks file by file, then gives the rest the functions that the recorder told. */
static void name_frames(frames *self)
{
    const size_t count = self->lines.count;
    frame **const sorted = calloc(count + 1, sizeof(frame *));
    if (!sorted) {
        self->code = SQLITE_NOMEM;
        return;
    }
    for (size_t i = 0; i < count; i++)
        sorted[i] = &self->items[i];
    qsort(sorted, count, sizeof(frame *), compare_files);
    for (size_t i = 0, next; i < count && self->code == SQLITE_OK; i = next) {
        for (next = i + 1;
             next < count && next - i < MOST_ASKED && !compare_files(&sorted[i], &sorted[next]);)
            next++;
        if (!is_of_system(sorted[i]))
            ask_addr2line(self, sorted + i, next - i);
    }
    free(sorted);
    for (size_t i = 0; i < count && self->code == SQLITE_OK; i++)
        set_function(self, &self->items[i], "");
}

/* --- rows */

static void put_stack(frames *self, sqlite3_stmt *insert, uint32_t stack)
{
    const char *text = self->names->texts[stack - 1];
    int depth = 0;
    for (const char *end; self->code == SQLITE_OK && (end = strchr(text, '\n')); text = end + 1) {
        const uint32_t number =
            hl_base_strings_add(&self->lines, text, (size_t)(end - text)); /* is there */
        const frame *const of = &self->items[number];
        if (!of->symbol)
            continue;
        sqlite3_bind_int64(insert, 1, stack);
        sqlite3_bind_int64(insert, 2, of->symbol);
        if (of->module)
            sqlite3_bind_int64(insert, 3, of->module);
        else
            sqlite3_bind_null(insert, 3);
        sqlite3_bind_int64(insert, 4, depth++);
        const int code = sqlite3_step(insert);
        sqlite3_reset(insert);
        if (code != SQLITE_DONE)
            self->code = code;
    }
}

/* The texts of recorders are not of the profile's use any more. */
static void put_stacks(frames *self)
{
    sqlite3_stmt *insert = NULL;
    self->code = hl_record_profile_tables_run(
        self->tables, "BEGIN; CREATE TABLE CUDA_CALLCHAINS (id INTEGER, symbol INTEGER, module"
                      " INTEGER, unresolved INTEGER, originalIP INTEGER, stackDepth INTEGER)");
    if (self->code == SQLITE_OK)
        self->code = sqlite3_prepare_v2(self->tables->db,
                                        "INSERT INTO CUDA_CALLCHAINS (id, symbol, module,"
                                        " stackDepth) VALUES (?1, ?2, ?3, ?4)",
                                        -1, &insert, NULL);
    if (self->code == SQLITE_OK)
        name_frames(self);
    for (size_t i = 0; self->code == SQLITE_OK && i < self->stack_count; i++)
        put_stack(self, insert, self->stacks[i]);
    sqlite3_finalize(insert);
    if (self->code == SQLITE_OK)
        self->code = hl_record_profile_tables_run(
            self->tables, "DELETE FROM StringIds WHERE id IN (SELECT callchainId FROM"
                          " CUPTI_ACTIVITY_KIND_RUNTIME); COMMIT");
}

int hl_record_stack_tables_write(hl_record_profile_tables *tables, hl_base_strings *names)
{
    frames self = {.tables = tables, .names = names, .code = SQLITE_OK};
    find_stacks(&self);
    if (self.code == SQLITE_OK && self.stack_count)
        put_stacks(&self);
    if (self.code != SQLITE_OK)
        (void)hl_record_profile_tables_run(tables, "ROLLBACK");
    hl_base_strings_release(&self.lines);
    free(self.items);
    free(self.stacks);
    return self.code;
}
