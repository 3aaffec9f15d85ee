# cmake --install gives find_package(resmem [COMPONENTS report data models lm]) and pkg-config;
# tests/consumer proves both.
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/resmem)

# A component is a library with the headers of its folder; resmem.pc is the core, resmem-lm.pc and
# so on the rest.
file(RELATIVE_PATH RESMEM_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" RESMEM_PC_PREFIX ${RESMEM_PC_PREFIX})
function(resmem_install_library library requires requires_private libs_private)
  install(TARGETS ${library} EXPORT ${library}_targets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT ${library}_targets NAMESPACE resmem:: DESTINATION ${package_folder})
  string(REPLACE "_" "-" name ${library})
  configure_file(cmake/resmem.pc.in ${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
resmem_install_library(resmem "" "libhwy libxxhash" "-pthread")
resmem_install_library(resmem_report "resmem" "libpng" "")
resmem_install_library(resmem_data "resmem" "zlib liblzma" "")
resmem_install_library(resmem_models "resmem-data resmem-report" "libpng libjpeg libwebp protobuf" "-lonnx_proto")
resmem_install_library(resmem_lm "resmem-models" "libzstd libutf8proc libpcre2-8" "")

install(DIRECTORY include/resmem DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
configure_package_config_file(cmake/resmemConfig.cmake.in resmemConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(resmemConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/resmemConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/resmemConfigVersion.cmake
        DESTINATION ${package_folder})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# All that is installed, without tests and benchmarks: what debian/rules builds.
add_custom_target(resmem_package)
foreach(target resmem resmem_report resmem_data resmem_models resmem_lm resmem_c resmem_command
               resmem_serve resmem_lab_command resmem_train resmem_shared resmem_report_shared
               resmem_data_shared resmem_models_shared resmem_lm_shared)
  if(TARGET ${target})
    add_dependencies(resmem_package ${target})
  endif()
endforeach()

# Written by the program itself, from what its commands declare.
foreach(completion bash:bash-completion/completions/resmem zsh:zsh/site-functions/_resmem
                   fish:fish/vendor_completions.d/resmem.fish)
  string(REPLACE ":" ";" completion ${completion})
  list(GET completion 0 shell)
  list(GET completion 1 path)
  install(CODE "set(script \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATAROOTDIR}/${path}\")
    cmake_path(GET script PARENT_PATH folder)
    file(MAKE_DIRECTORY \"\${folder}\")
    execute_process(COMMAND \"$<TARGET_FILE:resmem_command>\" completion ${shell}
                    OUTPUT_FILE \"\${script}\" COMMAND_ERROR_IS_FATAL ANY)
    message(STATUS \"Installing: \${script}\")")
endforeach()

# The manual pages, a page a command, from the same help.
install(CODE "execute_process(
  COMMAND python3 \"${PROJECT_SOURCE_DIR}/cli/help/manual_pages.py\" \"$<TARGET_FILE:resmem_command>\"
          \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1\"
  COMMAND_ERROR_IS_FATAL ANY)")
