# leat::runtime, the ready-made part of the library: the bodies of graphs at run time, of sessions that plan, and of files, compiled
# once. A program that links it compiles declarations instead; the definition LEAT_SEPARATE_COMPILATION, the libraries it was built with
# and the processor it was built for come with the target.
#
#   leat::runtime_static, leat::runtime_shared   and leat::runtime, which is the one that BUILD_SHARED_LIBS asks for

set(LEAT_RUNTIME_ARCHITECTURE "" CACHE STRING "-march of leat::runtime and of what links it: native, x86-64-v3, ...; nothing for the compiler's own")

set(LEAT_RUNTIME_CAPABILITIES ${LEAT_CAPABILITIES})
list(REMOVE_ITEM LEAT_RUNTIME_CAPABILITIES thrust cuda)

# leat_set_up_runtime(<target> <architecture> <capability>...): what whoever links it is compiled with.
function(leat_set_up_runtime target architecture)
  set_property(TARGET ${target} APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS LEAT_SEPARATE_COMPILATION)
  if(architecture)
    set_property(TARGET ${target} APPEND PROPERTY INTERFACE_COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:CXX>:-march=${architecture}>")
  endif()
  foreach(capability IN ITEMS leat ${ARGN})
    set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES leat::${capability})
  endforeach()
endfunction()
