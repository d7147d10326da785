#include "device/compile_log.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* The numbers that stand before `end`: "file:LINE:COLUMN", "file(LINE)". */
static bool read_place(const char *line, const char *end, int *row, int *column)
{
    const char *at = end;
    int numbers[2] = {0, 0};
    int count = 0;
    if (at > line && at[-1] == ')')
        at--;
    while (count < 2 && at > line && isdigit((unsigned char)at[-1])) {
        while (at > line && isdigit((unsigned char)at[-1]))
            at--;
        numbers[count++] = (int)strtol(at, NULL, 10);
        if (at == line || (at[-1] != ':' && at[-1] != '('))
            return false;
        at--;
    }
    *row = numbers[count == 2];
    *column = count == 2 ? numbers[0] : 0;
    return count > 0;
}

haul_status hl_device_fail_compile(const haul_kernel_source *source, const char *log,
                                   haul_error *error)
{
    static const char mark[] = "error: ";
    const char *found = strstr(log, mark);
    if (!found)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "kernel '%s' does not compile: %.400s",
                              source->name, log);
    const char *line = found, *text = found + sizeof mark - 1;
    int row = 0, column = 0;
    while (line > log && line[-1] != '\n')
        line--;
    const bool is_before = found > line + 2 && read_place(line, found - 2, &row, &column);
    const char *behind = strstr(text, ": ");
    if (!is_before && behind && read_place(text, behind, &row, &column))
        text = behind + 2;
    return hl_base_fail_at(error, (hl_base_place){source->file, row, column},
                           "kernel '%s' does not compile: %.*s", source->name,
                           (int)strcspn(text, "\n"), text);
}
