# The optional capabilities, each one INTERFACE target that brings the headers, a library and a LEAT_USE_ definition.
# Read by our own build and, installed beside leatConfig.cmake, by find_package(leat): what is there is decided on the
# machine that compiles, not on the one that installed the headers.

set(LEAT_KNOWN_CAPABILITIES onednn blas tbb io cluster mpi thrust cuda nccl)
# Those of programs whose .cu files nvcc compiles.
set(LEAT_CUDA_CAPABILITIES cuda nccl)

# leat_find_capability(<name> <variable>) makes leat::<name> unless its package is missing; the variable says which.
function(leat_find_capability name result)
  if(NOT TARGET leat::${name})
    cmake_language(CALL leat_find_${name})
  endif()
  if(TARGET leat::${name})
    set(${result} TRUE PARENT_SCOPE)
  else()
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()

# In the source tree an ordinary target with an alias, so that our headers are not taken for a system's; in a consumer
# an imported one, so that the consumer can export what links it.
function(leat_make_capability name result)
  get_target_property(installed leat::header_only IMPORTED)
  if(installed)
    set(target leat::${name})
    add_library(${target} INTERFACE IMPORTED)
  else()
    set(target leat_${name})
    add_library(${target} INTERFACE)
    add_library(leat::${name} ALIAS ${target})
  endif()
  target_link_libraries(${target} INTERFACE leat::header_only)
  set(${result} ${target} PARENT_SCOPE)
endfunction()

# By its files: the package's own configuration (Debian 12) stops CMake where OpenCL's headers are missing, which we do
# not use.
function(leat_find_onednn)
  find_path(LEAT_ONEDNN_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
  find_library(LEAT_ONEDNN_LIBRARY dnnl)
  mark_as_advanced(LEAT_ONEDNN_INCLUDE_DIR LEAT_ONEDNN_LIBRARY)
  if(LEAT_ONEDNN_INCLUDE_DIR AND LEAT_ONEDNN_LIBRARY)
    leat_make_capability(onednn target)
    target_compile_definitions(${target} INTERFACE LEAT_USE_ONEDNN)
    target_include_directories(${target} SYSTEM INTERFACE "${LEAT_ONEDNN_INCLUDE_DIR}")
    target_link_libraries(${target} INTERFACE "${LEAT_ONEDNN_LIBRARY}")
  endif()
endfunction()

function(leat_find_blas)
  find_path(LEAT_BLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas)
  find_library(LEAT_BLAS_LIBRARY openblas)
  mark_as_advanced(LEAT_BLAS_INCLUDE_DIR LEAT_BLAS_LIBRARY)
  if(LEAT_BLAS_INCLUDE_DIR AND LEAT_BLAS_LIBRARY)
    leat_make_capability(blas target)
    target_compile_definitions(${target} INTERFACE LEAT_USE_BLAS)
    target_include_directories(${target} SYSTEM INTERFACE "${LEAT_BLAS_INCLUDE_DIR}")
    target_link_libraries(${target} INTERFACE "${LEAT_BLAS_LIBRARY}")
  endif()
endfunction()

function(leat_find_tbb)
  find_package(TBB QUIET CONFIG)
  if(TARGET TBB::tbb)
    leat_make_capability(tbb target)
    target_compile_definitions(${target} INTERFACE LEAT_USE_TBB)
    target_link_libraries(${target} INTERFACE TBB::tbb)
  endif()
endfunction()

# What the headers of io/ include to read and write files: protozero, which is headers alone, and nlohmann::json; zlib, if it is there,
# to read compressed ones, and libjpeg for images.
function(leat_find_io)
  find_path(LEAT_PROTOZERO_INCLUDE_DIR protozero/pbf_reader.hpp)
  find_package(nlohmann_json QUIET CONFIG)
  mark_as_advanced(LEAT_PROTOZERO_INCLUDE_DIR)
  if(LEAT_PROTOZERO_INCLUDE_DIR AND TARGET nlohmann_json::nlohmann_json)
    leat_make_capability(io target)
    target_compile_definitions(${target} INTERFACE LEAT_USE_IO)
    target_include_directories(${target} SYSTEM INTERFACE "${LEAT_PROTOZERO_INCLUDE_DIR}")
    target_link_libraries(${target} INTERFACE nlohmann_json::nlohmann_json)
    find_package(ZLIB QUIET)
    if(TARGET ZLIB::ZLIB)
      target_compile_definitions(${target} INTERFACE LEAT_USE_ZLIB)
      target_link_libraries(${target} INTERFACE ZLIB::ZLIB)
    endif()
    find_package(JPEG QUIET)
    if(TARGET JPEG::JPEG)
      target_compile_definitions(${target} INTERFACE LEAT_USE_JPEG)
      target_link_libraries(${target} INTERFACE JPEG::JPEG)
    endif()
  endif()
endfunction()

# What the headers of cluster/ include to talk to other processes: cppzmq, and libzmq with libsodium in it.
function(leat_find_cluster)
  find_path(LEAT_CPPZMQ_INCLUDE_DIR zmq.hpp)
  find_library(LEAT_ZMQ_LIBRARY zmq)
  mark_as_advanced(LEAT_CPPZMQ_INCLUDE_DIR LEAT_ZMQ_LIBRARY)
  find_package(Threads QUIET)
  leat_find_capability(io io_found)
  if(LEAT_CPPZMQ_INCLUDE_DIR AND LEAT_ZMQ_LIBRARY AND TARGET Threads::Threads AND io_found)
    leat_make_capability(cluster target)
    target_compile_definitions(${target} INTERFACE LEAT_USE_CLUSTER)
    target_include_directories(${target} SYSTEM INTERFACE "${LEAT_CPPZMQ_INCLUDE_DIR}")
    target_link_libraries(${target} INTERFACE leat::io "${LEAT_ZMQ_LIBRARY}" Threads::Threads)
  endif()
endfunction()

# What the headers of collective/ include: MPI's C interface. -DLEAT_MPI=OFF leaves it out.
function(leat_find_mpi)
  if(DEFINED LEAT_MPI AND NOT LEAT_MPI)
    return()
  endif()
  set(MPI_CXX_SKIP_MPICXX TRUE)
  find_package(MPI QUIET COMPONENTS CXX)
  if(TARGET MPI::MPI_CXX)
    leat_make_capability(mpi target)
    target_compile_definitions(${target} INTERFACE LEAT_USE_MPI)
    target_link_libraries(${target} INTERFACE MPI::MPI_CXX)
  endif()
endfunction()

# Thrust's serial system for C++, with OpenMP and TBB beside it where found. A .cu file gets no include directory from
# here: nvcc knows its own Thrust, and an older one before it would win silently.
function(leat_find_thrust)
  find_path(LEAT_THRUST_INCLUDE_DIR thrust/version.h)
  find_path(
    LEAT_THRUST_INCLUDE_DIR thrust/version.h
    HINTS ENV CUDA_HOME
    PATHS /usr/local/cuda
    PATH_SUFFIXES include/cccl include)
  mark_as_advanced(LEAT_THRUST_INCLUDE_DIR)
  if(NOT LEAT_THRUST_INCLUDE_DIR)
    return()
  endif()
  leat_make_capability(thrust target)
  target_compile_definitions(
    ${target} INTERFACE LEAT_USE_THRUST "$<$<COMPILE_LANGUAGE:CXX>:THRUST_HOST_SYSTEM=THRUST_HOST_SYSTEM_CPP>"
                        "$<$<COMPILE_LANGUAGE:CXX>:THRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CPP>")
  target_include_directories(${target} SYSTEM INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${LEAT_THRUST_INCLUDE_DIR}>")

  find_package(OpenMP QUIET COMPONENTS CXX)
  if(TARGET OpenMP::OpenMP_CXX)
    target_compile_definitions(${target} INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:LEAT_THRUST_OMP>")
    target_link_libraries(${target} INTERFACE OpenMP::OpenMP_CXX)
  endif()
  find_package(TBB QUIET CONFIG)
  if(TARGET TBB::tbb)
    target_compile_definitions(${target} INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:LEAT_THRUST_TBB>")
    target_link_libraries(${target} INTERFACE TBB::tbb)
  endif()
endfunction()

# For programs whose .cu files nvcc compiles: what leat::thrust gives, and cuBLAS.
function(leat_find_cuda)
  leat_find_capability(thrust thrust_found)
  if(CMAKE_CUDA_COMPILER AND thrust_found)
    find_package(CUDAToolkit QUIET)
    if(TARGET CUDA::cublas)
      leat_make_capability(cuda target)
      target_compile_definitions(${target} INTERFACE LEAT_USE_CUBLAS)
      target_link_libraries(${target} INTERFACE leat::thrust CUDA::cublas CUDA::cudart_static)
    endif()
  endif()
endfunction()

# For programs whose .cu files nvcc compiles, several ranks with a GPU each: leat::mpi and leat::cuda, and NCCL, which comes with CUDA or by itself.
# -DLEAT_NCCL=OFF leaves it out, ON ends with an error where it is missing.
function(leat_find_nccl)
  if(DEFINED LEAT_NCCL AND NOT LEAT_NCCL)
    return()
  endif()
  leat_find_capability(mpi mpi_found)
  leat_find_capability(cuda cuda_found)
  if(mpi_found AND cuda_found)
    find_path(LEAT_NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS} ENV NCCL_HOME PATH_SUFFIXES include)
    find_library(LEAT_NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR} "${CUDAToolkit_LIBRARY_ROOT}/lib" ENV NCCL_HOME
                 PATH_SUFFIXES lib lib64)
    mark_as_advanced(LEAT_NCCL_INCLUDE_DIR LEAT_NCCL_LIBRARY)
  endif()
  if(LEAT_NCCL_INCLUDE_DIR AND LEAT_NCCL_LIBRARY)
    leat_make_capability(nccl target)
    target_compile_definitions(${target} INTERFACE LEAT_USE_NCCL)
    target_include_directories(${target} SYSTEM INTERFACE "${LEAT_NCCL_INCLUDE_DIR}")
    target_link_libraries(${target} INTERFACE leat::mpi leat::cuda "${LEAT_NCCL_LIBRARY}")
  elseif(LEAT_NCCL)
    message(FATAL_ERROR "LEAT_NCCL is ON, and leat::nccl needs MPI (found: ${mpi_found}), nvcc with cuBLAS (found: ${cuda_found}), nccl.h "
                        "(${LEAT_NCCL_INCLUDE_DIR}) and libnccl (${LEAT_NCCL_LIBRARY})")
  endif()
endfunction()
