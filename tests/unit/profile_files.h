/* The public profiles that tests read, where they are. */
#ifndef HAUL_TESTS_PROFILE_FILES_H
#define HAUL_TESTS_PROFILE_FILES_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum { LONGEST_PATH = 1024, MOST_PROFILES = 64 };

static inline int find_in_folder(const char *folder, char (*paths)[LONGEST_PATH], int count)
{
    DIR *directory = opendir(folder);
    if (!directory)
        return count;
    for (struct dirent *entry; count < MOST_PROFILES && (entry = readdir(directory));)
        if (entry->d_name[0] != '.')
            snprintf(paths[count++], LONGEST_PATH, "%s/%s", folder, entry->d_name);
    closedir(directory);
    return count;
}

/* Fills `paths`, which has room for MOST_PROFILES, with the profiles of Nsight Systems and nvprof
 * and returns how many; says so where there are none: the test is skipped then. */
static inline int find_profiles(char (*paths)[LONGEST_PATH])
{
    static const char *const folders[] = {"nsys", "nvprof"};
    const char *data = getenv("HAUL_DATA");
    data = data && *data ? data : "../shared/data";
    int count = 0;
    for (int i = 0; i < 2; i++) {
        char folder[LONGEST_PATH / 2];
        snprintf(folder, sizeof folder, "%s/traces/%s", data, folders[i]);
        count = find_in_folder(folder, paths, count);
    }
    if (!count)
        printf("skipped: no public profiles in '%s/traces'; HAUL_DATA names the folder\n", data);
    return count;
}

#endif
