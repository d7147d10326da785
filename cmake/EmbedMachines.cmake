# haul_embed(OUT ARRAY YAML...): writes the C file OUT with the files inside, as the array
# hl_machine_embedded_ARRAY; none where no file is given.
function(haul_embed out array)
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
const hl_machine_embedded hl_machine_embedded_@array@[] = {
@rows@    {NULL, NULL, 0},
};
")
endfunction()
