# Warnings and the arithmetic rules that every target of ours follows.
function(resmem_compile_options target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Wcast-qual
    -Wno-restrict  # g++ 12 raises false alarms on "text" + std::string (GCC bug 105651)
    # a*b+c is never fused behind our back: the same bits on every instruction set
    -ffp-contract=off)
  if(RESMEM_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(RESMEM_SANITIZE)
    # AddressSanitizer watches the library and the programs; instrumenting the expansions of
    # GoogleTest's macros as well would double the time of the build and find nothing of ours.
    # ThreadSanitizer must see every thread, those of the tests too.
    if(NOT "TEST_CODE" IN_LIST ARGN OR RESMEM_SANITIZE STREQUAL "thread")
      target_compile_options(${target} PRIVATE -fsanitize=${RESMEM_SANITIZE}
                                               -fno-omit-frame-pointer -fno-sanitize-recover=all)
      if(RESMEM_SANITIZE MATCHES "undefined")
        # Checked at every access, a quarter of the build's time; a null pointer is found by
        # AddressSanitizer as well.
        target_compile_options(${target} PRIVATE -fno-sanitize=null,object-size,vptr)
      endif()
    endif()
    target_link_options(${target} PUBLIC -fsanitize=${RESMEM_SANITIZE})
  endif()
endfunction()

# resmem_join_sources(target folder...): compiles the files of a folder together, a dozen at a time,
# so that headers are read and templates instantiated once for all of them; not those of the
# folders named (docs/decisions/build_time.md).
function(resmem_join_sources target)
  if(NOT RESMEM_JOIN_SOURCES)
    return()
  endif()
  get_target_property(files ${target} SOURCES)
  list(TRANSFORM files PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/]")
  list(SORT files)
  set(last_folder "")
  foreach(file ${files})
    cmake_path(GET file PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    if(folder IN_LIST ARGN)
      continue()
    endif()
    if(NOT folder STREQUAL last_folder)
      set(last_folder ${folder})
      set(count 0)
    endif()
    math(EXPR piece "${count} / 12")
    math(EXPR count "${count} + 1")
    string(MAKE_C_IDENTIFIER ${folder}_${piece} group)
    set_source_files_properties(${file} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# resmem_add_test(name file...): a GoogleTest program of a module; it may see src/.
function(resmem_add_test name)
  if(NOT RESMEM_BUILD_TESTS)
    return()
  endif()
  add_executable(${name} ${ARGN})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE resmem GTest::gtest GTest::gtest_main
                                        nlohmann_json::nlohmann_json PkgConfig::HWY)
  resmem_compile_options(${name} TEST_CODE)
  # Tests are compiled more often than they are slow; at -O1 g++ 12 raises false alarms in Eigen.
  target_compile_options(${name} PRIVATE -O1 -Wno-maybe-uninitialized)
  resmem_join_sources(${name} src/kernels src/search)
  add_test(NAME ${name} COMMAND ${name})
endfunction()
