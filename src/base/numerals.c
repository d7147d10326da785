/* uselocale is of one thread: others of the program keep their locale meanwhile. */
#include "base/numerals.h"

hl_base_numerals hl_base_numerals_begin(void)
{
    hl_base_numerals self = {.c = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    if (self.c)
        self.before = uselocale(self.c);
    return self;
}

void hl_base_numerals_end(const hl_base_numerals *self)
{
    if (!self->c)
        return;
    (void)uselocale(self->before);
    freelocale(self->c);
}
