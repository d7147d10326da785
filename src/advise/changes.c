/* The table of changes, made from change_list.h: a new change is one file and one line there. */
#include "advise/change.h"

const hl_advise_change *const hl_advise_changes[] = {
#define HAUL_CHANGE(name) &hl_advise_change_##name,
#include "advise/change_list.h"
#undef HAUL_CHANGE
};

const size_t hl_advise_change_total = sizeof hl_advise_changes / sizeof hl_advise_changes[0];

size_t haul_change_count(void)
{
    return hl_advise_change_total;
}

const char *haul_change_word(size_t index)
{
    return index < hl_advise_change_total ? hl_advise_changes[index]->word : "";
}

const char *haul_change_summary(size_t index)
{
    return index < hl_advise_change_total ? hl_advise_changes[index]->summary : "";
}

const char *haul_certainty_text(haul_certainty certainty)
{
    static const char *const words[] = {HAUL_CERTAINTY_LIST(HAUL_ROW_TEXT)};
    return (unsigned)certainty < sizeof words / sizeof *words ? words[certainty] : "";
}
