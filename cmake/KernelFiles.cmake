# Kernel files (HAUL_KERNEL_FILE of haul/kernel_source.h) under a compiler that is told to change the
# names of files, with -ffile-prefix-map, as distributions do: the assembler opens a kernel file by
# the name that __FILE__ gives it, so that name stays as it is. Those in debug information change.

# haul_find_kernel_files(OUT FOLDER...): the files that are kernel files
function(haul_find_kernel_files out)
  set(found "")
  foreach(folder ${ARGN})
    foreach(ending h hpp c cc cpp cxx)
      file(GLOB_RECURSE files ${folder}/*.${ending})
      foreach(file ${files})
        file(STRINGS ${file} line REGEX "^HAUL_KERNEL_FILE" LIMIT_COUNT 1)
        if(line)
          list(APPEND found ${file})
        endif()
      endforeach()
    endforeach()
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# haul_kernel_file_options(OUT FOLDER): options for the compiler of sources in that folder; none where
# no names change or the folder has no kernel file
function(haul_kernel_file_options out folder)
  get_directory_property(options COMPILE_OPTIONS)
  set(flags "${CMAKE_C_FLAGS};${CMAKE_CXX_FLAGS};${options}")
  set(found "")
  if(flags MATCHES "-f(file|macro)-prefix-map=")
    haul_find_kernel_files(found ${folder})
  endif()
  if(found)
    # GCC lets no -fmacro-prefix-map take precedence, so debug information is told its names again;
    # of Clang's the longest map counts.
    set(same "prefix-map=${folder}/=${folder}/")
    set(found "$<$<COMPILE_LANG_AND_ID:C,Clang,AppleClang,IntelLLVM>:-fmacro-${same}>"
              "$<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang,IntelLLVM>:-fmacro-${same}>"
              "$<$<COMPILE_LANG_AND_ID:C,GNU>:-ffile-${same}>"
              "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-ffile-${same}>")
    string(REGEX MATCHALL "-f(file|debug)-prefix-map=[^ ;>]+" maps "${flags}")
    list(REMOVE_DUPLICATES maps)
    foreach(map ${maps})
      string(REGEX REPLACE "^-f(file|debug)" "-fdebug" map "${map}")
      list(APPEND found "$<$<COMPILE_LANG_AND_ID:C,GNU>:${map}>"
                        "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:${map}>")
    endforeach()
  endif()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()
