# Debian's packages, by `cpack -G DEB` in the build folder or by scripts/packages:
#   libleat-dev        headers, CMake package, pkg-config files, the static runtime and the link to the shared one
#   libleat-runtime0   the shared runtime
#   leat-tools         the command leat and its manual page
# A package that is given to others is built for all processors of its kind, with -DLEAT_NATIVE=OFF, and with -DCMAKE_INSTALL_PREFIX=/usr, for
# Debian's folder of libraries: scripts/packages does both. What is in components of its own here is in no other installation.
include(GNUInstallDirs)
find_program(LEAT_DPKG_DEB dpkg-deb)
find_program(LEAT_GZIP gzip)
mark_as_advanced(LEAT_DPKG_DEB LEAT_GZIP)
if(NOT LEAT_DPKG_DEB OR NOT LEAT_GZIP OR NOT EXISTS "${PROJECT_SOURCE_DIR}/packaging/debian")
  return()
endif()
set(LEAT_DEBIAN_MAINTAINER "leat maintainers <leat@localhost>" CACHE STRING "Name and address in Debian's packages")

# The runtime once more, without what only developers need, and what only they need.
install(
  TARGETS leat_runtime_static leat_runtime_shared
  EXPORT leat-debian-targets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT debian_development EXCLUDE_FROM_ALL
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT debian_runtime NAMELINK_COMPONENT debian_development EXCLUDE_FROM_ALL)
install(
  EXPORT leat-debian-targets
  FILE leat-runtime-targets.cmake
  NAMESPACE leat::
  DESTINATION "${CMAKE_INSTALL_DATADIR}/cmake/leat"
  COMPONENT debian_development EXCLUDE_FROM_ALL)
# Files that name a folder of one kind of processor are not in share/.
file(RELATIVE_PATH relative_prefix "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
string(REGEX REPLACE "/$" "" relative_prefix "${relative_prefix}")
configure_file(cmake/leat-runtime.pc.in "${PROJECT_BINARY_DIR}/debian/leat-runtime.pc.gen" @ONLY)
file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/debian/leat-runtime.$<COMPILE_LANGUAGE>.pc" INPUT "${PROJECT_BINARY_DIR}/debian/leat-runtime.pc.gen"
     TARGET leat_runtime_static)
set(package leat-runtime)
configure_file(cmake/leat.pc.in "${PROJECT_BINARY_DIR}/debian/leat.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/debian/leat-runtime.CXX.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" RENAME leat-runtime.pc
        COMPONENT debian_development EXCLUDE_FROM_ALL)
install(FILES "${PROJECT_BINARY_DIR}/debian/leat.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
        COMPONENT debian_development EXCLUDE_FROM_ALL)

# What each of Debian's packages has to say of itself.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(packaging/debian/changelog.in "${PROJECT_BINARY_DIR}/debian/changelog" @ONLY)
if(TARGET leat_tool)
  configure_file(tools/leat/leat.1 "${PROJECT_BINARY_DIR}/debian/leat.1" COPYONLY)
endif()
foreach(file IN ITEMS changelog leat.1)
  if(EXISTS "${PROJECT_BINARY_DIR}/debian/${file}")
    execute_process(COMMAND "${LEAT_GZIP}" -9 -n -k -f "${PROJECT_BINARY_DIR}/debian/${file}" COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()
function(leat_describe_debian_package component package)
  install(FILES packaging/debian/copyright "${PROJECT_BINARY_DIR}/debian/changelog.gz" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${package}"
          COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()
leat_describe_debian_package(debian_development libleat-dev)
leat_describe_debian_package(debian_runtime libleat-runtime0)
install(FILES packaging/debian/libleat-runtime0.lintian-overrides DESTINATION "${CMAKE_INSTALL_DATADIR}/lintian/overrides" RENAME libleat-runtime0
        COMPONENT debian_runtime EXCLUDE_FROM_ALL)

set(groups development runtime)
set(CPACK_COMPONENTS_ALL development debian_development debian_runtime)
set(CPACK_COMPONENT_DEVELOPMENT_GROUP development)
set(CPACK_COMPONENT_DEBIAN_DEVELOPMENT_GROUP development)
set(CPACK_COMPONENT_DEBIAN_RUNTIME_GROUP runtime)
if(TARGET leat_tool)
  leat_describe_debian_package(debian_tools leat-tools)
  install(FILES "${PROJECT_BINARY_DIR}/debian/leat.1.gz" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT debian_tools EXCLUDE_FROM_ALL)
  list(APPEND CPACK_COMPONENTS_ALL tools debian_tools)
  set(CPACK_COMPONENT_TOOLS_GROUP tools)
  set(CPACK_COMPONENT_DEBIAN_TOOLS_GROUP tools)
endif()

# The packages whose files the library's targets and pkg-config files name.
set(needed_of_onednn libdnnl-dev)
set(needed_of_blas libopenblas-dev)
set(needed_of_tbb libtbb-dev)
set(needed_of_io libprotozero-dev nlohmann-json3-dev zlib1g-dev)
set(needed_of_cluster cppzmq-dev libzmq3-dev)
set(needed "libleat-runtime0 (= ${PROJECT_VERSION})" "libxtensor-dev (>= 0.24)" "libxsimd-dev (>= 8.1)")
foreach(capability IN LISTS LEAT_RUNTIME_CAPABILITIES)
  list(APPEND needed ${needed_of_${capability}})
endforeach()
list(JOIN needed ", " needed)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME leat)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_CONTACT "${LEAT_DEBIAN_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libleat-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${needed}")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
    "dataflow graphs as C++ expressions (development files)
leat trains and runs models in C++20 programs: graphs that the
compiler checks, differentiates and compiles, and graphs that are
built at run time.
.
This package has the headers, the CMake package, the files of
pkg-config and the static runtime.")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libleat-runtime0)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
# As Debian asks. CPack adds scripts that run ldconfig, too.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/packaging/debian/triggers")
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION
    "dataflow graphs as C++ expressions (shared library)
leat trains and runs models in C++20 programs: graphs that the
compiler checks, differentiates and compiles, and graphs that are
built at run time.
.
This package has the shared runtime, for programs that were linked
to it.")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME leat-tools)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION science)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOOLS_DESCRIPTION
    "command for dataflow graphs, checkpoints and clusters of leat
The command leat shows, checks, converts and runs graphs and saved
models in TensorFlow's formats, shows checkpoints, and starts the
servers of a cluster.")

include(CPack)
