# Before a package is made of what was installed for it: the files that every package of Debian has.
file(GLOB packages LIST_DIRECTORIES true "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*")
foreach(package ${packages})
  get_filename_component(name ${package} NAME)
  set(folder ${package}/usr/share/doc/${name})
  file(MAKE_DIRECTORY ${folder})
  configure_file(${CPACK_HAUL_LICENCE} ${folder}/copyright COPYONLY)
  string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
  file(WRITE ${folder}/changelog.Debian "haul (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=low\n\n  * See changelog.gz.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${now}\n")
  configure_file(${CPACK_HAUL_CHANGES} ${folder}/changelog COPYONLY)
  execute_process(COMMAND gzip -9nf changelog changelog.Debian WORKING_DIRECTORY ${folder}
    COMMAND_ERROR_IS_FATAL ANY)
  # pages of the manual are compressed there
  file(GLOB pages "${package}/usr/share/man/man1/*.1")
  if(pages)
    execute_process(COMMAND gzip -9nf ${pages} COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()
