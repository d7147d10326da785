/* The formats of profiles, in the order in which a file is tried: X(NAME) is hl_trace_NAME, in
 * NAME.c. nvprof first: a database of its may have tables of nsys's names, not the other way round.
 */
#define HL_TRACE_FORMAT_LIST(X)                                                                    \
    X(nvprof)                                                                                      \
    X(nsys)                                                                                        \
    X(rocpd2)                                                                                      \
    X(rocpd)                                                                                       \
    X(kineto)                                                                                      \
    X(rocprof_csv)
