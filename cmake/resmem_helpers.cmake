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
  if(RESMEM_COVERAGE)
    resmem_count_coverage(${target})
  endif()
  if(RESMEM_HARDEN AND NOT RESMEM_SANITIZE AND NOT "TEST_CODE" IN_LIST ARGN)
    resmem_harden(${target})
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

# Counts in the folders that tests/coverage prints, and nowhere else: the search stays quick.
function(resmem_count_coverage target)
  if(target MATCHES "^resmem(_data|_server)?$")
    target_compile_options(${target} PRIVATE -O1 --coverage -fprofile-update=atomic
      "-fprofile-filter-files=.*/src/(format|memory|data)/.*\\;.*/server/.*")
  endif()
  target_link_options(${target} PUBLIC --coverage)
endfunction()

# What an overwritten buffer or pointer meets: a checked copy, a canary, a jump that must arrive where a
# function begins (docs/decisions/hardening.md).
function(resmem_harden target)
  target_compile_options(${target} PRIVATE -fstack-protector-strong $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    target_compile_options(${target} PRIVATE -fcf-protection=full)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    target_compile_options(${target} PRIVATE -mbranch-protection=standard)
  endif()
endfunction()

# resmem_add_library(name link...): one of the libraries that are installed; its sources are named by
# the folders of src/.
function(resmem_add_library name)
  add_library(${name})
  string(REGEX REPLACE "^resmem_?" "" component ${name})
  if(NOT component)
    set(component resmem)
  endif()
  add_library(resmem::${component} ALIAS ${name})
  target_include_directories(${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_link_libraries(${name} ${ARGN} PRIVATE $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>
                                                $<BUILD_INTERFACE:Eigen3::Eigen>)
  set_target_properties(${name} PROPERTIES EXPORT_NAME ${component} VERSION ${PROJECT_VERSION}
                                           SOVERSION ${PROJECT_VERSION_MAJOR})
  resmem_compile_options(${name})
endfunction()

# resmem_add_kernels(target file...): sources that are compiled one by one, because how a hot loop is
# inlined must not depend on what is compiled beside it.  They keep arrays of vectors, which a type
# without a known size cannot be in: NEON is used on Arm processors that have SVE too.
function(resmem_add_kernels target)
  target_sources(${target} PRIVATE ${ARGN})
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES
    SKIP_UNITY_BUILD_INCLUSION ON
    COMPILE_DEFINITIONS "HWY_DISABLED_TARGETS=(HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128|HWY_RVV)")
endfunction()

# resmem_join_sources(target): compiles the files of a folder together, a dozen at a time, so that
# headers are read and templates instantiated once for all of them (docs/decisions/build_time.md).
function(resmem_join_sources target)
  get_target_property(files ${target} SOURCES)
  get_target_property(home ${target} SOURCE_DIR)
  list(SORT files)
  set(last_folder "")
  foreach(file ${files})
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${home} NORMALIZE)
    cmake_path(GET file PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
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

# resmem_add_test(name file... [APART] [LIBRARIES library...]): a GoogleTest program of a module; it
# may see src/.  Without LIBRARIES it links the core alone; APART: its files are not joined.
function(resmem_add_test name)
  if(NOT RESMEM_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 test "APART" "" "LIBRARIES")
  if(NOT test_LIBRARIES)
    set(test_LIBRARIES resmem)
  endif()
  add_executable(${name} ${test_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${test_LIBRARIES} GTest::gtest GTest::gtest_main
                                        nlohmann_json::nlohmann_json PkgConfig::HWY)
  resmem_compile_options(${name} TEST_CODE)
  # Tests are compiled more often than they are slow; at -O1 g++ 12 raises false alarms in Eigen.
  target_compile_options(${name} PRIVATE -O1 -Wno-maybe-uninitialized)
  if(NOT test_APART)
    resmem_join_sources(${name})
  endif()
  add_test(NAME ${name} COMMAND ${name})
endfunction()
