# The program, the library, its headers and machines, and how others find them: find_package(haul)
# gives haul::haul, and pkg-config has haul.
include(CMakePackageConfigHelpers)

set(HAUL_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/haul)
set(HAUL_PKGCONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set_target_properties(haul PROPERTIES
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set_target_properties(haul-cli PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

install(TARGETS haul EXPORT haul)
install(TARGETS haul-cli)
foreach(recorder haul-record-opencl haul-record-cuda)
  if(TARGET ${recorder})
    install(TARGETS ${recorder} DESTINATION ${CMAKE_INSTALL_LIBDIR}/haul)
  endif()
endforeach()
install(DIRECTORY include/haul TYPE INCLUDE FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.f90")
install(DIRECTORY kernels machines DESTINATION ${CMAKE_INSTALL_DATADIR}/haul FILES_MATCHING PATTERN "*.yaml")
install(DIRECTORY docs TYPE DOC FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN "*.json")
install(DIRECTORY examples TYPE DOC PATTERN build EXCLUDE)
install(FILES README.md TYPE DOC)

# Man pages and completions are what the program prints.
set(manual ${PROJECT_BINARY_DIR}/manual)
add_custom_command(OUTPUT ${manual}/done
  COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/write_manual $<TARGET_FILE:haul-cli> ${manual}
  DEPENDS haul-cli ${PROJECT_SOURCE_DIR}/cmake/write_manual VERBATIM)
add_custom_target(haul-manual ALL DEPENDS ${manual}/done)
install(DIRECTORY ${manual}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES ${manual}/haul.bash RENAME haul
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${manual}/_haul DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${manual}/haul.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

if(TARGET haul-mpi)
  set_target_properties(haul-mpi PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  install(TARGETS haul-mpi EXPORT haul-mpi)
  install(TARGETS haul-mpi-cli)
  install(TARGETS haul-mpi-preload DESTINATION ${CMAKE_INSTALL_LIBDIR}/haul)
  install(EXPORT haul-mpi NAMESPACE haul:: FILE haul-mpiTargets.cmake DESTINATION ${HAUL_CMAKE_DIR})
endif()
install(EXPORT haul NAMESPACE haul:: FILE haulTargets.cmake DESTINATION ${HAUL_CMAKE_DIR})
configure_package_config_file(cmake/haulConfig.cmake.in ${PROJECT_BINARY_DIR}/haulConfig.cmake
  INSTALL_DESTINATION ${HAUL_CMAKE_DIR} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/haulConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/haulConfig.cmake ${PROJECT_BINARY_DIR}/haulConfigVersion.cmake
  DESTINATION ${HAUL_CMAKE_DIR})

# relative to the file itself, so that an installation can be moved
file(RELATIVE_PATH HAUL_PREFIX_FROM_PKGCONFIG
  ${CMAKE_INSTALL_PREFIX}/${HAUL_PKGCONFIG_DIR} ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/haul.pc.in ${PROJECT_BINARY_DIR}/haul.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/haul.pc DESTINATION ${HAUL_PKGCONFIG_DIR})
