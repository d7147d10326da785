/* Folders of profiles, a file for each process of a job. */
#ifndef HAUL_TRACE_PROFILE_FOLDER_H
#define HAUL_TRACE_PROFILE_FOLDER_H

#include "base/folders.h"

/* Adds `path`, or, of a folder, the paths of its profiles in the order of their names. Other files
 * lie beside profiles there, so these are told by their names' ends; BAD_INPUT where there are
 * none. A path that cannot be looked at is added, for its reader says why. */
haul_status hl_trace_profiles_add(hl_base_name_list *files, const char *path, haul_error *error);

#endif
