# haul_embed_machines(OUT YAML...): writes the C file OUT with the machines inside; none where no
# file is given.
function(haul_embed_machines out)
  set(texts "")
  set(rows "")
  foreach(file ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(name ${file} NAME_WE)
    string(MAKE_C_IDENTIFIER ${name} identifier)
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
    string(APPEND texts "static const char ${identifier}[] = {${bytes}};\n")
    string(APPEND rows "    {\"${name}\", ${identifier}, sizeof ${identifier}},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT
"/* Written by cmake/EmbedMachines.cmake. */
#include \"machine/embedded.h\"

@texts@
const haul_embedded haul_embedded_machines[] = {
@rows@    {NULL, NULL, 0},
};
")
endfunction()
