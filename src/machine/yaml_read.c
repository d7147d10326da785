/* An error in a file names the expected value and the one found. */
#include "machine/yaml_read.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/nearest.h"
#include "machine/machine_fields.h"

haul_status hl_machine_node_fail(const hl_machine_yaml *yaml, const hl_machine_node *node,
                                 const char *format, ...)
{
    va_list args;
    va_start(args, format);
    hl_base_vfail_at(yaml->error, (hl_base_place){yaml->file, node->line, node->column}, format,
                     args);
    va_end(args);
    return HAUL_STATUS_BAD_INPUT;
}

haul_status hl_machine_node_fail_expected(const hl_machine_yaml *yaml, const hl_machine_node *node,
                                          const char *expected, const char *key)
{
    if (node->kind == HL_MACHINE_NODE_SCALAR)
        return hl_machine_node_fail(yaml, node, "expected %s for '%s', not '%.80s'", expected, key,
                                    node->text);
    return hl_machine_node_fail(yaml, node, "expected %s for '%s', not a %s", expected, key,
                                node->kind == HL_MACHINE_NODE_LIST ? "list" : "mapping");
}

const hl_machine_node *hl_machine_node_child(const hl_machine_node *mapping, const char *key)
{
    const hl_machine_node *child = mapping->first;
    while (child && strcmp(child->key->text, key) != 0)
        child = child->next;
    return child;
}

size_t hl_machine_node_count(const hl_machine_node *parent)
{
    size_t count = 0;
    for (const hl_machine_node *child = parent->first; child; child = child->next)
        count++;
    return count;
}

/* The words that are there, for messages: "pcie, nvlink, c2c or fabric". */
static const char *list_words(const char *const *words, int count, char *buffer, size_t size)
{
    size_t used = 0;
    int last = count - 1;
    /* Words that are NULL are values of the enumeration which no file may name, perhaps the last
     * ones. */
    while (last > 0 && !words[last])
        last--;
    buffer[0] = '\0';
    for (int i = 0; i <= last && used < size; i++) {
        if (!words[i])
            continue;
        const char *before = !used ? "" : i == last ? " or " : ", ";
        const int added = snprintf(buffer + used, size - used, "%s%s", before, words[i]);
        used += added > 0 ? (size_t)added : 0;
    }
    return buffer;
}

haul_status hl_machine_node_keys(const hl_machine_yaml *yaml, const hl_machine_node *node,
                                 const char *what, const char *const *known, size_t count,
                                 const hl_machine_node **children)
{
    uint64_t seen = 0;
    char list[256];
    for (size_t i = 0; children && i < count; i++)
        children[i] = NULL;
    if (node->kind != HL_MACHINE_NODE_MAPPING)
        return hl_machine_node_fail_expected(yaml, node, "a mapping of keys", what);
    for (const hl_machine_node *child = node->first; child; child = child->next) {
        size_t at = 0;
        while (at < count && strcmp(known[at], child->key->text) != 0)
            at++;
        const size_t near = at < count ? at : hl_base_nearest(child->key->text, known, count);
        if (near < count && at == count)
            return hl_machine_node_fail(yaml, child->key,
                                        "unknown key '%.80s' in '%s'; did you mean '%s'?",
                                        child->key->text, what, known[near]);
        if (at == count)
            return hl_machine_node_fail(
                yaml, child->key, "unknown key '%.80s' in '%s'; expected one of %s",
                child->key->text, what, list_words(known, (int)count, list, sizeof list));
        /* 64 keys at most: HL_MACHINE_FIELDS_MOST and the two for the origin are well below. */
        if (seen >> at & 1)
            /* YAML lets a later key replace an earlier one in silence; here that is nearly always a
             * mistake of editing. */
            return hl_machine_node_fail(
                yaml, child->key, "'%s' is there twice in '%s'; expected it once", known[at], what);
        seen |= UINT64_C(1) << at;
        if (children)
            children[at] = child;
    }
    return HAUL_OK;
}

haul_status hl_machine_node_line(const hl_machine_yaml *yaml, const hl_machine_node *node,
                                 const char *key, const char **out)
{
    if (node->kind != HL_MACHINE_NODE_SCALAR)
        return hl_machine_node_fail_expected(yaml, node, "a line of text", key);
    size_t length = strlen(node->text); /* a block of YAML adds blanks and breaks */
    while (length && strchr(" \n", node->text[length - 1]))
        length--;
    for (size_t i = 0; i < length;) {
        const int bytes = hl_machine_text_length(node->text + i);
        if (!bytes)
            return hl_machine_node_fail(
                yaml, node, "expected one line of text for '%s', without control characters", key);
        i += (size_t)bytes;
    }
    /* An empty text is refused rather than kept: writing would leave the key out, and so change the
     * file. */
    if (!length)
        return hl_machine_node_fail_expected(yaml, node, "a line of text", key);
    const char *text = hl_base_arena_text(yaml->arena, node->text, length);
    if (!text)
        return hl_base_fail_no_memory(yaml->error);
    *out = text;
    return HAUL_OK;
}

haul_status hl_machine_node_version(const hl_machine_yaml *yaml, const hl_machine_node *node,
                                    const char *key)
{
    /* Compared as text: "1.0" or "01" may mean something else in a later version. */
    if (node->kind != HL_MACHINE_NODE_SCALAR || strcmp(node->text, "1") != 0)
        return hl_machine_node_fail_expected(yaml, node, "1, the version of this format,", key);
    return HAUL_OK;
}

haul_status hl_machine_node_word(const hl_machine_yaml *yaml, const hl_machine_node *node,
                                 const char *key, const char *const *words, int count, int *out)
{
    char list[160];
    for (int i = 0; node->kind == HL_MACHINE_NODE_SCALAR && i < count; i++)
        /* In any case, as "HtoD" is spelt in many ways; files are written in the table's
         * spelling. */
        if (words[i] && !strcasecmp(words[i], node->text)) {
            *out = i;
            return HAUL_OK;
        }
    return hl_machine_node_fail_expected(yaml, node, list_words(words, count, list, sizeof list),
                                         key);
}
