/* Runs a program and writes the most memory that it held, in KiB, to the file NAME-RANK, RANK being
 * its place among the processes of Open MPI. (Not in Python, whose own memory counts as the
 * program's where it starts one.)
 * usage: peak_memory NAME PROGRAM [ARGUMENT...] */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *const rank = getenv("OMPI_COMM_WORLD_RANK");
    struct rusage use;
    char name[4096];
    int status = 0;
    if (argc < 3)
        return 2;
    const pid_t child = fork();
    if (!child) {
        (void)execvp(argv[2], argv + 2);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || getrusage(RUSAGE_CHILDREN, &use))
        return 1;
    (void)snprintf(name, sizeof name, "%s-%s", argv[1], rank ? rank : "0");
    FILE *const out = fopen(name, "w");
    if (!out)
        return 1;
    fprintf(out, "%ld\n", use.ru_maxrss);
    fclose(out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
