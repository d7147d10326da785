/* Prints docs/accuracy.md. usage: accuracy DATA [SECTION...] >docs/accuracy.md */
#include "accuracy.h"

#include <string.h>

static const accuracy_section *const sections[] = {
    &accuracy_transfers,        &accuracy_self_check,     &accuracy_baselines,
    &accuracy_intervals,        &accuracy_kernel_sizes,   &accuracy_kernel_boards,
    &accuracy_kernel_unseen,    &accuracy_kernel_choices, &accuracy_kernel_counters,
    &accuracy_kernel_published, &accuracy_kernel_classes, &accuracy_kernel_limits,
    &accuracy_kernel_gaps,      &accuracy_timeline,       &accuracy_runs,
    &accuracy_overlap,          &accuracy_advice,         &accuracy_messages,
    &accuracy_followed,         &accuracy_plans};

enum { SECTION_COUNT = sizeof sections / sizeof sections[0] };

static int is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 2; i < argc; i++)
        if (!strcmp(argv[i], name))
            return 1;
    return argc <= 2;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fputs("usage: accuracy DATA [SECTION...]\n", stderr);
        return haul_status_exit_code(HAUL_USAGE);
    }
    printf("# How accurate\n\n"
           "Written by `build/release/bench/accuracy DATA >docs/accuracy.md` from the public "
           "measurements in DATA: change the program, not this file.\n");
    for (int i = 0; i < SECTION_COUNT; i++) {
        haul_error error = {0};
        if (!is_wanted(sections[i]->name, argc, argv))
            continue;
        putchar('\n');
        const haul_status status = sections[i]->write(argv[1], stdout, &error);
        if (status) {
            char text[1200];
            fprintf(stderr, "accuracy: %s: %s\n", sections[i]->name,
                    haul_error_format(&error, text, sizeof text));
            return haul_status_exit_code(status);
        }
    }
    return fflush(stdout) ? haul_status_exit_code(HAUL_IO) : 0;
}
