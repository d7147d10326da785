# haul_embed_page(OUT STYLE SCRIPT...): writes the C file OUT with the style and the scripts, one behind
# the other, inside, and the hash of both as a Content-Security-Policy names it.
function(haul_base64_of_hex out hex)
  set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  set(text "")
  string(APPEND hex "00")
  # of 64 digits, 256 bits, the last sign has four
  foreach(at RANGE 0 63 3)
    string(SUBSTRING ${hex} ${at} 3 digits)
    math(EXPR high "0x${digits} >> 6")
    math(EXPR low "0x${digits} & 63")
    string(SUBSTRING ${alphabet} ${high} 1 first)
    string(SUBSTRING ${alphabet} ${low} 1 second)
    string(APPEND text "${first}${second}")
  endforeach()
  string(SUBSTRING ${text} 0 43 text)
  set(${out} "${text}=" PARENT_SCOPE)
endfunction()

function(haul_embed_page out style)
  set(arrays "")
  set(script ${out}.js)
  set(text "")
  foreach(part ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${part})
    file(READ ${part} read)
    string(APPEND text "${read}")
  endforeach()
  file(CONFIGURE OUTPUT ${script} CONTENT "${text}" @ONLY)
  foreach(what style script)
    set(file ${${what}})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
    file(SHA256 ${file} hash)
    haul_base64_of_hex(hash ${hash})
    string(APPEND arrays "const char hl_page_${what}[] = {${bytes}0};\n"
                         "const char hl_page_${what}_hash[] = \"sha256-${hash}\";\n")
  endforeach()
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT
"/* Written by cmake/EmbedPage.cmake. */
#include \"page/page_parts.h\"

@arrays@")
endfunction()
