/* usage: goal_check FILE LATENCY_NS NS_PER_BYTE: what a GOAL schedule has, and when it ends where
 * messages take that; 1 where it is none, or would never end. */
#include "../unit/goal_reader.h"

int main(int argc, char **argv)
{
    char *text = NULL;
    size_t size = 0;
    FILE *in = argc == 4 ? fopen(argv[1], "r") : NULL;
    if (!in || getdelim(&text, &size, '\0', in) < 0)
        return 2;
    (void)fclose(in);
    goal *read = goal_read(text, atof(argv[2]), atof(argv[3]));
    if (*read->error)
        printf("%s\n", read->error);
    else
        printf("%" PRIu64 " ranks, %" PRIu64 " messages of %" PRIu64 " bytes, end at %.0f ns\n",
               read->ranks, read->messages, read->bytes, read->end_ns);
    const int code = *read->error != '\0';
    goal_free(read);
    free(text);
    return code;
}
