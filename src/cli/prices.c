#include "cli/prices.h"

#include <stdlib.h>
#include <string.h>

#include "cli/csv_rows.h"

enum { MACHINE, PRICE, WATTS };

static haul_status read_number(const char *field, double *out, haul_error *error)
{
    HAUL_TRY(cli_csv_number(field, 0, out, error));
    if (*out <= 0)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "expected a number above 0, not '%.40s'", field);
    return HAUL_OK;
}

static haul_status add_price(void *self, const char *const *fields, size_t turn,
                             cli_csv_cell *cells, size_t *wrong, haul_error *error)
{
    cli_prices *prices = self;
    cli_price made = {0};
    (void)turn;
    (void)cells;
    if (cli_prices_find(prices, fields[MACHINE]))
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "'%.80s' has a price already",
                              fields[MACHINE]);
    *wrong = PRICE;
    HAUL_TRY(read_number(fields[PRICE], &made.per_hour, error));
    *wrong = WATTS;
    if (*fields[WATTS])
        HAUL_TRY(read_number(fields[WATTS], &made.watts, error));
    cli_price *items = realloc(prices->items, (prices->count + 1) * sizeof *items);
    if (!items)
        return haul_error_set(error, HAUL_STATUS_NO_MEMORY, "out of memory");
    prices->items = items;
    made.machine = strdup(fields[MACHINE]);
    if (!made.machine)
        return haul_error_set(error, HAUL_STATUS_NO_MEMORY, "out of memory");
    prices->items[prices->count++] = made;
    return HAUL_OK;
}

haul_status cli_prices_read(const char *path, cli_prices *out, haul_error *error)
{
    static const char *const columns[] = {"machine", "price_per_hour", "watts", NULL};
    static const char *const added[] = {NULL};
    const cli_csv_job job = {columns, .needed = WATTS, added, .answer = add_price, .self = out};
    return cli_csv_answer(path, NULL, &job, error);
}

void cli_prices_release(cli_prices *prices)
{
    for (size_t i = 0; i < prices->count; i++)
        free(prices->items[i].machine);
    free(prices->items);
}

const cli_price *cli_prices_find(const cli_prices *prices, const char *machine)
{
    for (size_t i = 0; i < prices->count; i++)
        if (!strcmp(prices->items[i].machine, machine))
            return &prices->items[i];
    return NULL;
}
