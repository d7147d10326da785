/* Prices of machines: a CSV file of the user's. */
#ifndef HAUL_CLI_PRICES_H
#define HAUL_CLI_PRICES_H

#include <stddef.h>

#include "haul/status.h"

typedef struct cli_price {
    char *machine;   /* as `haul project --to` names it */
    double per_hour; /* in any one currency */
    double watts;    /* while a program runs; 0: not known */
} cli_price;

typedef struct cli_prices {
    cli_price *items;
    size_t count;
} cli_prices;

/* Reads a file with the columns machine, price_per_hour and, where known, watts. Fails on a number
 * that is not positive, and on a machine that is named twice. Release with cli_prices_release,
 * whatever is returned. */
haul_status cli_prices_read(const char *path, cli_prices *out, haul_error *error);
void cli_prices_release(cli_prices *prices);

/* The price of a machine, or NULL. */
const cli_price *cli_prices_find(const cli_prices *prices, const char *machine);

#endif
