# The installed package: headers, leatConfig.cmake with its version file, leat.pc. The same package also stands in the
# build folder, for -Dleat_DIR=<build folder>.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_DATADIR}/cmake/leat")
set(pkg_config_dir "${CMAKE_INSTALL_DATADIR}/pkgconfig")

install(TARGETS leat EXPORT leat-targets)
install(
  EXPORT leat-targets
  NAMESPACE leat::
  DESTINATION "${package_dir}")
export(
  EXPORT leat-targets
  NAMESPACE leat::
  FILE "${PROJECT_BINARY_DIR}/leat-targets.cmake")

configure_package_config_file(cmake/leatConfig.cmake.in "${PROJECT_BINARY_DIR}/leatConfig.cmake"
                              INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/leatConfigVersion.cmake" COMPATIBILITY SameMinorVersion
                                 ARCH_INDEPENDENT)
file(COPY cmake/leat-capabilities.cmake DESTINATION "${PROJECT_BINARY_DIR}")

file(RELATIVE_PATH relative_prefix "/prefix/${pkg_config_dir}" "/prefix")
string(REGEX REPLACE "/$" "" relative_prefix "${relative_prefix}")
configure_file(cmake/leat.pc.in "${PROJECT_BINARY_DIR}/leat.pc" @ONLY)

install(
  DIRECTORY include/leat
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING
  PATTERN "*.hpp")
install(FILES "${PROJECT_BINARY_DIR}/leatConfig.cmake" "${PROJECT_BINARY_DIR}/leatConfigVersion.cmake"
              cmake/leat-capabilities.cmake DESTINATION "${package_dir}")
install(FILES "${PROJECT_BINARY_DIR}/leat.pc" DESTINATION "${pkg_config_dir}")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
