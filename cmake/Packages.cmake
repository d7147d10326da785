# Packages of Debian's kind, made of the components: `cpack` in a build with the preset `debian`.
#
#   haul        the program, its manual and completions    haul-data   machines and kernels
#   libhaulX.Y  the shared library                         libhaul-dev headers, for CMake and pkg-config
#   haul-mpi    libhaul-mpi, its program and the preload   haul-doc    documents and examples
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME haul)
set(CPACK_PACKAGE_CONTACT "the haul maintainers <maintainers@users.noreply.a-seed-d8e0c418.example>")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian_files.cmake)
set(CPACK_HAUL_CHANGES ${PROJECT_SOURCE_DIR}/CHANGELOG.md)
set(CPACK_HAUL_LICENCE ${PROJECT_SOURCE_DIR}/LICENSE)
# the packages of one build find each other's libraries
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/src)

set(libhaul libhaul${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(same_version "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")

# haul_package(NAME SECTION SUMMARY TEXT [DEPENDS TEXT] COMPONENTS...): a group of components is a package
function(haul_package name section summary)
  cmake_parse_arguments(PACKAGE "ALL" "DEPENDS;TEXT" "COMPONENTS" ${ARGN})
  string(TOUPPER ${name} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_COMPONENT_GROUP_${upper}_DESCRIPTION "${summary}\n${PACKAGE_TEXT}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}\n${PACKAGE_TEXT}" PARENT_SCOPE)
  if(PACKAGE_DEPENDS)
    set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${PACKAGE_DEPENDS}" PARENT_SCOPE)
  endif()
  if(PACKAGE_ALL)
    set(CPACK_DEBIAN_${upper}_PACKAGE_ARCHITECTURE all PARENT_SCOPE)
  endif()
  foreach(component ${PACKAGE_COMPONENTS})
    string(TOUPPER ${component} upper_component)
    set(CPACK_COMPONENT_${upper_component}_GROUP ${name} PARENT_SCOPE)
  endforeach()
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${PACKAGE_COMPONENTS} PARENT_SCOPE)
endfunction()

# The linker's cache is made anew where a library is new.
file(WRITE ${PROJECT_BINARY_DIR}/triggers "activate-noawait ldconfig\n")
foreach(library ${libhaul} haul-mpi)
  string(TOUPPER ${library} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/triggers)
endforeach()

set(CPACK_COMPONENTS_ALL "")
haul_package(haul science "predicts and explains the movement of data on machines with GPUs"
  TEXT "Reads profiles of Nsight Systems, nvprof, PyTorch and rocprof, says why a GPU\nidles and which copy to change, and predicts the run on another machine.\nRecords OpenCL and CUDA programs, and measures machines."
  DEPENDS "${libhaul} ${same_version}" COMPONENTS haul_programs)
haul_package(${libhaul} libs "predictions of data movement on machines with GPUs, shared library"
  TEXT "The models of haul as a library in C and C++, and its tile runtime for arrays\nlarger than a GPU's memory."
  DEPENDS "haul-data ${same_version}" COMPONENTS haul_library)
haul_package(haul-data science "machines and kernels that haul knows" ALL
  TEXT "Parameters of GPUs, links and networks with their sources, as YAML files, for\nhaul and libhaul."
  COMPONENTS haul_data)
haul_package(libhaul-dev libdevel "predictions of data movement on machines with GPUs, headers"
  TEXT "Headers of libhaul, what CMake and pkg-config need to find it, and the headers\nfor tools that print what haul finds."
  DEPENDS "${libhaul} ${same_version}" COMPONENTS haul_development haul_development_tools)
haul_package(haul-doc doc "documents and examples of haul" ALL
  TEXT "What haul models, with what accuracy, how its output reads, and examples of its\nlibrary and tile runtime."
  COMPONENTS haul_documentation)
if(TARGET haul-mpi)
  haul_package(haul-mpi science "exchanges of MPI programs, sent in the fastest way"
    TEXT "A library, and one to preload, that send an MPI program's all-to-alls in the\nway that a model or a measurement says, and a program that measures messages."
    DEPENDS "${libhaul} ${same_version}" COMPONENTS haul_mpi)
  set(CPACK_DEBIAN_HAUL-MPI_PACKAGE_RECOMMENDS "mpi-default-bin | openmpi-bin | mpich")
endif()
include(CPack)
