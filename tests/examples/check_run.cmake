# Runs an example and checks how it ends:
#   cmake -DPROGRAM=<file> -DARGUMENTS=<list> -DEXIT=<code> -DOUTPUT=<regular expression> -P check_run.cmake
# Standard output and error are matched together.
cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND "${PROGRAM}" ${ARGUMENTS} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
message("${output}")
if(NOT code STREQUAL EXIT)
  message(FATAL_ERROR "ended with ${code} instead of ${EXIT}")
endif()
if(NOT output MATCHES "${OUTPUT}")
  message(FATAL_ERROR "said nothing that matches: ${OUTPUT}")
endif()
