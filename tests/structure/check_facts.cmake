# What is asked of an operator by its name: cmake -DSOURCE_DIR=<repository> -P check_facts.cmake
# An operator's facts stand in its definition (graph/facts.hpp): its class, or the registration of its line. So the headers compare nothing
# with a type name, and keep no list of such names. A name is a literal like "MatMul" or "_Send"; comparisons are == and !=, starts_with
# and ends_with; a list is an array or a set that begins with a name, or a
# text that begins with three of them. A table of names and functions is a registration, and no list.
# Exceptions stand here, as the file, how many comparisons and lists it has, and the reason.
cmake_minimum_required(VERSION 3.25)

if(NOT DEFINED exceptions)
  set(exceptions
      # Files hold operators that the library does not have, as messages without definitions.
      proto/operator_names.hpp 5 "files have loops and variables before operators are looked up"
      proto/freeze.hpp 1 "freezing works on messages of any operators"
      proto/impl/freeze.hpp 6 "freezing works on messages of any operators; its list is of TensorFlow's, also of those unknown here"
      proto/impl/producer.hpp 3 "what earlier versions wrote, in messages"
      io/impl/dot.hpp 1 "draws messages"
      named/exchange/impl/import.hpp 1 "parts of names, by which TensorFlow itself decides (ValidateShape)"
      # ONNX is another dialect, whose writer knows what it expresses and how.
      io/impl/onnx.hpp 2 "the inputs of its graphs"
      io/onnx/operators.hpp 6 "ONNX's operators"
      # Names of other things.
      train/named/impl/losses.hpp 1 "a message"
      inspect/trace.hpp 2 "phases of a run"
      named/graph/convert.hpp 1 "an attribute"
      io/csv.hpp 2 "truth values in a text"
      data/json_examples.hpp 2 "numbers in a text"
      io/json/read.hpp 2 "numbers in a text"
      io/text/scan.hpp 2 "truth values in a text"
      )
endif()

file(GLOB_RECURSE headers RELATIVE "${SOURCE_DIR}/include/leat" "${SOURCE_DIR}/include/leat/*.hpp")
set(name "\"_?[A-Z][A-Za-z0-9_]*[a-z][A-Za-z0-9_]*")
set(problems "")
set(total 0)
foreach(header IN LISTS headers)
  file(READ "${SOURCE_DIR}/include/leat/${header}" text)
  string(REGEX REPLACE "[;[]" " " text "${text}")  # CMake's lists would fall apart
  string(REGEX REPLACE "]" "=" text "${text}")
  string(REGEX REPLACE "(^|[ \n])//[^\n]*" "\\1" text "${text}")
  set(found "")
  foreach(pattern IN ITEMS
          "[=!]=[ \n]*${name}\"" "${name}\"[ \n]*[=!]=" "(starts|ends)_with\\(${name}"
          "${name} _?[A-Z][A-Za-z0-9_]+ _?[A-Z][A-Za-z0-9_]+ "
          "(string_view [a-z_]+ =|set<[^>\n]*>[a-z_ ]*|array<[^>\n]*>[a-z_ ]*)[{(]+[ \n]*${name}\",")
    string(REGEX MATCHALL "${pattern}" more "${text}")
    list(APPEND found ${more})
  endforeach()
  list(LENGTH found count)
  math(EXPR total "${total} + ${count}")
  set(allowed 0)
  list(FIND exceptions "${header}" at)
  if(at GREATER_EQUAL 0)
    math(EXPR at "${at} + 1")
    list(GET exceptions ${at} allowed)
  endif()
  if(NOT count EQUAL allowed)
    list(JOIN found "\n  " found)
    string(APPEND problems "${header}: ${count} comparisons with type names and lists of them, ${allowed} are known:\n  ${found}\n")
  endif()
endforeach()

if(problems)
  message(FATAL_ERROR "${problems}Facts about operators belong to their definitions: graph/facts.hpp")
endif()
message(STATUS "${total} comparisons with type names and lists of them, each with its reason")
