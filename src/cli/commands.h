/* The commands, in the order of `haul help`: of each, src/cli/cmd_NAME.c defines cli_NAME. The
 * build reads the files from here. */
CLI_COMMAND(analyze)
CLI_COMMAND(advise)
CLI_COMMAND(project)
CLI_COMMAND(overlap)
CLI_COMMAND(simulate)
CLI_COMMAND(kernel)
CLI_COMMAND(machine)
CLI_COMMAND(record)
CLI_COMMAND(measure)
CLI_COMMAND(compare)
CLI_COMMAND(convert)
CLI_COMMAND(cut)
