# An overlay port that takes leat from the checkout that it is in. The features have dependencies only: which of leat's targets exist is
# decided by what find_package(leat) finds.
set(VCPKG_BUILD_TYPE release) # headers alone
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        -DLEAT_BUILD_TESTS=OFF
        -DLEAT_BUILD_EXAMPLES=OFF
        -DLEAT_BUILD_BENCHMARKS=OFF
        -DLEAT_BUILD_TOOLS=OFF
        -DLEAT_MPI=OFF
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/leat)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/lib" "${CURRENT_PACKAGES_DIR}/debug" "${CURRENT_PACKAGES_DIR}/share/doc" "${CURRENT_PACKAGES_DIR}/share/man")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
