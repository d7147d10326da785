/* Call stacks of a recording, which recorders tell as addresses (record/call_stack.h), as Nsight
 * Systems' table of frames. */
#ifndef HAUL_RECORD_STACK_TABLES_H
#define HAUL_RECORD_STACK_TABLES_H

#include "base/strings.h"
#include "record/profile_tables.h"

/* Once all records are there: writes a row for each frame of each stack, by its source line where
 * addr2line (binutils) is installed and the file has lines, else by its function. `names` are the
 * profile's, from number 1 on. Returns an SQLite result code. */
int hl_record_stack_tables_write(hl_record_profile_tables *tables, hl_base_strings *names);

#endif
