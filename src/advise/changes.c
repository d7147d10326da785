/* The table of changes, made from change_list.h: a new change is one file and one line there. */
#include "advise/change.h"

const haul_change *const haul_changes[] = {
#define HAUL_CHANGE(name) &haul_change_##name,
#include "advise/change_list.h"
#undef HAUL_CHANGE
};

const size_t haul_change_total = sizeof haul_changes / sizeof haul_changes[0];

size_t haul_change_count(void)
{
    return haul_change_total;
}

const char *haul_change_word(size_t index)
{
    return index < haul_change_total ? haul_changes[index]->word : "";
}

const char *haul_change_summary(size_t index)
{
    return index < haul_change_total ? haul_changes[index]->summary : "";
}

const char *haul_certainty_text(haul_certainty certainty)
{
    static const char *const words[] = {HAUL_CERTAINTY_LIST(HAUL_ROW_TEXT)};
    return (unsigned)certainty < sizeof words / sizeof *words ? words[certainty] : "";
}
