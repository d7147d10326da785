/* A line on the terminal while something takes long: from the first second on, gone at the end. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"

/* The line that the signal's handler prints. */
static char line[200];
static size_t line_length;
static volatile sig_atomic_t seconds;

/* Only what a handler may call (POSIX 2008, 2.4.3). */
static void show_progress(int signal_number)
{
    (void)signal_number;
    seconds = seconds + 1;
    char text[sizeof line + 24];
    memcpy(text, line, line_length);
    char digits[12];
    size_t count = 0, end = line_length;
    for (unsigned left = (unsigned)seconds; left || !count; left /= 10)
        digits[count++] = (char)('0' + left % 10);
    while (count)
        text[end++] = digits[--count];
    memcpy(text + end, " s", 2);
    if (write(STDERR_FILENO, text, end + 2) >= 0)
        alarm(1);
}

void cli_progress_begin(const char *what, const char *subject)
{
    seconds = 0;
    if (!isatty(STDERR_FILENO))
        return;
    snprintf(line, sizeof line, "\r%s '%.100s' ... ", what, subject);
    line_length = strlen(line);
    struct sigaction action = {.sa_handler = show_progress, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (!sigaction(SIGALRM, &action, NULL))
        alarm(1);
}

void cli_progress_end(void)
{
    alarm(0);
    if (seconds)
        fputs("\r\033[K", stderr);
}
