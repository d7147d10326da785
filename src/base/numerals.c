/* uselocale is of one thread: others of the program keep their locale meanwhile. */
#include "base/numerals.h"

haul_numerals haul_numerals_begin(void)
{
    haul_numerals self = {.c = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    if (self.c)
        self.before = uselocale(self.c);
    return self;
}

void haul_numerals_end(const haul_numerals *self)
{
    if (!self->c)
        return;
    (void)uselocale(self->before);
    freelocale(self->c);
}
