# The installed package: headers, leatConfig.cmake with its version file, leat-header-only.pc, leat.pc, and, as the component `runtime`,
# the ready-made runtime with leat-runtime.pc and a leat.pc that brings it. The same package also stands in the build folder, for -Dleat_DIR=<build folder>.
# The other components (`development` and `alone` here, `tools`) are for Debian's packages (leat-debian.cmake): without a name all three are installed.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Before anything else is installed: what CMake says of a folder that cannot be written begins with its own files.
install(
  CODE [[
  set(prefix "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
  execute_process(COMMAND "${CMAKE_COMMAND}" -E make_directory "${prefix}" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(NOT failed)
    execute_process(COMMAND "${CMAKE_COMMAND}" -E touch "${prefix}/.leat_is_installed" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    file(REMOVE "${prefix}/.leat_is_installed")
  endif()
  if(failed)
    message(FATAL_ERROR "leat cannot be installed in ${prefix}, which cannot be written: name another folder with --prefix, or install as root")
  endif()
]]
  ALL_COMPONENTS)

set(package_dir "${CMAKE_INSTALL_DATADIR}/cmake/leat")
set(pkg_config_dir "${CMAKE_INSTALL_DATADIR}/pkgconfig")

# What leat::leat is until leatConfig.cmake adds the runtime, if it is there.
add_library(leat_installed INTERFACE)
set_target_properties(leat_installed PROPERTIES EXPORT_NAME leat)
target_link_libraries(leat_installed INTERFACE leat_header_only)
install(TARGETS leat_header_only leat_installed EXPORT leat-targets)
install(
  EXPORT leat-targets
  NAMESPACE leat::
  DESTINATION "${package_dir}"
  COMPONENT development)
export(
  EXPORT leat-targets
  NAMESPACE leat::
  FILE "${PROJECT_BINARY_DIR}/leat-targets.cmake")

# The ready-made runtime is there if it was built: cmake --build . --target leat_runtime
add_custom_target(leat_runtime DEPENDS leat_runtime_static leat_runtime_shared)
install(
  TARGETS leat_runtime_static leat_runtime_shared
  EXPORT leat-runtime-targets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime EXCLUDE_FROM_ALL
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime EXCLUDE_FROM_ALL)
install(
  EXPORT leat-runtime-targets
  NAMESPACE leat::
  DESTINATION "${package_dir}"
  COMPONENT runtime EXCLUDE_FROM_ALL)

configure_package_config_file(cmake/leatConfig.cmake.in "${PROJECT_BINARY_DIR}/leatConfig.cmake"
                              INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/leatConfigVersion.cmake" COMPATIBILITY SameMinorVersion
                                 ARCH_INDEPENDENT)
file(COPY cmake/leat-capabilities.cmake cmake/leat-precompile.cmake cmake/leat-requirements.cmake cmake/leat-runtime.cmake DESTINATION "${PROJECT_BINARY_DIR}")

file(RELATIVE_PATH relative_prefix "/prefix/${pkg_config_dir}" "/prefix")
string(REGEX REPLACE "/$" "" relative_prefix "${relative_prefix}")
configure_file(cmake/leat-header-only.pc.in "${PROJECT_BINARY_DIR}/leat-header-only.pc" @ONLY)
foreach(package IN ITEMS leat-header-only leat-runtime)
  configure_file(cmake/leat.pc.in "${PROJECT_BINARY_DIR}/${package}/leat.pc" @ONLY)
endforeach()

# What pkg-config says of the runtime: what it was built with, which whoever links it is compiled with, too.
set(runtime_libraries_of_onednn -ldnnl)
set(runtime_libraries_of_blas -lopenblas)
set(runtime_libraries_of_tbb -ltbb)
set(runtime_libraries_of_cluster -lzmq -pthread)
set(runtime_libraries "")
foreach(capability IN LISTS LEAT_RUNTIME_CAPABILITIES)
  list(APPEND runtime_libraries ${runtime_libraries_of_${capability}})
endforeach()
if(TARGET ZLIB::ZLIB)
  list(APPEND runtime_libraries -lz)
endif()
if(TARGET JPEG::JPEG)
  list(APPEND runtime_libraries -ljpeg)
endif()
list(JOIN runtime_libraries " " runtime_libraries)
set(runtime_march "")
if(LEAT_RUNTIME_ARCHITECTURE)
  set(runtime_march "-march=${LEAT_RUNTIME_ARCHITECTURE}")
endif()
set(runtime_definitions "$<TARGET_PROPERTY:leat_runtime_static,INTERFACE_COMPILE_DEFINITIONS>")
configure_file(cmake/leat-runtime.pc.in "${PROJECT_BINARY_DIR}/leat-runtime.pc.gen" @ONLY)
file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/leat-runtime.$<COMPILE_LANGUAGE>.pc" INPUT "${PROJECT_BINARY_DIR}/leat-runtime.pc.gen"
     TARGET leat_runtime_static)
install(FILES "${PROJECT_BINARY_DIR}/leat-runtime.CXX.pc" DESTINATION "${pkg_config_dir}" RENAME leat-runtime.pc
        COMPONENT runtime EXCLUDE_FROM_ALL)
# CMake would keep the other, of the same time.
install(CODE "file(REMOVE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${pkg_config_dir}/leat.pc\")" COMPONENT runtime EXCLUDE_FROM_ALL)
install(FILES "${PROJECT_BINARY_DIR}/leat-runtime/leat.pc" DESTINATION "${pkg_config_dir}" COMPONENT runtime EXCLUDE_FROM_ALL)

install(
  DIRECTORY include/leat
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  COMPONENT development
  FILES_MATCHING
  PATTERN "*.hpp")
install(FILES "${PROJECT_BINARY_DIR}/leatConfig.cmake" "${PROJECT_BINARY_DIR}/leatConfigVersion.cmake" cmake/leat-capabilities.cmake
              cmake/leat-precompile.cmake cmake/leat-requirements.cmake cmake/leat-runtime.cmake DESTINATION "${package_dir}" COMPONENT development)
install(FILES "${PROJECT_BINARY_DIR}/leat-header-only.pc" DESTINATION "${pkg_config_dir}" COMPONENT development)
install(FILES "${PROJECT_BINARY_DIR}/leat-header-only/leat.pc" DESTINATION "${pkg_config_dir}" COMPONENT alone)
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT alone)
