/* --html FILE, which several commands have; what made the page stands in it. */
#include <string.h>

#include "cli/command.h"

const char *cli_page_collides(const char *html, const char *output)
{
    if (html && !strcmp(html, output ? output : "-"))
        return "--html and the report would go to the same place";
    return NULL;
}

haul_status cli_page_write(const char *path, const haul_page *page, haul_error *error)
{
    if (!path)
        return HAUL_OK;
    FILE *out;
    haul_status status = cli_output_open(path, &out, error);
    if (status)
        return status;
    status = haul_page_write(page, out, error);
    return cli_output_finish(out, path, status, error);
}

const char *cli_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Whether a shell takes the word as it is. */
static bool is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "@%+=:,./_-";
    return *word && !word[strspn(word, plain)];
}

void cli_command_text(int argc, char **argv, cli_command_line *line)
{
    int used = snprintf(line->text, sizeof line->text, "haul");
    for (int i = 0; i < argc && used < (int)sizeof line->text; i++) {
        const char *quote = is_plain(argv[i]) ? "" : "'";
        used += snprintf(line->text + used, sizeof line->text - (size_t)used, " %s%s%s", quote,
                         argv[i], quote);
    }
}
