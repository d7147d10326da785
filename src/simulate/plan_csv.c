/* Workloads as CSV: a row an operation, a column a key. There are no loops: such files are written
 * by programs. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/nearest.h"
#include "haul/csv.h"
#include "simulate/plan.h"

typedef struct csv_reader {
    hl_simulate_plan *plan;
    haul_csv *csv;
    size_t columns[HL_SIMULATE_KEYS]; /* SIZE_MAX: absent */
    char *names;                      /* of what the row's operation is after */
} csv_reader;

/* An unknown column is refused, not skipped: it may be a misspelt one, whose values would be
 * missed. */
static haul_status find_columns(csv_reader *self)
{
    for (int key = 0; key < HL_SIMULATE_KEYS; key++)
        if (haul_csv_find(self->csv, hl_simulate_key_names[key], &self->columns[key], NULL))
            self->columns[key] = SIZE_MAX;
    for (size_t column = 0; column < haul_csv_column_count(self->csv); column++) {
        const char *name = haul_csv_column_name(self->csv, column);
        bool known = false;
        for (int key = 0; key < HL_SIMULATE_KEYS; key++)
            known |= self->columns[key] == column;
        const size_t near = hl_base_nearest(name, hl_simulate_key_names, HL_SIMULATE_KEYS);
        const bool has_near = near < HL_SIMULATE_KEYS;
        if (!known)
            return hl_simulate_plan_fail(
                self->plan, 1, 1, "no column '%.80s'%s%s%s", name, has_near ? ": is '" : "",
                has_near ? hl_simulate_key_names[near] : "", has_near ? "' meant?" : "");
    }
    if (self->columns[HL_SIMULATE_KEY_OP] == SIZE_MAX)
        return hl_simulate_plan_fail(self->plan, 1, 1, "expected a column 'op'");
    return HAUL_OK;
}

/* Names between semicolons, without the blanks around them. */
static haul_status split_after(csv_reader *self, const hl_simulate_word *word,
                               hl_simulate_draft *draft)
{
    free(self->names);
    self->names = strdup(word->text);
    if (!self->names)
        return hl_base_fail_no_memory(self->plan->error);
    char *rest = NULL;
    for (char *name = strtok_r(self->names, ";", &rest); name; name = strtok_r(NULL, ";", &rest)) {
        name += strspn(name, " \t");
        size_t length = strlen(name);
        while (length && strchr(" \t", name[length - 1]))
            name[--length] = '\0';
        if (!length)
            continue;
        if (draft->after_count == HL_SIMULATE_AFTER_MOST)
            return hl_simulate_plan_fail(self->plan, word->line, word->column,
                                         "after more than %d operations", HL_SIMULATE_AFTER_MOST);
        draft->after[draft->after_count++] = (hl_simulate_word){name, word->line, word->column};
    }
    return HAUL_OK;
}

/* Where a field is, as the reader would say it in an error. */
static hl_simulate_spot locate(const csv_reader *self, size_t column)
{
    haul_error error = {0};
    haul_csv_locate(self->csv, column, &error);
    return (hl_simulate_spot){error.line, error.column};
}

/* An empty field is as none. */
static haul_status add_row(csv_reader *self, const char *const *fields, hl_simulate_draft *draft)
{
    const hl_simulate_spot row = locate(self, 0);
    hl_simulate_word *after = &draft->words[HL_SIMULATE_KEY_AFTER];
    draft->line = row.line;
    draft->column = row.column;
    draft->after_count = 0;
    memset(draft->words, 0, sizeof draft->words);
    for (int key = 0; key < HL_SIMULATE_KEYS; key++) {
        const size_t column = self->columns[key];
        if (column == SIZE_MAX || !*fields[column])
            continue;
        const hl_simulate_spot at = locate(self, column);
        draft->words[key] = (hl_simulate_word){fields[column], at.line, at.column};
    }
    const haul_status status = after->text ? split_after(self, after, draft) : HAUL_OK;
    after->text = NULL;
    return status ? status : hl_simulate_plan_add(self->plan, draft);
}

/* One draft serves all rows; its words point into the reader's row. */
haul_status hl_simulate_plan_read_csv(hl_simulate_plan *self, const char *text, size_t size)
{
    csv_reader reader = {.plan = self};
    const char *const *fields = NULL;
    HAUL_TRY(haul_csv_open_memory(text, size, self->file, &reader.csv, self->error));
    hl_simulate_draft *draft = calloc(1, sizeof *draft);
    if (!draft) {
        haul_csv_close(reader.csv);
        return hl_base_fail_no_memory(self->error);
    }
    haul_status status = find_columns(&reader);
    while (!status) {
        status = haul_csv_next(reader.csv, &fields, self->error);
        if (!fields)
            break;
        if (!status)
            status = add_row(&reader, fields, draft);
    }
    free(draft);
    free(reader.names);
    haul_csv_close(reader.csv);
    return status;
}
