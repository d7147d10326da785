# The portable program from a source distribution: SQLite, zlib and libyaml are built of the sources
# that python/vendor put there, so that nothing but a C compiler need be installed.
find_package(Threads REQUIRED)
add_link_options(-static-libgcc)
set(third_party ${PROJECT_SOURCE_DIR}/third_party)

# haul_third_party(LIBRARY TARGET [DEFINITION...]): third_party/LIBRARY as the TARGET that the package's own
# CMake file would define. Imported, because installed targets may depend on such alone.
function(haul_third_party library target)
  file(GLOB sources ${third_party}/${library}/*.c)
  add_library(third-party-${library} STATIC EXCLUDE_FROM_ALL ${sources})
  set_target_properties(third-party-${library} PROPERTIES C_EXTENSIONS ON
    POSITION_INDEPENDENT_CODE ON ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/third_party)
  target_compile_definitions(third-party-${library} PRIVATE _GNU_SOURCE ${ARGN})
  target_include_directories(third-party-${library} PRIVATE ${third_party}/${library})
  target_compile_options(third-party-${library} PRIVATE -w)
  add_library(${target} STATIC IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES
    IMPORTED_LOCATION ${PROJECT_BINARY_DIR}/third_party/libthird-party-${library}.a
    INTERFACE_INCLUDE_DIRECTORIES ${third_party}/${library})
  add_dependencies(${target} third-party-${library})
endfunction()
haul_third_party(sqlite SQLite::SQLite3 SQLITE_THREADSAFE=1 SQLITE_OMIT_LOAD_EXTENSION)
set_target_properties(SQLite::SQLite3 PROPERTIES INTERFACE_LINK_LIBRARIES "Threads::Threads;m")
haul_third_party(zlib ZLIB::ZLIB HAVE_UNISTD_H HAVE_HIDDEN _LARGEFILE64_SOURCE=1)
haul_third_party(libyaml PkgConfig::YAML YAML_VERSION_MAJOR=0 YAML_VERSION_MINOR=2
  YAML_VERSION_PATCH=5 YAML_VERSION_STRING="0.2.5")
set(OPENCL_FOUND TRUE)
set(OPENCL_VERSION 3.0)
set(OPENCL_INCLUDE_DIRS ${third_party}/opencl)
