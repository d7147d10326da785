# For the portable program: the archives of SQLite, zlib and libyaml instead of their shared
# libraries. glibc stays shared: models are loaded with dlopen.
find_library(SQLite3_LIBRARY libsqlite3.a REQUIRED) # where FindSQLite3 and FindZLIB look first
find_library(ZLIB_LIBRARY libz.a REQUIRED)
find_library(HAUL_YAML_ARCHIVE libyaml.a REQUIRED)
find_package(Threads REQUIRED)
add_link_options(-static-libgcc)

# Once the packages are found: what their archives need, and libyaml, which pkg-config gives as -lyaml.
function(haul_link_static_libraries)
  set_property(TARGET SQLite::SQLite3 APPEND PROPERTY
    INTERFACE_LINK_LIBRARIES Threads::Threads ${CMAKE_DL_LIBS} m)
  set_property(TARGET PkgConfig::YAML PROPERTY INTERFACE_LINK_LIBRARIES ${HAUL_YAML_ARCHIVE})
endfunction()
