# leat::runtime, the ready-made part of the library: the bodies of graphs at run time, of planned sessions and of files, compiled once.
# What links it compiles declarations instead: the definition LEAT_SEPARATE_COMPILATION, the capabilities that were found when it was
# built, and the processor that it was built for come with the target.
#
#   leat::runtime_static, leat::runtime_shared, and leat::runtime, which is the one that BUILD_SHARED_LIBS asks for
#
# Read by our own build and, installed beside leatConfig.cmake, by find_package(leat).

# leat_set_up_runtime(<target> <architecture> <capability>...): what whoever links it is compiled with.
function(leat_set_up_runtime target architecture)
  target_compile_definitions(${target} INTERFACE LEAT_SEPARATE_COMPILATION)
  if(architecture)
    target_compile_options(${target} INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-march=${architecture}>")
  endif()
  foreach(capability IN ITEMS header_only ${ARGN})
    target_link_libraries(${target} INTERFACE "$<BUILD_INTERFACE:leat::${capability}>")
  endforeach()
endfunction()

# leat_add_runtime(): the libraries, built when something links them or the package with them is installed.
function(leat_add_runtime)
  set(architecture "")
  if(LEAT_NATIVE AND PROJECT_IS_TOP_LEVEL)
    set(architecture native)
  endif()
  set(LEAT_RUNTIME_ARCHITECTURE "${architecture}"
      CACHE STRING "-march of leat::runtime and of what links it: native, x86-64-v3, ...; nothing for the compiler's default")
  set(LEAT_RUNTIME_OPTIMIZATION -O2 CACHE STRING "How Release compiles leat::runtime but for its kernels")
  mark_as_advanced(LEAT_RUNTIME_OPTIMIZATION)
  set(capabilities ${LEAT_CAPABILITIES})
  list(REMOVE_ITEM capabilities mpi thrust ${LEAT_CUDA_CAPABILITIES})

  set(parts graphs kernels sessions)
  if(io IN_LIST capabilities)
    list(APPEND parts files training)
  endif()
  if(cluster IN_LIST capabilities)
    list(APPEND parts cluster)
  endif()
  list(TRANSFORM parts PREPEND "${PROJECT_SOURCE_DIR}/cmake/runtime/" OUTPUT_VARIABLE sources)
  list(TRANSFORM sources APPEND .cpp)
  add_library(leat_runtime_objects OBJECT EXCLUDE_FROM_ALL ${sources})
  # For both kinds of library; what is called within it need not be replaceable from outside. Results of a graph must not depend on how it
  # is fused, or cut among tasks: no product and sum is contracted but where the code says fma.
  set_target_properties(leat_runtime_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_options(leat_runtime_objects PRIVATE -fno-semantic-interposition -ffp-contract=off
                                                      "$<$<CONFIG:Release>:${LEAT_RUNTIME_OPTIMIZATION}>")
  # Kernels are nearly all of what a run computes: as users get them, whatever the rest is. With -O2, g++ 12 and later vectorize only loops
  # whose number of iterations they know, unless told to weigh the cost of each: normalization and resizing take a half to a quarter of the time.
  set_property(SOURCE "${PROJECT_SOURCE_DIR}/cmake/runtime/kernels.cpp" APPEND
               PROPERTY COMPILE_OPTIONS "$<$<CONFIG:Release>:-O2>"
                        "$<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-fvect-cost-model=dynamic>")
  leat_set_up_runtime(leat_runtime_objects "${LEAT_RUNTIME_ARCHITECTURE}" ${capabilities})
  get_target_property(libraries leat_runtime_objects INTERFACE_LINK_LIBRARIES)
  target_link_libraries(leat_runtime_objects PRIVATE ${libraries})
  target_compile_definitions(leat_runtime_objects PRIVATE LEAT_SEPARATE_COMPILATION)
  if(LEAT_RUNTIME_ARCHITECTURE)
    target_compile_options(leat_runtime_objects PRIVATE "-march=${LEAT_RUNTIME_ARCHITECTURE}")
  endif()
  if(TARGET leat_own_program)
    target_link_libraries(leat_runtime_objects PRIVATE leat_own_program)
  endif()

  foreach(kind IN ITEMS static shared)
    string(TOUPPER ${kind} type)
    set(target leat_runtime_${kind})
    add_library(${target} ${type} EXCLUDE_FROM_ALL $<TARGET_OBJECTS:leat_runtime_objects>)
    add_library(leat::runtime_${kind} ALIAS ${target})
    set_target_properties(
      ${target} PROPERTIES OUTPUT_NAME leat_runtime EXPORT_NAME runtime_${kind} VERSION ${PROJECT_VERSION}
                           SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    leat_set_up_runtime(${target} "${LEAT_RUNTIME_ARCHITECTURE}" ${capabilities})
  endforeach()
  target_link_libraries(leat_runtime_shared PRIVATE ${libraries})
  set(kind static)
  if(BUILD_SHARED_LIBS)
    set(kind shared)
  endif()
  add_library(leat::runtime ALIAS leat_runtime_${kind})
  set(LEAT_RUNTIME_CAPABILITIES "${capabilities}" PARENT_SCOPE)
endfunction()
