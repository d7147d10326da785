# The program, the library, its headers and machines, and how others find them: find_package(haul)
# gives haul::haul, and pkg-config has haul. The components are what distributions make packages of:
# haul_programs, haul_library (shared alone), haul_data, haul_development, haul_documentation, haul_mpi.
include(CMakePackageConfigHelpers)

set(HAUL_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/haul)
set(HAUL_PKGCONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set_target_properties(haul PROPERTIES
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set_target_properties(haul-cli PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

set(library_components
  LIBRARY COMPONENT haul_library NAMELINK_COMPONENT haul_development
  ARCHIVE COMPONENT haul_development)
install(TARGETS haul EXPORT haul ${library_components})
install(TARGETS haul-cli COMPONENT haul_programs)
foreach(recorder haul-record-opencl haul-record-cuda)
  if(TARGET ${recorder})
    install(TARGETS ${recorder} DESTINATION ${CMAKE_INSTALL_LIBDIR}/haul
      COMPONENT haul_programs)
  endif()
endforeach()
# Headers for tools that print what haul finds, and for authors of models and devices; no other
# header includes one of them.
set(tool_headers backend.h budget.h compare.h csv.h device_backend.h document.h goal.h measure.h
  overlap_run.h page.h record.h report.h)
list(TRANSFORM tool_headers PREPEND include/haul/ OUTPUT_VARIABLE tool_header_files)
install(FILES ${tool_header_files} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/haul
  COMPONENT haul_development_tools)
list(JOIN tool_headers "|" tool_headers)
install(DIRECTORY include/haul TYPE INCLUDE COMPONENT haul_development
  FILES_MATCHING REGEX "\\.(h|hpp|f90)$" REGEX "/(${tool_headers})$" EXCLUDE)
install(DIRECTORY kernels machines DESTINATION ${CMAKE_INSTALL_DATADIR}/haul COMPONENT haul_data
  FILES_MATCHING PATTERN "*.yaml" PATTERN "classes.csv")
install(DIRECTORY docs TYPE DOC COMPONENT haul_documentation
  FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.json")
install(DIRECTORY examples TYPE DOC COMPONENT haul_documentation PATTERN build EXCLUDE)
install(FILES README.md CHANGELOG.md LICENSE TYPE DOC COMPONENT haul_documentation)

# Man pages and completions are what the program prints.
set(manual ${PROJECT_BINARY_DIR}/manual)
set(manual_programs haul-cli)
set(manual_of_mpi "")
if(TARGET haul-mpi-cli)
  list(APPEND manual_programs haul-mpi-cli)
  set(manual_of_mpi $<TARGET_FILE:haul-mpi-cli>)
endif()
add_custom_command(OUTPUT ${manual}/done
  COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/write_manual $<TARGET_FILE:haul-cli> ${manual} ${manual_of_mpi}
  DEPENDS ${manual_programs} ${PROJECT_SOURCE_DIR}/cmake/write_manual VERBATIM)
add_custom_target(haul-manual ALL DEPENDS ${manual}/done)
install(DIRECTORY ${manual}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT haul_programs
  PATTERN haul-mpi.1 EXCLUDE)
install(FILES ${manual}/haul.bash RENAME haul
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT haul_programs)
install(FILES ${manual}/_haul DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions
  COMPONENT haul_programs)
install(FILES ${manual}/haul.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
  COMPONENT haul_programs)

if(TARGET haul-mpi)
  set_target_properties(haul-mpi PROPERTIES INSTALL_RPATH "$ORIGIN")
  set_target_properties(haul-mpi-preload PROPERTIES INSTALL_RPATH "$ORIGIN/..")
  set_target_properties(haul-mpi PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  string(REPLACE haul_library haul_mpi library_components "${library_components}")
  install(TARGETS haul-mpi EXPORT haul-mpi ${library_components})
  install(TARGETS haul-mpi-cli COMPONENT haul_mpi)
  install(TARGETS haul-record-mpi DESTINATION ${CMAKE_INSTALL_LIBDIR}/haul COMPONENT haul_mpi)
  install(FILES ${manual}/man1/haul-mpi.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT haul_mpi)
  install(TARGETS haul-mpi-preload DESTINATION ${CMAKE_INSTALL_LIBDIR}/haul COMPONENT haul_mpi)
  install(EXPORT haul-mpi NAMESPACE haul:: FILE haul-mpiTargets.cmake DESTINATION ${HAUL_CMAKE_DIR}
    COMPONENT haul_development)
endif()
install(EXPORT haul NAMESPACE haul:: FILE haulTargets.cmake DESTINATION ${HAUL_CMAKE_DIR}
  COMPONENT haul_development)
configure_package_config_file(cmake/haulConfig.cmake.in ${PROJECT_BINARY_DIR}/haulConfig.cmake
  INSTALL_DESTINATION ${HAUL_CMAKE_DIR} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/haulConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/haulConfig.cmake ${PROJECT_BINARY_DIR}/haulConfigVersion.cmake
  cmake/KernelFiles.cmake DESTINATION ${HAUL_CMAKE_DIR} COMPONENT haul_development)

# relative to the file itself, so that an installation can be moved
file(RELATIVE_PATH HAUL_PREFIX_FROM_PKGCONFIG
  ${CMAKE_INSTALL_PREFIX}/${HAUL_PKGCONFIG_DIR} ${CMAKE_INSTALL_PREFIX})
# A static library is linked with what it uses, so that no program needs to know which it is. A shared
# one names what it uses itself: pkg-config would ask for those libraries' headers to be installed, too.
if(BUILD_SHARED_LIBS)
  set(HAUL_PC_REQUIRES "Requires:")
  set(HAUL_PC_LIBS "")
else()
  set(HAUL_PC_REQUIRES "Requires: sqlite3 zlib yaml-0.1")
  set(HAUL_PC_LIBS " -pthread -ldl -lm ${HAUL_OPENMP_LIBS}")
endif()
configure_file(cmake/haul.pc.in ${PROJECT_BINARY_DIR}/haul.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/haul.pc DESTINATION ${HAUL_PKGCONFIG_DIR}
  COMPONENT haul_development)
if(TARGET haul-mpi)
  configure_file(cmake/haul-mpi.pc.in ${PROJECT_BINARY_DIR}/haul-mpi.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/haul-mpi.pc DESTINATION ${HAUL_PKGCONFIG_DIR}
    COMPONENT haul_development)
endif()

# A Python wheel has the program where the package's programs go.
if(SKBUILD)
  install(PROGRAMS $<TARGET_FILE:haul-cli> DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT haul_python)
  # with the notices of the libraries within it
  foreach(library sqlite zlib libyaml)
    install(FILES ${PROJECT_SOURCE_DIR}/third_party/${library}/LICENSE OPTIONAL RENAME ${library}.txt
      DESTINATION ${SKBUILD_METADATA_DIR}/licenses COMPONENT haul_python)
  endforeach()
endif()
