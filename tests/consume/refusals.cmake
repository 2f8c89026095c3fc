# cmake -DSOURCE=... -DBUILD=... -DFOLDER=... -P refusals.cmake: what cannot be used is told in one message that says what to do.
include("${SOURCE}/cmake/leat-requirements.cmake")
function(expect what said pattern)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  if(NOT said MATCHES "${pattern}")
    message(SEND_ERROR "${what}: expected ${pattern}, got: ${said}")
  endif()
endfunction()

leat_check_compiler(why GNU 11.4.0)
expect("an old g++" "${why}" "^leat needs g\\+\\+ 12 or clang 19, or a later one; this is GNU 11.4.0: name another compiler with -DCMAKE_CXX_COMPILER=")
leat_check_compiler(why Clang 14.0)
expect("an old clang" "${why}" "^leat needs .* this is Clang 14.0: ")
leat_check_compiler(why MSVC 19.40)
expect("MSVC" "${why}" "use clang-cl")
foreach(good IN ITEMS "GNU;12.2.0" "Clang;19.1.0" "AppleClang;17.0")
  leat_check_compiler(why ${good})
  expect("${good}" "${why}" "^$")
endforeach()
leat_check_library(why xsimd 8.1 7.4.8)
expect("an old xsimd" "${why}" "^leat needs xsimd 8.1 or later, found 7.4.8: install it \\(Debian: libxsimd-dev;")
leat_check_library(why xsimd 8.1 13.0.0)
expect("a new xsimd" "${why}" "^$")

# Configured without xtensor; found without xsimd.
file(REMOVE_RECURSE "${FOLDER}")
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${SOURCE}" -B "${FOLDER}/source" -DCMAKE_DISABLE_FIND_PACKAGE_xtensor=ON -DLEAT_BUILD_TESTS=OFF
                        -DLEAT_BUILD_EXAMPLES=OFF -DLEAT_BUILD_BENCHMARKS=OFF -DLEAT_BUILD_TOOLS=OFF "-DCMAKE_CXX_COMPILER=${COMPILER}"
                RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE said)
expect("xtensor is missing" "${failed} ${said}" "^1 .*leat needs xtensor 0.24 or later, which was not found: install it \\(Debian: libxtensor-dev;")
file(WRITE "${FOLDER}/user/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)\nproject(user LANGUAGES CXX)\nfind_package(leat REQUIRED)\n")
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${FOLDER}/user" -B "${FOLDER}/user/build" -DCMAKE_DISABLE_FIND_PACKAGE_xsimd=ON "-Dleat_DIR=${BUILD}"
                        "-DCMAKE_CXX_COMPILER=${COMPILER}"
                RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE said)
expect("xsimd is missing" "${failed} ${said}" "^1 .*Reason given by package: leat needs xsimd 8.1 or later, which was not found: install it")
file(WRITE "${FOLDER}/user/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)\nproject(user LANGUAGES CXX)\nfind_package(leat 0.9 REQUIRED)\n")
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${FOLDER}/user" -B "${FOLDER}/user/build" "-Dleat_DIR=${BUILD}" RESULT_VARIABLE failed OUTPUT_QUIET
                ERROR_VARIABLE said)
expect("another version" "${failed} ${said}" "^1 .*requested version \"0.9\".* version: 0\\.")

# Folders that cannot be written.
file(WRITE "${FOLDER}/file" "")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${FOLDER}/file/prefix" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE said)
expect("a prefix that cannot be written" "${failed} ${said}"
       "^1 .*leat cannot be installed in .*/file/prefix, which cannot be written: name another folder with --prefix, or install as root")
