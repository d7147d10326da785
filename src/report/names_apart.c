/* Names of CUTLASS's and PyTorch's kernels agree in their first hundred characters and differ in a
 * template's argument behind. */
#include "report/names_apart.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "report/wording.h"

enum { LONGEST = 4096 };

typedef struct clean_name {
    char text[LONGEST];
} clean_name;

/* Copies so many characters; returns the bytes. */
static size_t copy_characters(char *to, const char *from, size_t characters)
{
    size_t bytes = 0;
    for (size_t i = 0; i < characters && from[bytes]; i++) {
        const int length = hl_base_utf8_length(from + bytes);
        bytes += length > 0 ? (size_t)length : 1;
    }
    memcpy(to, from, bytes);
    to[bytes] = '\0';
    return bytes;
}

/* The beginning, then what is around the place from which names differ. */
static void show_difference(const char *name, size_t differs, size_t width, char *text)
{
    enum { BEFORE = 4 };
    const size_t head = width / 2 - 2;
    size_t used = copy_characters(text, name, head);
    size_t from = differs > used + BEFORE ? differs - BEFORE : used;
    while (from && ((unsigned char)name[from] & 0xc0) == 0x80) /* within a character */
        from--;
    memcpy(text + used, "..", 3);
    used += 2;
    const size_t room = width - head - 2;
    const bool is_cut = hl_base_utf8_count(name + from) > room;
    used += copy_characters(text + used, name + from, is_cut ? room - 2 : room);
    if (is_cut)
        memcpy(text + used, "..", 3);
}

typedef struct name_list {
    const char *const *names;
    size_t count;
    size_t width;
    hl_report_name_text *texts;
    size_t *alike;     /* names that look as one does, itself the first */
    clean_name *clean; /* two */
} name_list;

/* Lists the names from `first` on that look as it does; returns how many, and whether any of them
 * is another name. */
static size_t list_alike(const name_list *self, size_t first, bool *differ)
{
    size_t count = 0;
    *differ = false;
    for (size_t i = first; i < self->count; i++) {
        if (strcmp(self->texts[i].text, self->texts[first].text) != 0)
            continue;
        *differ |= strcmp(self->names[i], self->names[first]) != 0;
        self->alike[count++] = i;
    }
    return count;
}

static void part(const name_list *self, size_t count)
{
    clean_name *const first = &self->clean[0], *const other = &self->clean[1];
    hl_report_clean_name(self->names[self->alike[0]], first->text, sizeof first->text);
    size_t differs = strlen(first->text);
    for (size_t i = 1; i < count; i++) {
        hl_report_clean_name(self->names[self->alike[i]], other->text, sizeof other->text);
        size_t same = 0;
        while (same < differs && first->text[same] && first->text[same] == other->text[same])
            same++;
        differs = same;
    }
    for (size_t i = 0; i < count; i++) {
        hl_report_clean_name(self->names[self->alike[i]], other->text, sizeof other->text);
        show_difference(other->text, differs, self->width, self->texts[self->alike[i]].text);
    }
}

/* Equal names have one number. */
static void number_all(const name_list *self, size_t count)
{
    size_t last = 1;
    for (size_t i = 1; i < count; i++) {
        size_t same = 0;
        while (strcmp(self->names[self->alike[same]], self->names[self->alike[i]]) != 0)
            same++;
        if (same == i) {
            /* The end of the text becomes a number. */
            char *text = self->texts[self->alike[i]].text;
            char mark[32];
            (void)snprintf(mark, sizeof mark, "..#%zu", ++last);
            char kept[HL_REPORT_CELL_BYTES];
            (void)snprintf(kept, sizeof kept, "%s", text);
            const size_t used = copy_characters(text, kept, self->width - strlen(mark));
            (void)snprintf(text + used, HL_REPORT_CELL_BYTES - used, "%s", mark);
        } else if (same) {
            self->texts[self->alike[i]] = self->texts[self->alike[same]];
        }
    }
}

bool hl_report_names_apart(const char *const *names, size_t count, size_t width,
                           hl_report_name_text *texts)
{
    bool differ;
    name_list self = {names,
                      count,
                      width,
                      texts,
                      malloc((count + 1) * sizeof *self.alike),
                      malloc(2 * sizeof *self.clean)};
    const bool ready = self.alike && self.clean;
    for (size_t i = 0; ready && i < count; i++)
        (void)hl_report_shorten_name(names[i], width, texts[i].text, sizeof texts[i].text);
    for (int round = 0; ready && round < 2; round++)
        for (size_t i = 0; i < count; i++) {
            const size_t alike = list_alike(&self, i, &differ);
            if (differ && !round)
                part(&self, alike);
            else if (differ)
                number_all(&self, alike);
        }
    free(self.alike);
    free(self.clean);
    return ready;
}
