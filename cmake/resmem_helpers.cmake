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
  add_test(NAME ${name} COMMAND ${name})
endfunction()
