# A toolchain for the portable program: clang as the package `ziglang` of the Python package index
# brings it, which links against the symbols of an older glibc, so that the program runs on every
# Linux since RHEL 8. Wants HAUL_ZIG, the command that runs zig, e.g.
#   python3 -m pip install --target build/zig ziglang
#   cmake --preset portable --toolchain cmake/OldGlibc.cmake -DHAUL_ZIG=$PWD/build/zig/ziglang/zig
# With -DHAUL_PROCESSOR=aarch64 the program is for such a machine, from sources that have third_party
# (the source distribution's), for the system's libraries are for this one.
set(HAUL_GLIBC 2.28 CACHE STRING "The oldest glibc that the program runs on")
set(HAUL_ZIG zig CACHE STRING "The command that runs zig")
set(HAUL_PROCESSOR "" CACHE STRING "The processor that the program is for; empty: this machine's")
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HAUL_GLIBC HAUL_ZIG HAUL_PROCESSOR)
find_program(HAUL_ZIG_PROGRAM "${HAUL_ZIG}" REQUIRED)

execute_process(COMMAND uname -m OUTPUT_VARIABLE own_processor OUTPUT_STRIP_TRAILING_WHITESPACE)
set(processor ${own_processor})
if(HAUL_PROCESSOR)
  set(processor ${HAUL_PROCESSOR})
endif()
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${processor})

# CMake wants a compiler that is one word.
set(HAUL_ZIG_CC ${CMAKE_BINARY_DIR}/zig-cc)
file(WRITE ${HAUL_ZIG_CC}
  "#!/bin/sh\nexec '${HAUL_ZIG_PROGRAM}' cc -target ${processor}-linux-gnu.${HAUL_GLIBC} \"$@\"\n")
file(CHMOD ${HAUL_ZIG_CC} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
set(CMAKE_C_COMPILER ${HAUL_ZIG_CC})

# The headers of the libraries that are linked, without this system's own of glibc beside them.
set(headers ${CMAKE_BINARY_DIR}/portable-headers)
file(MAKE_DIRECTORY ${headers})
set(linked hwloc.h hwloc)
if(NOT processor STREQUAL own_processor) # whose libraries and hwloc's settings are not here
  set(linked "")
  set(CMAKE_DISABLE_FIND_PACKAGE_PkgConfig ON)
endif()
if(NOT EXISTS ${CMAKE_CURRENT_LIST_DIR}/../third_party) # which has the others
  list(APPEND linked sqlite3.h zlib.h zconf.h yaml.h CL)
endif()
foreach(header ${linked})
  find_path(HAUL_FOLDER_OF_${header} ${header} PATHS /usr/include NO_CACHE)
  if(HAUL_FOLDER_OF_${header})
    file(CREATE_LINK ${HAUL_FOLDER_OF_${header}}/${header} ${headers}/${header} SYMBOLIC)
  endif()
endforeach()
# Debian has a part of hwloc's apart.
set(headers_of_processor ${CMAKE_BINARY_DIR}/portable-headers-${processor})
file(MAKE_DIRECTORY ${headers_of_processor})
if(EXISTS /usr/include/${processor}-linux-gnu/hwloc)
  file(CREATE_LINK /usr/include/${processor}-linux-gnu/hwloc ${headers_of_processor}/hwloc SYMBOLIC)
endif()
set(CMAKE_C_FLAGS_INIT "-isystem ${headers} -isystem ${headers_of_processor}")
set(CMAKE_LIBRARY_ARCHITECTURE ${processor}-linux-gnu)
set(CMAKE_C_LIBRARY_ARCHITECTURE ${processor}-linux-gnu)
