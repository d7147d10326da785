# haul_kernel_classes(OUT CSV): writes the C file OUT with the rows of a table of names of kernels, in the
# columns pattern, class, precision, source and example. A row in another form does not compile.
function(haul_kernel_classes out csv)
  set(headers ${PROJECT_SOURCE_DIR}/include/haul)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${csv} ${headers}/kernel_class.h ${headers}/machine.h)
  file(READ ${csv} rows)
  string(FIND "${rows}" "\n" head)
  string(SUBSTRING "${rows}" ${head} -1 rows)
  # To tell an empty field from the quotes around another, fields stand between '@' first.
  set(field "(\"[^\"\n]*\"|[^\",\n]*)")
  string(REPLACE "\n" "\n\n" rows "${rows}")
  string(REGEX REPLACE "\n${field},${field},${field},${field},${field}\n"
    "    {@\\1@, CLASS=\\2=, PRECISION=\\3=, @\\4@, @\\5@},\n" rows "${rows}")
  string(REGEX REPLACE "@\"|\"@|@" "\"" rows "${rows}")
  foreach(list kernel_class:CLASS:HAUL_KERNEL_CLASS machine:PRECISION:HAUL_PRECISION)
    string(REPLACE ":" ";" list ${list})
    list(GET list 0 header)
    list(GET list 1 column)
    list(GET list 2 prefix)
    file(READ ${headers}/${header}.h text)
    string(REGEX MATCHALL "X\\([A-Z0-9]+, \"[a-z0-9 ]*\"\\)" words "${text}")
    foreach(word ${words})
      string(REGEX REPLACE "X\\((.*), \"(.*)\"\\)" "\\1;\\2" word "${word}")
      list(GET word 0 name)
      list(GET word 1 text)
      string(REPLACE "${column}=${text}=" "${prefix}_${name}" rows "${rows}")
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT
"/* Written by cmake/KernelClasses.cmake from kernels/classes.csv. */
#include \"haul/kernel_class.h\"

static const haul_kernel_class_row rows[] = {
@rows@};

const haul_kernel_class_row *haul_kernel_class_rows(size_t *count)
{
    *count = sizeof rows / sizeof *rows;
    return rows;
}
")
endfunction()
